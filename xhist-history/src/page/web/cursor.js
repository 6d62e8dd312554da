// The motions of a debugger, forward (1) and back (-1). Each gives the step that it leads to, or -1 at the end of the history.
const MAX_STEP = 0x7fffffff;

class Cursor {
  constructor(recording) { this.recording = recording; }

  // The nearest statement of all lanes that is chosen.
  nearest(from, way, isIt) {
    const { steps, length } = this.recording;
    for (let step = from + way; step >= 0 && step < length; step += way) {
      if (steps[step] > 0 && isIt(step, steps[step] - 1)) return step;
    }
    return -1;
  }

  step(from, way) { return this.nearest(from, way, () => true); }

  // The nearest statement of the lane that is chosen.
  inLane(from, way, isIt) {
    const { steps } = this.recording, lane = this.recording.lane(from)?.steps;
    if (!lane) return -1;
    let at = way > 0 ? above(lane, from) : above(lane, from - 1) - 1;
    for (; at >= 0 && at < lane.length; at += way) {
      const step = lane[at];
      if (steps[step] > 0 && isIt(step)) return step;
    }
    return -1;
  }

  into(from, way) { return this.inLane(from, way, () => true); }

  // The nearest line of this call, or what is behind or before it in its caller. An async body goes on where its task does.
  over(from, way) {
    const recording = this.recording;
    const own = recording.ancestors(recording.callAt(from)), inOwn = new Set(own);
    const task = own.length > 0 && recording.call_task[own[0]] > 0 ? own[0] : -1;
    for (let at = from; ;) {
      const next = this.into(at, way);
      if (next < 0) return this.taskGoesOn(task, way);
      at = next;
      const there = recording.ancestors(recording.callAt(next));
      if (there[0] === own[0]) {
        if (this.isOtherLine(from, next, way)) return next;
        continue;
      }
      if (there.length === 0 || inOwn.has(there[0])) return next;
      // The outermost call that is not around this one.
      const common = there.findIndex((call) => inOwn.has(call));
      const other = there[(common < 0 ? there.length : common) - 1];
      if (recording.call_parent[other] === 0) {
        const found = this.taskGoesOn(task, way);
        return found < 0 ? next : found;
      }
      at = way > 0 ? recording.call_last[other] : recording.call_first[other];
    }
  }

  // Whether a statement of the same call is in another line, or begins the line again.
  isOtherLine(from, next, way) {
    const { site_file, site_line, site_col } = this.recording;
    const [one, other] = [this.recording.siteAt(from), this.recording.siteAt(next)];
    if (one < 0 || other < 0) return true;
    const isAgain = way > 0 ? site_col[other] <= site_col[one] : site_col[other] >= site_col[one];
    return site_file[one] !== site_file[other] || site_line[one] !== site_line[other] || isAgain;
  }

  // The step where a parked async body goes on, or from where it came, in any lane.
  taskGoesOn(call, way) {
    if (call < 0) return -1;
    const { call_first, call_last, call_task, call_function, call_lane, lanes, steps } = this.recording;
    const isIt = (other) => call_task[other] === call_task[call] && call_function[other] === call_function[call];
    if (way > 0) {
      let other = above(call_first, call_last[call]);
      while (other < call_first.length && !isIt(other)) other++;
      return other < call_first.length ? call_first[other] : -1;
    }
    let other = above(call_first, call_first[call] - 1) - 1;
    while (other >= 0 && !isIt(other)) other--;
    const lane = lanes[call_lane[other]]?.steps;
    if (other < 0 || !lane) return -1;
    for (let at = above(lane, call_last[other]) - 1; at >= 0; at--) {
      if (steps[lane[at]] > 0 && this.recording.callAt(lane[at]) === other) return lane[at];
    }
    return -1;
  }

  // The next statement behind this call, or the one that entered it.
  out(from, way) {
    const recording = this.recording, call = recording.callAt(from);
    if (call < 0) return -1;
    const { call_first, call_last, call_parent } = recording;
    if (way > 0) return this.inLane(from, way, (step) => step > call_last[call]);
    const parent = call_parent[call] - 1;
    return this.inLane(from, way, (step) => step < call_first[call] && (parent < 0 || recording.callAt(step) === parent));
  }

  // The sites where a run of this line begins: a line with several statements ran once when all of them did.
  sitesOf(file, line) {
    const { site_file, site_line, site_col } = this.recording, found = [];
    let first = MAX_STEP;
    for (let site = 0; site < site_line.length; site++) {
      if (site_file[site] === file && site_line[site] === line) {
        found.push(site);
        first = Math.min(first, site_col[site]);
      }
    }
    return new Set(found.filter((site) => site_col[site] === first));
  }

  // The next or previous time that a line ran.
  lineRan(from, way, file, line) {
    const sites = this.sitesOf(file, line);
    return this.nearest(from, way, (_, site) => sites.has(site));
  }

  line(from, way) {
    const site = this.recording.siteAt(from);
    return site < 0 ? -1 : this.lineRan(from, way, this.recording.site_file[site], this.recording.site_line[site]);
  }
}
