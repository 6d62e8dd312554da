// Over the panes: the whole call that is looked at, as `frame` prints it, and where a value comes from, as `origin` does.
const MAX_ROWS = 2000, MAX_PARTS = 50000, LONGEST_ROUND = 40;

class WholePane {
  constructor(app) {
    this.app = app;
    byId("whole").addEventListener("click", (event) => {
      const row = event.target.closest("[data-step]");
      if (!row) return;
      byId("whole").close();
      app.go(Number(row.dataset.step), true);
    });
  }

  show(title, rows) {
    const nodes = rows.slice(0, MAX_ROWS).map(({ step, text }) => {
      const row = element(step >= 0 ? "button" : "div", "whole-row", element("span", "no", step >= 0 ? shown(this.app.recording.number(step)) : ""), element("span", "", text));
      if (step >= 0) row.dataset.step = step;
      return row;
    });
    if (rows.length > MAX_ROWS) nodes.push(emptyState(`and ${plural(rows.length - MAX_ROWS, "row")}`));
    const close = element("button", "", "Close  Esc");
    close.addEventListener("click", () => byId("whole").close());
    byId("whole").replaceChildren(element("h2", "", title), ...nodes, close);
    byId("whole").showModal();
  }

  // The call of the chosen frame.
  call() {
    const { app } = this, { recording } = app, call = recording.stackAt(app.at)[app.frame]?.call ?? -1;
    if (call < 0) return app.say("the call of this step is not known");
    const first = recording.call_first[call], last = recording.call_last[call], exit = EXITS[recording.call_exit[call]];
    const rows = [], from = recording.call_from[call] - 1, parent = recording.call_parent[call] - 1;
    if (from >= 0) rows.push({ step: parent < 0 ? -1 : recording.call_first[parent], text: `called by ${recording.place(from)}` });
    rows.push(...this.folded(this.parts(call)));
    rows.push({ step: last, text: exit === "open" ? "still open" : exit });
    this.show(`${this.named(call)}, ${shown(recording.number(first))} to ${shown(recording.number(last))}`, rows);
  }

  named(call) {
    const { recording } = this.app, given = recording.variables(call, recording.call_last[call]).filter((value) => recording.value_parameter[value]);
    const values = given.map((value) => recording.valueText(value)).join(", ");
    return recording.functionName(recording.call_function[call]) + (values ? `(${values})` : "");
  }

  // What it did itself, and its callees, each with what makes two of them the same in rounds of a loop.
  parts(call) {
    const { recording } = this.app, lane = recording.lanes[recording.call_lane[call]];
    const inner = lane.calls.filter((other) => recording.call_parent[other] - 1 === call);
    const parts = [], last = recording.call_last[call];
    let next = 0, index = above(lane.steps, recording.call_first[call] - 1);
    for (; index < lane.steps.length && lane.steps[index] <= last && parts.length < MAX_PARTS; index++) {
      const step = lane.steps[index], callee = inner[next] ?? -1;
      if (callee >= 0 && recording.call_first[callee] <= step) {
        next++;
        const exit = EXITS[recording.call_exit[callee]], end = recording.call_last[callee];
        const text = `→ ${this.named(callee)}, to ${shown(recording.number(end))}, ${exit}`;
        parts.push({ step: recording.call_first[callee], end, text, key: `c${recording.call_function[callee]} ${recording.call_from[callee]} ${exit}` });
        if (end < step) {
          index--;
          continue;
        }
        index = above(lane.steps, end) - 1;
        // What was printed comes behind the calls of its arguments, whose ends nothing else shows.
        let printed = index;
        while (lane.steps[printed] > recording.call_first[callee] && this.isPrintedBy(call, lane.steps[printed])) printed--;
        for (printed++; printed <= index; printed++) parts.push(this.eventPart(lane.steps[printed]));
        continue;
      }
      const event = recording.event(step), site = recording.statement(step);
      if (event >= 0) {
        if (KINDS[recording.event_kind[event]] !== "output" || this.isPrintedBy(call, step)) parts.push(this.eventPart(step));
        continue;
      }
      parts.push({ step, end: step, site });
    }
    let until = last;
    for (const part of parts.toReversed().filter(({ site }) => site >= 0)) {
      this.describe(call, part, Math.max(until, part.step));
      until = part.step - 1;
    }
    return parts;
  }

  // The text of a statement, with the values that it bound, also those that are known only behind the calls that it made.
  describe(call, part, until) {
    const { recording } = this.app, { step, site } = part;
    const values = recording.valuesBetween(step, until).filter((value) => recording.value_call[value] - 1 === call);
    const shownValues = values.filter((value) => !recording.value_parameter[value]).map((value) => recording.valueText(value)).join(", ");
    part.text = `${fileName(recording.place(site))}  ${recording.lineText(site).trim()}${shownValues ? `  [${shownValues}]` : ""}`;
    part.key = `s${site} ${values.map((value) => recording.value_text[value])}`;
  }

  eventPart(step) {
    const { recording } = this.app, event = recording.event(step), text = recording.event_text[event];
    const key = KINDS[recording.event_kind[event]] === "output" ? `o${text}` : `e${step}`;
    return { step, end: step, text: `— ${recording.texts[text]}`, key };
  }

  // Whether a step is what this call printed: of the calls on the stack the innermost one at the line of the macro did.
  isPrintedBy(call, step) {
    const { recording } = this.app, event = recording.event(step);
    if (event < 0 || KINDS[recording.event_kind[event]] !== "output") return false;
    const line = Number(recording.texts[recording.field_text[recording.event_field[event]]]), frames = recording.stackAt(step);
    const isThere = ({ site }) => site >= 0 && recording.site_line[site] <= line && line <= recording.site_end_line[site];
    return (frames.find(isThere) ?? frames[0])?.call === call;
  }

  // Rounds of a loop: the first is kept, the others are counted. The one that folds most; of those the shortest.
  folded(parts) {
    const rows = [];
    for (let at = 0; at < parts.length && rows.length <= MAX_ROWS;) {
      let best = 0, times = 0;
      for (let length = 1; length <= LONGEST_ROUND; length++) {
        let same = 0;
        while (at + length + same < parts.length && parts[at + length + same].key === parts[at + same].key) same++;
        const more = Math.floor(same / length);
        if (more * length > times * best) [best, times] = [length, more];
      }
      for (let row = 0; row < Math.max(1, best); row++) rows.push(parts[at + row]);
      at += Math.max(1, best * (times + 1));
      if (best > 0) rows.push({ step: parts[at - 1].step, text: `… ${best === 1 ? "this line" : `these ${best} lines`} ran ${plural(times, "time")} more` });
    }
    return rows;
  }

  // Where a value of the failure comes from; the page has no sources of others to ask.
  origin() {
    const { app } = this, { recording } = app, { origins } = recording;
    const frame = recording.stackAt(app.at)[app.frame], values = frame ? recording.variables(frame.call, app.at) : [];
    const names = new Set(values.map((value) => recording.texts[recording.value_name[value]]));
    const known = app.at === recording.opening ? origins.filter((origin) => names.size === 0 || names.has(origin.name)) : [];
    if (app.at === recording.opening && names.size === 0) return app.say("No value of this call is recorded; with --values they are");
    if (known.length === 0) {
      const name = [...names][0] ?? "NAME";
      return app.say(`The page has the origins where it opened (x). Here: cargo xhist origin ${name}@${recording.number(app.at)}`);
    }
    const rows = known.flatMap((origin) => [
      { step: -1, text: `origin of ${origin.name}` },
      ...origin.hops.map(({ step, text, isFromText }) => {
        const site = recording.siteAt(step);
        return { step, text: `${isFromText ? "~ " : ""}${fileName(recording.place(site))}  ${recording.lineText(site).trim()}  ${text}` };
      }),
      { step: -1, text: origin.end },
    ]);
    this.show("Where values come from", rows);
  }
}
