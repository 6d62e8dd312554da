// Search: marks every site, event and value that has the text, so that hits are found by looking at numbers only.
const SCOPES = [["all", "everywhere"], ["text", "source text"], ["function", "functions"], ["file", "files"], ["value", "values and events"]];

class Search {
  constructor(app) {
    this.app = app;
    this.query = "";
    for (const [value, text] of SCOPES) byId("scope").append(new Option(text, value));
    byId("search").addEventListener("submit", (event) => {
      event.preventDefault();
      this.next(1);
    });
    byId("query").addEventListener("input", () => {
      clearTimeout(this.wait);
      this.wait = setTimeout(() => this.look(), 200);
    });
    byId("scope").addEventListener("change", () => this.look());
    byId("hit-next").addEventListener("click", () => this.next(1));
    byId("hit-back").addEventListener("click", () => this.next(-1));
  }

  look() {
    const { recording } = this.app, scope = byId("scope").value;
    clearTimeout(this.wait);
    this.query = byId("query").value;
    this.scope = scope;
    const query = this.query.toLowerCase(), has = (text) => text.toLowerCase().includes(query);
    const looksIn = (name) => scope === "all" || scope === name;
    this.site = new Uint8Array(recording.site_line.length + 1);
    if (query) {
      const files = recording.files.map((file) => looksIn("file") && has(file.path));
      const functions = recording.functions.map(([name]) => looksIn("function") && has(name));
      for (let site = 0; site < recording.site_line.length; site++) {
        const isHit = files[recording.site_file[site]] || functions[recording.site_function[site]] ||
          looksIn("text") && has(recording.lineText(site)) || looksIn("file") && has(recording.place(site));
        this.site[site + 1] = isHit ? 1 : 0;
      }
    }
    const more = [];
    if (query && looksIn("value")) {
      const texts = recording.texts.map((text) => has(text));
      recording.event_text.forEach((text, event) => {
        if (texts[text] || texts[recording.event_name[event]]) more.push(recording.event_step[event]);
      });
      recording.value_step.forEach((step, value) => {
        if (texts[recording.value_text[value]] || texts[recording.value_name[value]]) more.push(step);
      });
    }
    this.more = Int32Array.from(new Set(more)).sort();
    this.all = -1;
    this.report();
  }

  isHit(step) {
    return this.site[this.app.recording.steps[step]] === 1 || this.more[above(this.more, step) - 1] === step;
  }

  next(way) {
    if (this.query !== byId("query").value || this.scope !== byId("scope").value) this.look();
    if (!this.query) return byId("query").focus();
    const { recording, at } = this.app;
    let step = at + way;
    // Events are 0 among steps, and `site[0]` is 0.
    while (step >= 0 && step < recording.length && !this.isHit(step)) step += way;
    if (step < 0 || step >= recording.length) {
      let other = way > 0 ? 0 : recording.length - 1;
      while (other >= 0 && other < recording.length && !this.isHit(other)) other += way;
      if (other < 0 || other >= recording.length) return this.app.say(`nothing has “${this.query}”`);
      return this.app.go(other, true, way > 0 ? "went on at the start" : "went on at the end");
    }
    this.app.go(step, true);
  }

  // "3 of 17". It looks at the whole history, so it waits until the user does.
  report() {
    clearTimeout(this.counting);
    if (!this.query) return setText(byId("hits"), "");
    this.counting = setTimeout(() => {
      const { recording, at } = this.app;
      let all = 0, before = 0;
      for (let step = 0; step < recording.length; step++) {
        if (!this.isHit(step)) continue;
        all++;
        if (step <= at) before++;
      }
      const here = this.isHit(at) ? `${shown(before)} of ` : "";
      setText(byId("hits"), all === 0 ? "no hit" : `${here}${plural(all, "hit")}`);
    }, 120);
  }
}
