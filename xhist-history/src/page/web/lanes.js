// Threads and async tasks as lanes on an axis of time, or of order where there are no times. A lane shows its calls, the outer above.
const LABEL = 150, BAR = 11, TASK = 16, DEPTHS = 5;

class LanePane {
  constructor(app) {
    this.app = app;
    const { recording } = app;
    this.canvas = byId("chart").querySelector("canvas");
    this.hasTimes = recording.time_step.length > 1 && recording.time_value.at(-1) > 0;
    this.byTime = this.hasTimes && this.isFilled();
    this.tasks = new Map();
    recording.span_task.forEach((task, span) => {
      if (!this.tasks.has(task)) this.tasks.set(task, { name: "", lanes: [], firsts: [], lasts: [] });
      const row = this.tasks.get(task);
      row.name ||= recording.texts[recording.span_function[span]];
      row.lanes.push(recording.span_lane[span]);
      row.firsts.push(recording.span_first[span]);
      row.lasts.push(recording.span_last[span]);
    });
    this.rows = [...recording.lanes.map((lane, index) => ({ lane: index, name: lane.name, height: 12 + BAR * this.depthOf(lane) }))];
    for (const [task, row] of this.tasks) this.rows.push({ ...row, task, name: `task ${task} ${row.name}`, height: TASK });
    let y = 0;
    for (const row of this.rows) { row.y = y; y += row.height; }
    this.height = y;
    byId("room").style.height = `${y}px`;
    byId("lanes").style.setProperty("--rows", y);
    const of = (kinds) => recording.event_step.filter((_, event) => kinds.includes(recording.event_kind[event]));
    this.marks = [[of([7]), "--gap", 2], [of([2, 3, 4]), "--trace", 3], [of([6]), "--gap", 3], [of([0, 1]), "--bad", 5]];
    this.fit();
    this.buttons();
    this.listen();
    new ResizeObserver(() => this.draw()).observe(byId("chart"));
  }

  // Whether an axis of time shows more than waiting: entries are in a third of its parts.
  isFilled() {
    const { time_value } = this.app.recording, parts = new Set();
    for (const time of time_value) parts.add(Math.floor((time / time_value.at(-1)) * 60));
    return parts.size >= 20;
  }

  // Rows of calls that a lane has.
  depthOf(lane) {
    let deepest = 1;
    for (const call of lane.calls) deepest = Math.max(deepest, this.app.recording.call_depth[call] + 1);
    return Math.min(deepest, DEPTHS);
  }

  // The end of a name that fits beside a lane: names of tests begin alike.
  label(pen, name) {
    const room = LABEL - 16;
    if (pen.measureText(name).width <= room) return name;
    let low = 0, high = name.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (pen.measureText("…" + name.slice(middle)).width <= room) high = middle; else low = middle + 1;
    }
    return "…" + name.slice(low);
  }

  // Brings the lane of a step into sight.
  show(step) {
    const chart = byId("chart"), row = this.rows[this.app.recording.lane_of[step]];
    if (row && chart.clientHeight > 0) {
      if (row.y < chart.scrollTop) chart.scrollTop = row.y;
      else if (row.y + row.height > chart.scrollTop + chart.clientHeight) chart.scrollTop = row.y + row.height - chart.clientHeight;
    }
    this.draw();
  }

  // The place of a step on the axis, and the last step up to a place.
  axis(step) { return this.byTime ? Math.max(0, this.app.recording.time(step)) : step; }

  stepAt(place) {
    const { recording } = this.app;
    if (!this.byTime) return Math.max(0, Math.min(recording.length - 1, Math.floor(place)));
    const index = above(recording.time_value, place);
    if (index >= recording.time_step.length) return place >= this.end ? recording.length - 1 : recording.time_step.at(-1);
    return Math.max(0, recording.time_step[index] - 1);
  }

  get end() { return this.byTime ? this.app.recording.time_value.at(-1) : this.app.recording.length; }

  fit() {
    this.from = 0;
    this.to = Math.max(1, this.end);
  }

  buttons() {
    const add = (text, title, act) => {
      const button = element("button", "", text);
      button.title = title;
      button.addEventListener("click", act);
      byId("zoom").append(button);
      return button;
    };
    if (this.hasTimes) {
      const axis = add(this.byTime ? "order" : "time", "Axis: time or order", () => {
        this.byTime = !this.byTime;
        setText(axis, this.byTime ? "order" : "time");
        this.fit();
        this.draw();
      });
    }
    add("−", "Less detail  -", () => this.zoom(2));
    add("+", "More detail  +", () => this.zoom(0.5));
    add("all", "Whole history  0", () => { this.fit(); this.draw(); });
  }

  zoom(scale, around = this.axis(this.app.at)) {
    const least = this.byTime ? 10 : 4;
    const wide = Math.max(least, Math.min((this.to - this.from) * scale, Math.max(1, this.end)));
    const share = (around - this.from) / (this.to - this.from);
    this.from = Math.max(0, Math.min(around - wide * Math.max(0, Math.min(1, share)), this.end - wide));
    this.to = this.from + wide;
    this.draw();
  }

  pan(by) {
    const wide = this.to - this.from;
    this.from = Math.max(0, Math.min(this.from + by, this.end - wide));
    this.to = this.from + wide;
    this.draw();
  }

  get width() { return Math.max(1, byId("chart").clientWidth - LABEL); }
  placeOf(x) { return this.from + ((x - LABEL) / this.width) * (this.to - this.from); }
  xOf(step) { return LABEL + ((this.axis(step) - this.from) / (this.to - this.from)) * this.width; }

  // The nearest step of the row under a point.
  under(event) {
    const box = byId("chart").getBoundingClientRect();
    const y = event.clientY - box.top + byId("chart").scrollTop;
    const row = this.rows.find((row) => y >= row.y && y < row.y + row.height);
    const x = event.clientX - box.left;
    if (!row) return { x, step: -1 };
    const step = this.stepAt(this.placeOf(x));
    const steps = row.task === undefined ? this.app.recording.lanes[row.lane].steps : null;
    if (steps) return { x, row, step: steps.length === 0 ? -1 : steps[Math.max(0, above(steps, step) - 1)] };
    const span = Math.max(0, above(row.firsts, step) - 1);
    return { x, row, step: Math.min(step < row.firsts[span] ? row.firsts[span] : step, row.lasts[span]) };
  }

  listen() {
    const chart = byId("chart");
    let held = null;
    chart.addEventListener("pointerdown", (event) => { held = { x: event.clientX, from: this.from, moved: false, touch: event.pointerType === "touch" }; });
    window.addEventListener("pointermove", (event) => {
      if (held && !held.touch) {
        const by = event.clientX - held.x;
        held.moved ||= Math.abs(by) > 4;
        if (held.moved) this.pan(held.from - (by / this.width) * (this.to - this.from) - this.from);
      }
    });
    window.addEventListener("pointerup", () => setTimeout(() => { held = null; }));
    chart.addEventListener("click", (event) => {
      const { step } = this.under(event);
      if (!held?.moved && step >= 0) this.app.go(step, true);
    });
    chart.addEventListener("mousemove", (event) => {
      const { row, step } = this.under(event), { recording } = this.app;
      const site = step < 0 ? -1 : recording.siteAt(step);
      const text = step < 0 ? "" : `${row.name}  #${shown(recording.number(step))}  ${site < 0 ? "" : `${recording.functionName(recording.site_function[site])}  ${recording.place(site)}`}`;
      setText(byId("hover"), text);
    });
    chart.addEventListener("mouseleave", () => setText(byId("hover"), ""));
    chart.addEventListener("wheel", (event) => {
      const isTall = this.height > chart.clientHeight + 1;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        this.pan(((event.deltaX || event.deltaY) / this.width) * (this.to - this.from));
      } else if (event.ctrlKey || !isTall) {
        event.preventDefault();
        this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.placeOf(event.clientX - chart.getBoundingClientRect().left));
      }
    }, { passive: false });
    chart.addEventListener("scroll", () => this.draw());
  }

  draw() {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.drawNow();
    });
  }

  drawNow() {
    const chart = byId("chart"), scale = window.devicePixelRatio || 1;
    const [width, height] = [chart.clientWidth, chart.clientHeight];
    if (width === 0 || height === 0) return;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const pen = this.canvas.getContext("2d"), style = getComputedStyle(document.body);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.isDark = colour("--is-dark") === "1";
    pen.scale(scale, scale);
    pen.font = `11px ${style.fontFamily}`;
    pen.textBaseline = "middle";
    // The steps at the borders of the pixels.
    const borders = new Int32Array(this.width + 1);
    for (let x = 0; x <= this.width; x++) borders[x] = this.stepAt(this.placeOf(LABEL + x));
    for (const row of this.rows) {
      const y = row.y - chart.scrollTop;
      if (y + row.height < 0 || y > height) continue;
      if (row.task === undefined) this.drawLane(pen, row, y, borders, colour);
      else this.drawTask(pen, row, y, borders);
      pen.fillStyle = colour("--paper");
      pen.fillRect(0, y, LABEL - 4, row.height);
      pen.fillStyle = colour(row.lane === this.app.recording.lane_of[this.app.at] ? "--ink" : "--dim");
      pen.fillText(this.label(pen, row.name.slice(0, 200)), 8, y + Math.min(row.height, 22) / 2 + 1);
      pen.fillStyle = colour("--line");
      pen.fillRect(0, y + row.height - 1, width, 1);
    }
    const x = this.xOf(this.app.at);
    if (x >= LABEL - 1 && x <= width) {
      pen.fillStyle = colour("--accent");
      pen.fillRect(Math.min(width - 2, x) - 0.5, 0, 2, height);
    }
    const text = this.byTime ? `${duration(this.from)} to ${duration(this.to)}` : `in order, ${shown(Math.round(this.from) + 1)} to ${shown(Math.min(this.app.recording.length, Math.round(this.to)))}`;
    setText(byId("axis"), text);
  }

  // Calls of a lane: pixels beside each other in one call are one bar.
  drawLane(pen, row, y, borders, colour) {
    const { recording } = this.app, { steps } = recording.lanes[row.lane];
    const open = Array.from({ length: DEPTHS }, () => ({ call: -1, x: 0 }));
    const close = (depth, x) => {
      const bar = open[depth];
      if (bar.call >= 0) this.bar(pen, [LABEL + bar.x, y + 9 + depth * BAR, x - bar.x, BAR - 1], recording.functionName(recording.call_function[bar.call]));
    };
    pen.fillStyle = `hsl(${laneHue(row.lane)} 55% ${this.isDark ? 55 : 50}%)`;
    let at = above(steps, borders[0] - 1);
    for (let x = 0; x < this.width; x++) {
      const behind = borders[x + 1] > borders[x] ? above(steps, borders[x + 1] - (x + 1 < this.width ? 1 : 0), at) : at;
      const isWide = borders[x + 1] === borders[x];
      const step = behind > at ? steps[behind - 1] : isWide && steps[at] === borders[x] ? borders[x] : -1;
      if (step >= 0) pen.fillRect(LABEL + x, y + 3, 1, 3);
      let calls = [];
      const inside = step >= 0 ? step : steps[Math.max(0, at - 1)];
      if (at > 0 || step >= 0) {
        const found = recording.ancestors(recording.callAt(inside)).reverse();
        // Between its entries, a lane is in the calls that go on.
        calls = step >= 0 ? found : found.filter((call) => recording.call_last[call] > borders[x]);
      }
      for (let depth = 0; depth < DEPTHS; depth++) {
        const call = calls[depth] ?? -1;
        if (open[depth].call !== call) {
          close(depth, x);
          open[depth] = { call, x };
          pen.fillStyle = `hsl(${laneHue(row.lane)} 55% ${this.isDark ? 55 : 50}%)`;
        }
      }
      at = behind;
    }
    open.forEach((_, depth) => close(depth, this.width));
    const isOwn = (step) => recording.lane_of[step] === row.lane;
    for (const [marked, name, wide] of this.marks) {
      pen.fillStyle = colour(name);
      for (let x = 0, at = above(marked, borders[0] - 1); x < this.width && at < marked.length; x++) {
        const behind = above(marked, borders[x + 1] - (x + 1 < this.width ? 1 : 0), at);
        if (behind > at && marked.subarray(at, Math.min(behind, at + 100)).some(isOwn)) pen.fillRect(LABEL + x - wide / 2, y + 1, wide, wide === 5 ? row.height - 3 : 7);
        at = behind;
      }
    }
  }

  bar(pen, [x, y, width, height], name) {
    if (width < 0.5) return;
    pen.fillStyle = `hsl(${hue(name)} ${this.isDark ? "28% 32%" : "48% 82%"})`;
    pen.fillRect(x, y, Math.max(1, width - (width > 3 ? 1 : 0)), height);
    if (width > 34) {
      pen.fillStyle = this.isDark ? "#e8e6e0" : "#2a2722";
      pen.save();
      pen.beginPath();
      pen.rect(x, y, width - 2, height);
      pen.clip();
      pen.font = "9px system-ui, sans-serif";
      pen.fillText(name, x + 3, y + height / 2 + 0.5);
      pen.restore();
    }
  }

  drawTask(pen, row, y, borders) {
    for (let x = 0; x < this.width; x++) {
      const last = Math.max(borders[x], borders[x + 1] - 1);
      const span = above(row.firsts, last) - 1;
      if (span < 0 || row.lasts[span] < borders[x]) {
        // Between its spans a task waits.
        if (span >= 0 && span < row.firsts.length - 1) {
          pen.fillStyle = this.isDark ? "#4a463f" : "#d8d3c8";
          pen.fillRect(LABEL + x, y + row.height / 2 - 0.5, 1, 1);
        }
        continue;
      }
      pen.fillStyle = `hsl(${laneHue(row.lanes[span])} 55% ${this.isDark ? 55 : 50}%)`;
      pen.fillRect(LABEL + x, y + 4, 1, row.height - 8);
    }
  }
}
