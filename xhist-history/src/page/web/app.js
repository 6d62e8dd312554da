// The page: one position, the panes that show it, and the keys and buttons that move it.
const TABS = [
  ["history", "History", () => true],
  ["stack", "Stack", () => true],
  ["lanes", "Time line", () => true],
  ["calls", "Calls", (recording) => recording.call_lane.length > 0],
  ["events", "Events", () => true],
  ["tasks", "Tasks", (recording) => (recording.tasks?.live.length ?? 0) + (recording.tasks?.cancelled.length ?? 0) > 0],
  ["suspects", "Suspects", (recording) => recording.suspects.length > 0],
  ["diff", "Diff", (recording) => recording.diff !== ""],
  ["about", "About", () => true],
];
// Panes that are always in sight on a wide screen.
const ALWAYS = new Set(["history", "stack", "lanes"]);

// Motions: keys, the sign of the button, what it does.
const MOTIONS = [
  ["Home", "|←", "Start of the history", (app) => app.go(0, true)],
  ["#", "⇠", "Previous time that this line ran", (app) => app.move("line", -1)],
  ["F", "↰", "Back out: to the statement that entered this call", (app) => app.move("out", -1)],
  ["O ←", "←", "Back over calls: previous line of this call", (app) => app.move("over", -1)],
  ["S ↑", "↑", "Back into calls: previous statement of this thread", (app) => app.move("into", -1)],
  ["s ↓", "↓", "Into calls: next statement of this thread", (app) => app.move("into", 1)],
  ["o →", "→", "Over calls: next line of this call", (app) => app.move("over", 1)],
  ["f", "↳", "Out: behind this call", (app) => app.move("out", 1)],
  ["*", "⇢", "Next time that this line runs", (app) => app.move("line", 1)],
  ["End", "→|", "End of the history", (app) => app.go(app.recording.length - 1, true)],
  ["x", "✕", "The failure, where the page opened", (app) => app.go(app.recording.opening, true)],
];
const OTHERS = [
  ["k", "", "Previous statement of any thread", (app) => app.move("step", -1)],
  ["j", "", "Next statement of any thread", (app) => app.move("step", 1)],
  ["g", "", "Go to a number", () => { byId("number").select(); byId("number").focus(); }],
  ["/", "", "Search", () => { byId("query").select(); byId("query").focus(); }],
  ["n", "", "Next hit", (app) => app.search.next(1)],
  ["N", "", "Previous hit", (app) => app.search.next(-1)],
  ["i", "", "Inside: the whole call", (app) => app.whole.call()],
  ["w", "", "Where from: the values of the call", (app) => app.whole.origin()],
  ["[", "", "Outer call of the stack", (app) => app.choose(app.frame + 1)],
  ["]", "", "Inner call of the stack", (app) => app.choose(app.frame - 1)],
  ["+", "", "Time line: more detail", (app) => app.lanes.zoom(0.5)],
  ["-", "", "Time line: less detail", (app) => app.lanes.zoom(2)],
  ["0", "", "Time line: whole history", (app) => { app.lanes.fit(); app.lanes.draw(); }],
];
const TOOLS = [
  ["c", "link", "Copy a link to this moment", (app) => app.copyLink()],
  ["t", "◐", "Light or dark", (app) => app.turnTheme()],
  ["?", "?", "Keys", (app) => app.help()],
];
const ARROWS = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };

class App {
  constructor(recording) {
    this.recording = recording;
    this.cursor = new Cursor(recording);
    this.at = 0;
    this.frame = 0;
    this.source = new SourcePane(this);
    this.history = new HistoryPane(this);
    this.stack = new StackPane(this);
    this.calls = new CallPane(this);
    this.events = new EventPane(this);
    this.tasks = new TaskPane(this);
    this.whole = new WholePane(this);
    this.lanes = new LanePane(this);
    this.search = new Search(this);
    fillSuspects(this);
    fillDiff(this);
    fillAbout(this);
    this.tabs();
    this.controls();
  }

  tabs() {
    for (const [name, text, isThere] of TABS) {
      if (!isThere(this.recording)) continue;
      const button = element("button", ALWAYS.has(name) ? "narrow" : "", text);
      button.id = `tab-${name}`;
      button.setAttribute("role", "tab");
      button.addEventListener("click", () => this.openTab(name));
      byId("tabs").append(button);
    }
    const first = ["suspects", "tasks", "calls", "events"].find((name) => byId(`tab-${name}`));
    this.openTab(first);
    // A telephone begins with the history.
    this.openTab("history");
  }

  openTab(name) {
    // A wide screen has one tab open beside what is always in sight.
    for (const [other] of TABS) {
      for (const node of [byId(other), byId(`tab-${other}`)].filter(Boolean)) {
        node.classList.toggle("open", other === name);
        if (!ALWAYS.has(name) && !ALWAYS.has(other)) node.classList.toggle("wide-open", other === name);
      }
      const tab = byId(`tab-${other}`);
      tab?.setAttribute("aria-selected", String(tab.matches(".open, .wide-open")));
    }
    this.draw();
  }

  controls() {
    this.keys = new Map();
    const add = ([keys, sign, text, act], box) => {
      for (const key of keys.split(" ")) this.keys.set(key, act);
      if (!sign) return;
      const button = element("button", "", sign);
      button.title = `${text}  ${keys}`;
      button.setAttribute("aria-label", text);
      button.dataset.key = keys.split(" ")[0];
      button.addEventListener("click", () => act(this));
      box.append(button);
    };
    MOTIONS.forEach((row) => add(row, byId("motions")));
    OTHERS.forEach((row) => add(row, null));
    TOOLS.forEach((row) => add(row, byId("tools")));
    document.addEventListener("keydown", (event) => this.key(event));
    byId("go").addEventListener("submit", (event) => {
      event.preventDefault();
      const number = Number(byId("number").value.replace(/[^0-9]/g, ""));
      byId("number").blur();
      this.go(this.recording.byNumber(number), true);
    });
    window.addEventListener("hashchange", () => this.followLink());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  key(event) {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "Escape") {
      document.activeElement?.blur();
      return;
    }
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || byId("help").open || byId("whole").open) return;
    const act = this.keys.get(ARROWS[event.key] ?? event.key);
    if (!act) return;
    event.preventDefault();
    act(this);
  }

  // Moves as a debugger does; says so at the end of the history.
  move(motion, way) {
    const step = this.cursor[motion](this.at, way);
    if (step >= 0) return this.go(step);
    const ends = { line: `this line does not run ${way > 0 ? "again" : "before"}`, out: "this call has no caller in the history" };
    this.say(ends[motion] ?? `the history ${way > 0 ? "ends" : "begins"} here`);
  }

  // To a step. A jump can be taken back by the browser. `said` is shown with it.
  go(step, isJump = false, said = "") {
    if (this.recording.length === 0) return;
    this.at = Math.max(0, Math.min(step, this.recording.length - 1));
    this.frame = 0;
    this.say(said);
    const link = `#s=${this.recording.number(this.at)}`, before = location.hash;
    clearTimeout(this.linking);
    if (isJump && before !== link) window.history.pushState(null, "", link);
    // Browsers refuse too many changes at a time. A link that was followed meanwhile stays: its event may still be on the way.
    else this.linking = setTimeout(() => {
      if (location.hash === before) window.history.replaceState(null, "", link);
    }, 300);
    this.draw();
  }

  // To a call of the stack; the position stays.
  choose(frame) {
    this.frame = Math.max(0, Math.min(frame, this.recording.stackAt(this.at).length - 1));
    this.draw();
  }

  followLink() {
    const number = /^#s=(\d+)$/.exec(location.hash)?.[1];
    if (number === undefined || Number(number) === this.recording.number(this.at)) return false;
    this.go(this.recording.byNumber(Number(number)));
    return true;
  }

  draw() {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.drawNow();
    });
  }

  drawNow() {
    const { recording, at } = this, frames = recording.stackAt(at);
    const frame = frames[this.frame], variables = frame ? recording.variables(frame.call, at) : [];
    this.source.show(frame, variables);
    this.history.show(at);
    this.stack.show(frames, variables);
    this.calls.show(at);
    this.events.show(at);
    this.lanes.show(at);
    this.search.report();
    byId("number").value = shown(recording.number(at));
    setText(byId("of"), `of ${shown(recording.number(recording.length - 1))}`);
    clearTimeout(this.counting);
    this.counting = setTimeout(() => this.source.count(), 150);
    document.body.dataset.step = String(at);
  }

  // One line of words; without any, where the history stands.
  say(text) {
    const { recording, at } = this, event = recording.event(at), lane = recording.lane(at);
    const time = recording.time(at);
    const here = [lane ? `thread ${lane.name}` : "", recording.taskAt(at) ? `task ${recording.taskAt(at)}` : "",
      time >= 0 ? duration(time) : "", event >= 0 ? recording.texts[recording.event_text[event]] : ""].filter(Boolean).join("  ·  ");
    setText(byId("said"), text || here);
    byId("banner").classList.toggle("note", Boolean(text));
    byId("banner").classList.toggle("bad", !text && event >= 0 && recording.event_kind[event] < 2);
  }

  help() {
    const rows = [...MOTIONS, ...OTHERS, ...TOOLS].map(([keys, , text]) =>
      element("div", "key", element("span", "", ...keys.split(" ").map((key) => element("kbd", "", key))), element("span", "", text)));
    const close = element("button", "", "Close  Esc");
    close.addEventListener("click", () => byId("help").close());
    byId("help").replaceChildren(element("h2", "", "Keys"), element("div", "keys", ...rows),
      element("p", "", "A click on a number beside a line goes to the next time that it runs, with Shift to the previous. " +
        "The wheel zooms the time line, a drag moves it."), close);
    byId("help").showModal();
  }

  turnTheme() {
    const isDark = getComputedStyle(document.body).getPropertyValue("--is-dark").trim() === "1";
    document.documentElement.dataset.theme = isDark ? "light" : "dark";
    this.draw();
  }

  async copyLink() {
    const link = `${location.href.split("#")[0]}#s=${this.recording.number(this.at)}`;
    try {
      await navigator.clipboard.writeText(link);
      this.say("the link to this moment is copied");
    } catch {
      this.say(link);
    }
  }

  // Where the page begins, in words.
  opening() {
    const { recording } = this;
    if (this.followLink()) return this.say(`opened at #${shown(recording.number(this.at))}, as the link says`);
    const at = recording.opening, event = recording.event(at), kind = event < 0 ? "" : KINDS[recording.event_kind[event]];
    this.go(at);
    const where = kind === "panic" || kind === "signal" ? `at a ${kind}` : "at the end of the history";
    const thread = recording.lanes.length > 1 ? ` of thread ${recording.lane(at)?.name ?? "?"}` : "";
    this.say(`Opened ${where}: ← goes back by line, ? shows all keys (#${shown(recording.number(at))}${thread})`);
  }
}

async function start() {
  const recording = await Recording.read();
  byId("loading").remove();
  setText(byId("message"), recording.message);
  document.title = `${recording.message || recording.origin || "history"} – xhist`;
  if (recording.length === 0) {
    document.body.append(element("div", "nothing", "This history has no entries."));
    document.body.dataset.ready = "1";
    return;
  }
  const app = new App(recording);
  window.xhist = app;
  app.opening();
  app.drawNow();
  document.body.dataset.ready = "1";
  performance.mark("ready");
}

start().catch((error) => {
  console.error(error);
  const text = `This page cannot be shown: ${error.message}. It needs Chrome 80, Firefox 113 or Safari 16.4.`;
  document.body.append(element("div", "nothing", text));
  document.body.dataset.ready = "failed";
});
