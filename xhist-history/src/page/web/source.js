// The source with the current line, how often lines ran, and values beside them.
class SourcePane {
  constructor(app) {
    this.app = app;
    this.file = -1;
    this.list = new VirtualList(byId("source").querySelector(".list"), {
      make: () => element("div", "line", element("span", "count"), element("span", "no"), element("code"), element("span", "beside")),
      fill: (row, index) => this.fill(row, index),
      pick: (index, event) => this.pick(index, event),
    });
    const files = app.recording.files.map((file, index) => [file.path, index]).sort();
    for (const [path, index] of files) byId("file").append(new Option(path, index));
    byId("file").addEventListener("change", (event) => {
      this.open(Number(event.target.value), 0);
      event.target.blur();
    });
  }

  // Shows a frame: its line, and the values of its call.
  show(frame, variables) {
    const { recording } = this.app;
    this.site = frame ? frame.site : -1;
    this.beside = new Map();
    for (const value of variables) {
      const line = recording.value_line[value];
      this.beside.set(line, [...(this.beside.get(line) ?? []), recording.valueText(value)]);
    }
    if (this.site < 0) return this.open(this.file < 0 ? 0 : this.file, 0);
    this.open(recording.site_file[this.site], recording.site_line[this.site]);
    const name = recording.functionName(recording.site_function[this.site]);
    setText(byId("where"), name === "?" ? "" : `in ${name}`);
  }

  // Shows a line of a file; the first if that is 0.
  open(file, line) {
    const { recording } = this.app;
    if (file !== this.file) {
      this.file = file;
      this.measure(file);
      byId("file").value = String(file);
    }
    const known = recording.files[file];
    this.list.setCount(this.lines.length);
    if (line > 0) this.list.show(line - 1);
    else this.list.moveTo(0);
    byId("source").classList.toggle("from-map", Boolean(known?.map));
  }

  // What is known of the lines of a file.
  measure(file) {
    const { recording } = this.app, { site_file, site_line, site_col, site_runs } = recording;
    const known = recording.files[file];
    this.ran = new Map();
    const first = new Map();
    for (let site = 0; site < site_line.length; site++) {
      if (site_file[site] !== file) continue;
      const line = site_line[site];
      if (!first.has(line) || site_col[site] < first.get(line)) {
        first.set(line, site_col[site]);
        this.ran.set(line, site_runs[site]);
      } else if (site_col[site] === first.get(line)) this.ran.set(line, this.ran.get(line) + site_runs[site]);
    }
    this.lines = known?.lines ?? Array.from({ length: Math.max(0, ...this.ran.keys()) }, () => "");
    this.suspects = new Map(recording.suspects.filter((row) => row.path === known?.path).map((row) => [row.line, row]));
  }

  fill(row, index) {
    const { recording } = this.app, line = index + 1, ran = this.ran.get(line) ?? 0;
    const [count, no, code, beside] = row.children, site = this.site;
    const isHere = site >= 0 && recording.site_file[site] === this.file && recording.site_line[site] === line;
    const end = recording.site_end_line[site] === line && recording.site_end_col[site] > 0
      ? recording.site_end_col[site] - 1 : Infinity;
    const text = this.lines[index];
    const key = `${this.file}:${line}:${isHere ? site : ""}`;
    if (code.shown !== key) {
      code.shown = key;
      const from = isHere ? Math.max(0, recording.site_col[site] - 1) : 0;
      paint(code, text, from, isHere && recording.site_col[site] > 0 ? Math.min(end, text.length) : 0);
    }
    setText(count, ran > 0 ? brief(ran) : "");
    count.title = ran > 0 ? `ran ${plural(ran, "time")}; click: next time, Shift: previous` : "";
    setText(no, String(line));
    setText(beside, isHere || ran > 0 ? (this.beside.get(line) ?? []).join(", ") : "");
    const suspect = this.suspects.get(line);
    row.classList.toggle("here", isHere);
    row.classList.toggle("outer", isHere && this.app.frame > 0);
    row.classList.toggle("ran", ran > 0);
    row.classList.toggle("suspect", Boolean(suspect));
    no.title = suspect ? `suspect ${suspect.rank}, score ${suspect.score.toFixed(2)}` : "";
  }

  // A click beside a line goes to the next time that it runs.
  pick(index, event) {
    if (!event.target.closest(".count, .no") || !this.ran.get(index + 1)) return;
    const { app } = this, way = event.shiftKey ? -1 : 1;
    const ran = (from, way) => app.cursor.lineRan(from, way, this.file, index + 1);
    const step = ran(app.at, way), other = step >= 0 ? -1 : ran(way > 0 ? -1 : app.recording.length, way);
    if (step >= 0) app.go(step, true);
    else if (other >= 0) app.go(other, true, `line ${index + 1} does not run ${way > 0 ? "after" : "before"} this: went on at the other end`);
  }

  // "run 3 of 17" of the current line. It looks at the whole history, so it waits until the user does.
  count() {
    const { app } = this, { recording } = app, site = recording.siteAt(app.at);
    if (site < 0) return setText(byId("times"), "");
    const sites = app.cursor.sitesOf(recording.site_file[site], recording.site_line[site]), { steps } = recording;
    const isIt = new Uint8Array(recording.site_line.length + 1);
    for (const one of sites) isIt[one + 1] = 1;
    let before = 0, all = 0;
    for (let step = 0; step < steps.length; step++) {
      all += isIt[steps[step]];
      if (step <= app.at) before += isIt[steps[step]];
    }
    setText(byId("times"), `line ${recording.site_line[site]}: run ${shown(before)} of ${shown(all)}`);
  }
}
