// The panes beside the source: call stack, values, events, tasks, suspects, diff, and what the page holds.
class StackPane {
  constructor(app) { this.app = app; }

  show(frames, variables) {
    const { app } = this, { recording } = app;
    const rows = frames.slice(0, 200).map((frame, index) => {
      const row = element("button", `frame ${index === app.frame ? "here" : ""}`,
        element("span", "fn", recording.functionName(frame.fn)), element("span", "place", frame.site < 0 ? "" : recording.place(frame.site)));
      row.addEventListener("click", () => app.choose(index));
      return row;
    });
    if (frames.length > 200) rows.push(emptyState(`and ${plural(frames.length - 200, "outer call")}`));
    byId("frames").replaceChildren(...(rows.length ? rows : [emptyState("No statement of this thread ran before.")]));
    const values = variables.map((value) => this.variable(value));
    const none = recording.value_step.length > 0 ? "This call has recorded no value yet."
      : "No values are recorded. cargo xhist build --values '**' records them.";
    byId("variables").replaceChildren(...(values.length ? values : [emptyState(none)]));
  }

  variable(value) {
    const { app } = this, { recording } = app, step = recording.value_step[value];
    const row = element("button", `variable ${step === app.at ? "new" : ""}`,
      element("span", "name", recording.texts[recording.value_name[value]]),
      element("span", "text", recording.texts[recording.value_text[value]]),
      element("span", "type", recording.texts[recording.value_type[value]]),
      element("span", "no", `#${shown(recording.number(step))}`));
    row.title = "Go to where it was recorded";
    row.addEventListener("click", () => app.go(step, true));
    return row;
  }
}

class EventPane {
  constructor(app) {
    this.app = app;
    const { recording } = app;
    const counts = new Array(KINDS.length).fill(0);
    for (const kind of recording.event_kind) counts[kind]++;
    // Repetitions are many and say little.
    this.hidden = new Set(counts.some((count, kind) => count > 0 && kind !== 5) ? [5] : []);
    counts.forEach((count, kind) => {
      if (count === 0) return;
      const button = element("button", `kind ${KINDS[kind]}`, `${KINDS[kind]} ${shown(count)}`);
      button.setAttribute("aria-pressed", String(!this.hidden.has(kind)));
      button.addEventListener("click", () => {
        if (this.hidden.has(kind)) this.hidden.delete(kind); else this.hidden.add(kind);
        button.setAttribute("aria-pressed", String(!this.hidden.has(kind)));
        this.choose();
      });
      byId("kinds").append(button);
    });
    if (recording.event_kind.length === 0) byId("kinds").append(emptyState("No panic, signal, trace event or loss is recorded."));
    this.list = new VirtualList(byId("events").querySelector(".list"), {
      make: () => element("div", "event", element("span", "no"), element("span", "name"), element("span", "text")),
      fill: (row, index) => this.fill(row, this.visible[index]),
      pick: (index) => app.go(recording.event_step[this.visible[index]], true),
    });
    this.choose();
  }

  choose() {
    const { event_kind } = this.app.recording;
    this.visible = Int32Array.from(event_kind.keys()).filter((event) => !this.hidden.has(event_kind[event]));
    this.list.setCount(this.visible.length);
  }

  show(step) {
    const { event_step } = this.app.recording, event = above(event_step, step) - 1;
    const index = above(this.visible, event) - 1;
    if (index >= 0) this.list.show(index);
    this.list.draw();
  }

  fill(row, event) {
    const { recording } = this.app, step = recording.event_step[event], [no, name, text] = row.children;
    const kind = KINDS[recording.event_kind[event]], first = recording.event_field[event];
    const fields = [];
    for (let field = first; field < first + Math.min(40, recording.event_fields[event]); field++) {
      fields.push(`${recording.texts[recording.field_name[field]]} = ${recording.texts[recording.field_text[field]]}`);
    }
    setText(no, shown(recording.number(step)));
    setText(name, recording.texts[recording.event_name[event]]);
    setText(text, recording.texts[recording.event_text[event]]);
    row.title = [`thread ${recording.lane(step)?.name ?? "?"}`, ...fields].join("\n");
    row.className = `row event ${kind} ${step === this.app.at ? "here" : ""}`;
  }
}

class TaskPane {
  constructor(app) {
    this.app = app;
    const { tasks } = app.recording;
    const live = tasks?.live ?? [], cancelled = tasks?.cancelled ?? [];
    // What no other task awaits comes first: those are the ones that hang.
    this.rows = [...live.filter((task) => task.leaf), ...live.filter((task) => !task.leaf), ...cancelled];
    this.list = new VirtualList(byId("tasks").querySelector(".list"), {
      height: 58,
      make: () => element("div", "task", element("b"), element("span", "place"), element("span", "around")),
      fill: (row, index) => this.fill(row, this.rows[index]),
      pick: (index) => this.pick(this.rows[index]),
    });
    this.list.setCount(this.rows.length);
  }

  place(at) { return at ? `${at.path ?? "?"}:${at.line}${at.function ? ` in ${at.function}` : ""}` : "a statement that is not recorded"; }

  fill(row, task) {
    const [title, place, around] = row.children;
    if (task.count !== undefined) {
      setText(title, `${plural(task.count, "task")} cancelled`);
      setText(place, this.place(task.at));
      setText(around, "dropped while parked");
      return;
    }
    const time = !task.ms ? "" : ` for ${duration(task.ms * 1e6)} or longer`;
    setText(title, `task ${task.number} ${task.parked ? "parked" : "running"}${time}`);
    setText(place, `at ${this.place(task.at)}`);
    setText(around, [`thread ${task.thread}`, ...task.around.map((outer) => `${outer.link} by task ${outer.number}`)].join(", "));
  }

  // The last statement of the task.
  pick(task) {
    const { recording } = this.app;
    if (task.number === undefined) return;
    const span = recording.span_task.lastIndexOf(task.number);
    if (span >= 0) this.app.go(recording.span_last[span], true);
    else this.app.say(`no statement of task ${task.number} is recorded`);
  }
}

// Suspects: a click shows the line as it ran last before the failure.
function fillSuspects(app) {
  const { recording } = app;
  const rows = recording.suspects.map((suspect) => {
    const row = element("button", "suspect-row",
      element("span", "rank", `${suspect.rank}`), element("span", "score", suspect.score.toFixed(2)),
      element("span", "fn", suspect.function), element("span", "place", `${suspect.path}:${suspect.line}`));
    const code = element("code");
    paint(code, suspect.text.trim());
    row.append(code);
    row.addEventListener("click", () => {
      const file = recording.files.findIndex((file) => file.path === suspect.path);
      const step = file < 0 ? -1 : app.cursor.lineRan(recording.length, -1, file, suspect.line);
      if (step >= 0) return app.go(step, true);
      app.say(`${suspect.path}:${suspect.line} is not in this history`);
      if (file >= 0) app.source.open(file, suspect.line);
    });
    return row;
  });
  byId("suspects").replaceChildren(element("p", "note", "Statements by how likely each is the mistake, from the tests of the run. " +
    "A click goes to the last time that one ran."), ...rows);
}

function fillDiff(app) {
  const lines = app.recording.diff.split("\n").map((line) =>
    element("div", /^\s*[+>]/.test(line) ? "plus" : /^\s*[-<]/.test(line) ? "minus" : "", line || " "));
  byId("diff").replaceChildren(element("p", "note", "The failed test beside the passed test most like it."), element("pre", "", ...lines));
}

function fillAbout(app) {
  const { recording } = app;
  const list = (title, lines) => (lines.length === 0 ? [] : [element("h3", "", title), element("ul", "", ...lines.map((line) => element("li", "", line)))]);
  const lanes = recording.lanes.slice(0, 500).map((lane) => `${lane.name}: ` +
    `${plural(lane.steps.length, "entry").replace("entrys", "entries")}, ${lane.status || "state not known"}`);
  byId("about").replaceChildren(
    ...(recording.origin ? [element("p", "", recording.origin)] : []),
    element("p", "", `${shown(recording.length)} entries, ${plural(recording.call_lane.length, "call")}, ` +
      `${plural(recording.value_step.length, "value")}, ${plural(recording.files.length, "source file")}.`),
    ...list("Missing", recording.losses),
    ...list("Left out of this page", [...(recording.skipped > 0 ? [`${shown(recording.skipped)} older entries`] : []), ...recording.leftOut]),
    ...list("Threads", lanes),
    ...list("In this file", ["the text of the source files above, the history, recorded values and trace events",
      "nothing is loaded from or sent to a network"]),
  );
}
