// A whole history: steps, calls, values and events by position. The words are those of the Rust module `recording`.
const EXITS = ["open", "returned", "unwound", "parked", "cancelled", "unknown"];
const KINDS = ["panic", "signal", "trace", "record", "mark", "repetition", "cancelled", "gap", "output"];
// Kinds without a number of their own.
const UNNUMBERED = new Set([5, 6, 7, 8]);
const ENTERED_BEFORE = 1, UNCERTAIN = 2, RESUMED = 4, UNWINDING = 8;
// Values that are searched for those of a call.
const MAX_SEARCHED = 100000;

// The first index whose number is above `limit`, in `numbers[from..to]`.
function above(numbers, limit, from = 0, to = numbers.length) {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (numbers[middle] <= limit) from = middle + 1; else to = middle;
  }
  return from;
}

class Recording {
  // Reads the page.
  static async read() {
    const recording = new Recording();
    const names = ["run_lane", "run_length", "uncertain", "site_file", "site_line", "site_col", "site_end_line", "site_end_col",
      "site_function", "steps", "call_lane", "call_function", "call_first", "call_last", "call_parent", "call_from",
      "event_kind", "event_name", "event_text", "event_fields", "field_name", "field_text", "span_task", "span_function",
      "span_lane", "span_first", "span_last", "time_step", "value_step", "value_name", "value_type", "value_text", "value_call",
      "value_line"];
    const [tables] = await parts("tables");
    Object.assign(recording, tables);
    await Promise.all([
      ...names.map(async (name) => { recording[name] = await column(name); }),
      ...["call_exit", "call_flags", "value_parameter"].map(async (name) => { recording[name] = await column(name, Uint8Array); }),
      ...["time_value", "call_task", "site_runs"].map(async (name) => { recording[name] = await column(name, Float64Array); }),
      (async () => { recording.texts = (await parts("texts")).flat(); })(),
    ]);
    recording.index();
    return recording;
  }

  // What follows from the columns.
  index() {
    const count = this.steps.length, lanes = this.lanes.length;
    const Lanes = lanes < 256 ? Uint8Array : Int32Array;
    this.length = count;
    // A lane that does not exist is the last one.
    this.lane_of = new Lanes(count);
    const sizes = new Int32Array(lanes + 2);
    let at = 0;
    this.run_lane.forEach((lane, run) => {
      const known = Math.min(lane, lanes);
      this.lane_of.fill(known, at, at += this.run_length[run]);
      sizes[known + 1] += this.run_length[run];
    });
    for (let lane = 0; lane <= lanes; lane++) sizes[lane + 1] += sizes[lane];
    const places = sizes.slice(), ordered = new Int32Array(count);
    this.event_step = new Int32Array(this.event_kind.length);
    const unnumbered = [];
    for (let step = 0, event = 0; step < count; step++) {
      ordered[places[this.lane_of[step]]++] = step;
      if (this.steps[step] === 0) {
        if (UNNUMBERED.has(this.event_kind[event])) unnumbered.push(step);
        this.event_step[event++] = step;
      }
    }
    this.unnumbered = Int32Array.from(unnumbered);
    const calls = Array.from({ length: lanes }, () => []);
    this.call_depth = new Int32Array(this.call_lane.length);
    this.call_lane.forEach((lane, call) => {
      const parent = this.call_parent[call];
      this.call_depth[call] = parent === 0 ? 0 : this.call_depth[parent - 1] + 1;
      calls[lane]?.push(call);
    });
    this.lanes.forEach((lane, index) => {
      lane.steps = ordered.subarray(sizes[index], sizes[index + 1]);
      lane.calls = Int32Array.from(calls[index]);
      lane.firsts = lane.calls.map((call) => this.call_first[call]);
    });
    let field = 0;
    this.event_field = this.event_fields.map((fields) => (field += fields) - fields);
    this.files.forEach((file) => { file.lines = file.text?.split("\n") ?? null; file.text = null; });
    // Times rise, for a search; those of lanes may differ a little.
    let newest = 0;
    this.time_value.forEach((time, index) => { this.time_value[index] = newest = Math.max(newest, time); });
  }

  // The site of a statement, or -1.
  statement(step) { return this.steps[step] - 1; }

  // The event of a step, or -1.
  event(step) {
    const found = above(this.event_step, step) - 1;
    return found >= 0 && this.event_step[found] === step ? found : -1;
  }

  lane(step) { return this.lanes[this.lane_of[step]]; }

  isUncertain(step) { return this.uncertain[above(this.uncertain, step) - 1] === step; }

  // The site that a step runs; of an event, the newest one of its lane before it; -1 without one.
  siteAt(step) {
    if (this.steps[step] > 0) return this.steps[step] - 1;
    const steps = this.lane(step)?.steps ?? [];
    let at = above(steps, step) - 1;
    while (at >= 0 && this.steps[steps[at]] === 0) at--;
    return at < 0 ? -1 : this.steps[steps[at]] - 1;
  }

  // The innermost call on the stack, or -1.
  callAt(step) {
    const lane = this.lane(step);
    if (!lane) return -1;
    const behind = above(lane.firsts, step);
    let call = behind === 0 ? -1 : lane.calls[behind - 1];
    while (call >= 0 && step > this.call_last[call]) call = this.call_parent[call] - 1;
    return call;
  }

  // The call and those around it, the innermost first.
  ancestors(call) {
    const found = [];
    for (; call >= 0; call = this.call_parent[call] - 1) found.push(call);
    return found;
  }

  // The frames at a step, the innermost first.
  stackAt(step) {
    let site = this.siteAt(step);
    if (site < 0) return [];
    const frames = this.ancestors(this.callAt(step)).map((call) => {
      const frame = { call, site, fn: this.call_function[call] };
      site = this.call_from[call] - 1;
      return frame;
    });
    return frames.length > 0 ? frames : [{ call: -1, site, fn: this.site_function[site] }];
  }

  // The newest value of each name of a call, up to a step: parameters first.
  variables(call, step) {
    if (call < 0) return [];
    const own = new Set([call]);
    let first = this.call_first[call];
    if (this.call_flags[call] & RESUMED && this.call_task[call] > 0) {
      for (let other = call - 1; other >= 0; other--) {
        if (this.call_task[other] !== this.call_task[call] || this.call_function[other] !== this.call_function[call]) continue;
        own.add(other);
        first = this.call_first[other];
        if (!(this.call_flags[other] & RESUMED)) break;
      }
    }
    const from = above(this.value_step, first - 1), found = new Map();
    let value = above(this.value_step, step) - 1;
    for (let left = MAX_SEARCHED; value >= from && left > 0; value--, left--) {
      const name = this.value_name[value];
      if (own.has(this.value_call[value] - 1) && !found.has(name)) found.set(name, value);
    }
    const order = (value) => [this.value_parameter[value] ? 0 : 1, this.value_step[value], this.value_line[value]];
    return [...found.values()].sort((one, other) => {
      const [a, b] = [order(one), order(other)];
      return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
    });
  }

  // The values behind a step.
  valuesAt(step) { return this.valuesBetween(step, step); }

  // The values behind the steps from one to another.
  valuesBetween(first, last) {
    const found = [];
    for (let value = above(this.value_step, first - 1); this.value_step[value] <= last; value++) found.push(value);
    return found;
  }

  // The number in listings.
  number(step) { return this.skipped + step + 1 - above(this.unnumbered, step); }

  // The step with a number, or the nearest one.
  byNumber(number) {
    let low = 0, high = this.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.number(middle) < number) low = middle + 1; else high = middle;
    }
    return low;
  }

  // The newest time up to a step, in nanoseconds from the first; -1 without one.
  time(step) {
    const behind = above(this.time_step, step);
    return behind === 0 ? -1 : this.time_value[behind - 1];
  }

  // The task of a step, or 0.
  taskAt(step) {
    let span = above(this.span_first, step) - 1;
    for (let left = 4 * Math.max(1, this.lanes.length); span >= 0 && left > 0; span--, left--) {
      if (this.span_lane[span] === this.lane_of[step]) return step <= this.span_last[span] ? this.span_task[span] : 0;
    }
    return 0;
  }

  functionName(fn) { return this.functions[fn]?.[0] || "?"; }
  path(site) { return this.files[this.site_file[site]]?.path ?? "?"; }
  place(site) { return `${this.path(site)}:${this.site_line[site]}`; }
  lineText(site) { return this.files[this.site_file[site]]?.lines?.[this.site_line[site] - 1] ?? ""; }
  valueText(value) { return `${this.texts[this.value_name[value]]} = ${this.texts[this.value_text[value]]}`; }
}
