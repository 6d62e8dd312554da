// The history as a list: number, thread, statement with its values, place.
const MAX_INDENT = 16;
const MARKS = { panic: "✖", signal: "✖", trace: "●", record: "●", mark: "◆", repetition: "↻", cancelled: "⊘", gap: "⚠" };

class HistoryPane {
  constructor(app) {
    this.app = app;
    const { recording } = app;
    this.lane = -1;
    this.hasLanes = recording.lanes.length > 1;
    this.digits = shown(recording.number(Math.max(0, recording.length - 1))).length;
    byId("history").style.setProperty("--digits", this.digits);
    this.list = new VirtualList(byId("history").querySelector(".list"), {
      make: () => element("div", "step", element("span", "no"), element("i", "dot"), element("code"), element("span", "values"),
        element("span", "place")),
      fill: (row, index) => this.fill(row, index),
      pick: (index) => app.go(this.stepOf(index), true),
    });
    const which = byId("which");
    which.append(new Option(this.hasLanes ? "all threads" : "one thread", -1));
    if (this.hasLanes) recording.lanes.forEach((lane, index) => which.append(new Option(`only ${lane.name}`, index)));
    which.hidden = !this.hasLanes;
    which.addEventListener("change", () => {
      this.lane = Number(which.value);
      this.list.setCount(this.count);
      this.show(app.at);
      which.blur();
    });
    this.list.setCount(this.count);
  }

  get steps() { return this.lane < 0 ? null : this.app.recording.lanes[this.lane].steps; }
  get count() { return this.steps?.length ?? this.app.recording.length; }
  stepOf(index) { return this.steps ? this.steps[index] : index; }

  show(step) {
    const index = this.steps ? Math.max(0, above(this.steps, step) - 1) : step;
    this.list.show(index);
    this.list.draw();
  }

  fill(row, index) {
    const { recording } = this.app, step = this.stepOf(index), event = recording.event(step);
    const [no, dot, code, values, place] = row.children, lane = recording.lane_of[step];
    const site = event < 0 ? recording.statement(step) : -1;
    const call = recording.callAt(step), kind = event < 0 ? "" : KINDS[recording.event_kind[event]];
    setText(no, UNNUMBERED.has(recording.event_kind[event]) && event >= 0 ? "" : shown(recording.number(step)));
    dot.hidden = !this.hasLanes;
    dot.style.setProperty("--hue", laneHue(lane));
    const depth = call < 0 ? 0 : Math.min(recording.call_depth[call], MAX_INDENT);
    code.style.paddingLeft = `${depth}ch`;
    const text = event < 0 ? recording.lineText(site).trim() || recording.functionName(recording.site_function[site])
      : `${MARKS[kind]} ${recording.texts[recording.event_text[event]]}`;
    if (code.shown !== text) {
      code.shown = text;
      if (event < 0) paint(code, text.slice(0, 300)); else code.replaceChildren(text.slice(0, 600));
    }
    setText(values, recording.valuesAt(step).slice(0, 6).map((value) => recording.valueText(value).slice(0, 80)).join("  "));
    setText(place, event < 0 ? `${fileName(recording.path(site))}:${recording.site_line[site]}` : "");
    const name = site < 0 ? "" : `${recording.place(site)} in ${recording.functionName(recording.site_function[site])}\n`;
    row.title = `${name}thread ${recording.lanes[lane]?.name ?? "?"}${recording.isUncertain(step) ? "; other threads may have run before it" : ""}`;
    row.className = `row step ${kind && `event ${kind}`} ${step === this.app.at ? "here" : ""} ${recording.isUncertain(step) ? "uncertain" : ""}`;
  }
}
