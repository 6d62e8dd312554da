// The calls of the current thread as a tree that folds.
class CallPane {
  constructor(app) {
    this.app = app;
    this.folded = new Set();
    this.lane = -1;
    this.visible = new Int32Array(0);
    this.list = new VirtualList(byId("calls").querySelector(".list"), {
      make: () => element("div", "call", element("button", "fold"), element("span", "fn"), element("span", "how"), element("span", "no")),
      fill: (row, index) => this.fill(row, index),
      pick: (index, event) => this.pick(this.visible[index], event),
    });
  }

  // Calls of the lane that no folded one holds.
  choose() {
    const { call_depth } = this.app.recording, calls = this.app.recording.lanes[this.lane]?.calls ?? new Int32Array(0);
    const found = new Int32Array(calls.length);
    let count = 0, under = Infinity;
    for (const call of calls) {
      if (call_depth[call] > under) continue;
      under = this.folded.has(call) ? call_depth[call] : Infinity;
      found[count++] = call;
    }
    this.visible = found.subarray(0, count);
    this.list.setCount(count);
    byId("calls").classList.toggle("none", count === 0);
  }

  hasInner(call) {
    const { lanes, call_lane, call_parent } = this.app.recording, calls = lanes[call_lane[call]].calls;
    return call_parent[calls[above(calls, call)]] - 1 === call;
  }

  show(step) {
    const { recording } = this.app, lane = recording.lane_of[step];
    if (lane !== this.lane) {
      this.lane = lane;
      this.choose();
    }
    this.here = recording.callAt(step);
    const index = this.here < 0 ? -1 : above(this.visible, this.here) - 1;
    if (index >= 0) this.list.show(index);
    this.list.draw();
  }

  fill(row, index) {
    const { recording } = this.app, call = this.visible[index], [fold, name, how, no] = row.children;
    const exit = EXITS[recording.call_exit[call]], flags = recording.call_flags[call];
    row.style.paddingLeft = `${Math.min(recording.call_depth[call], 40) * 12}px`;
    const isFolded = this.folded.has(call);
    setText(fold, this.hasInner(call) ? (isFolded ? "▸" : "▾") : "·");
    fold.setAttribute("aria-label", isFolded ? "Unfold" : "Fold");
    setText(name, recording.functionName(recording.call_function[call]));
    name.style.setProperty("--hue", hue(name.textContent));
    const words = [exit === "returned" ? "" : exit, flags & RESUMED ? "goes on" : "", flags & UNCERTAIN ? "caller uncertain" : "",
      flags & ENTERED_BEFORE ? "entered before" : "", flags & UNWINDING ? "in unwinding" : "",
      recording.call_task[call] > 0 ? `task ${recording.call_task[call] - 1}` : ""];
    setText(how, words.filter(Boolean).join(", "));
    setText(no, shown(recording.number(recording.call_first[call])));
    row.title = `${name.textContent}: ${shown(recording.number(recording.call_first[call]))} to ${shown(recording.number(recording.call_last[call]))}`;
    const isHere = call === this.here || isFolded && recording.ancestors(this.here).includes(call);
    row.className = `row call ${exit} ${isHere ? "here" : ""}`;
  }

  pick(call, event) {
    if (!event.target.closest(".fold")) return this.app.go(this.app.recording.call_first[call], true);
    if (this.folded.has(call)) this.folded.delete(call); else this.folded.add(call);
    this.choose();
  }
}
