//! Follows the marks of tasks through a history.
//!
//! A task is *parked* from a statement with an `.await` until the mark that it goes on. What the thread runs meanwhile
//! belongs to the operand of the `.await`, to the executor or to code without tasks, and does not move the task.
//!
//! Which task awaits a new one is not recorded. It follows from the source: the thread's task at that moment, or one
//! around it, is at a statement that names the function of the new task, or that its async block is written in.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::{Duration, SystemTime};

use qs_core::record::{TaskMark, TaskStep};

use super::lines::{LineLookup, LinePlace};
use crate::model::{CancelledTasks, Gap, Item, LiveTask, Ring, TaskAround, TaskLink, TaskSummary, What};
use crate::options::ReadOptions;
use crate::program::map::Maps;

/// Statements of a task that are kept.
const TRAIL: usize = 5;
/// Tasks whose end came before their beginning, by the order of two threads, that are kept.
const MOST_ENDED: usize = 4096;
/// Tasks around a task that are shown.
const MOST_AROUND: usize = 16;

/// Process id and number.
type TaskKey = (u32, u32);

/// Number of the ring, and of the interrupt whose statements these are. An executor in an interrupt has a lane of its own.
type LaneKey = (usize, u16);

/// Knows the tasks that have not ended.
pub struct TaskTracker {
    lookup: LineLookup,
    threads: HashMap<LaneKey, TrackedThread>,
    tasks: HashMap<TaskKey, TrackedTask>,
    /// Tasks whose end was seen, but not their beginning, and the ring that ended them.
    ended: HashMap<TaskKey, usize>,
    /// Functions that ran where no task did, such as those of an executor.
    outside: HashSet<String>,
    /// Where tasks were dropped while they were parked, by the hash of the map: a ring of that map, and their number.
    cancelled: HashMap<(u64, LinePlace), (Ring, u64)>,
    /// The task that the last mark dropped so.
    just_cancelled: Option<(u32, String)>,
    /// Rings whose counts of tasks are of use: all of them, or none.
    counted: Vec<Ring>,
    /// A mark was seen. Before that nothing is looked up.
    has_marks: bool,
    /// What was seen last is of the run before a reset.
    is_before_reset: bool,
    /// When the program ended or was dumped, and how that is known.
    moment: Option<(SystemTime, &'static str)>,
}

struct TrackedThread {
    ring: Ring,
    /// The task that its statements belong to.
    active: Option<TaskKey>,
    /// The newest time that is known.
    time: Option<u64>,
    /// Its active task went on in another thread already, by the order of two threads: until the next time what this
    /// thread runs of it comes before. The statements that came so.
    late: Option<(TaskKey, usize)>,
}

struct TrackedTask {
    /// The lane that ran it last.
    thread: LaneKey,
    /// Path of the function that its body is in.
    function: Option<String>,
    /// Its first statement.
    first: Option<LinePlace>,
    /// The task that was active where it began.
    candidate: Option<TaskKey>,
    around: Option<(TaskKey, TaskLink)>,
    parked: bool,
    since: Option<u64>,
    /// Its last statements.
    trail: VecDeque<LinePlace>,
    /// The last one of its own function.
    own: Option<LinePlace>,
}

impl TrackedTask {
    fn new(thread: LaneKey, candidate: Option<TaskKey>) -> TrackedTask {
        TrackedTask {
            thread,
            function: None,
            first: None,
            candidate,
            around: None,
            parked: false,
            since: None,
            trail: VecDeque::new(),
            own: None,
        }
    }

    fn at(&self) -> Option<LinePlace> {
        self.trail.back().copied()
    }
}

impl TaskTracker {
    /// Looks for sources where these options say.
    pub fn new(options: &ReadOptions) -> TaskTracker {
        TaskTracker {
            lookup: LineLookup::new(options),
            threads: HashMap::new(),
            tasks: HashMap::new(),
            ended: HashMap::new(),
            outside: HashSet::new(),
            cancelled: HashMap::new(),
            just_cancelled: None,
            counted: Vec::new(),
            has_marks: false,
            is_before_reset: false,
            moment: options.moment,
        }
    }

    /// All rings of the history, which count the tasks that they begin and end.
    pub fn count(&mut self, rings: &[Ring]) {
        self.counted = rings.to_vec();
    }

    /// The task that what came last cancelled, and its function.
    pub fn take_cancelled(&mut self) -> Option<(u32, String)> {
        self.just_cancelled.take()
    }

    /// Whether the program records tasks.
    pub fn has_marks(&self) -> bool {
        self.has_marks
    }

    /// Takes what is missing in a ring. Tasks that it ran last may have ended where it has overwritten entries.
    pub fn gap(&mut self, ring: &Ring, gap: &Gap) {
        if gap.is_overwritten() {
            self.threads.retain(|(number, _), _| *number != ring.number);
            self.tasks.retain(|_, task| task.thread.0 != ring.number);
        }
    }

    /// Takes what a ring yields next. Returns the number of the task that it belongs to.
    pub fn take(&mut self, ring: &Ring, item: &Item, maps: &Maps) -> Option<u32> {
        let is_mark = matches!(item.what, What::Task(_));
        let lane = (ring.number, item.interrupt);
        if std::mem::replace(&mut self.is_before_reset, ring.is_before_reset()) && !ring.is_before_reset() {
            self.reset();
        }
        self.has_marks |= is_mark;
        if is_mark || item.time.is_some() {
            let thread = self.threads.entry(lane);
            let thread = thread.or_insert_with(|| TrackedThread {
                ring: ring.clone(),
                active: None,
                time: None,
                late: None,
            });
            if item.time.is_some_and(|time| thread.time != Some(time)) {
                (thread.time, thread.late) = (item.time, None);
            }
        }
        match &item.what {
            What::Task(mark) => self.mark((ring, item.interrupt), *mark, maps),
            What::Statement { file, line } => {
                if !self.has_marks {
                    return None;
                }
                let place = LineLookup::place(ring, (*file, *line), maps);
                match self.threads.get(&lane).and_then(|thread| thread.active) {
                    Some(key) => {
                        self.statement(key, (ring, item.interrupt), place, maps);
                        return Some(key.1).filter(|_| !self.is_outside(key, ring, place, maps));
                    }
                    None if item.interrupt == 0 => self.note_outside(ring, place, maps),
                    // A handler is no executor, and may run functions of tasks.
                    None => {}
                }
            }
            _ => return self.threads.get(&lane)?.active.map(|(_, number)| number),
        }
        None
    }

    /// The run before has ended, with its tasks. The numbers begin again.
    fn reset(&mut self) {
        self.threads.clear();
        self.tasks.clear();
        self.ended.clear();
    }

    /// Path of the function that the body of a task is in.
    pub fn function(&self, ring: &Ring, number: u32) -> &str {
        let task = self.tasks.get(&(ring.pid, number));
        task.and_then(|task| task.function.as_deref()).unwrap_or_default()
    }

    /// The function of this statement also runs outside of tasks.
    fn note_outside(&mut self, ring: &Ring, place: LinePlace, maps: &Maps) {
        if let Some(facts) = self.lookup.facts(ring, place, maps)
            && !self.outside.contains(&facts.function)
        {
            self.outside.insert(facts.function.clone());
        }
    }

    /// Whether a statement is one of the executor rather than of the parked task that its thread ran last.
    fn is_outside(&mut self, key: TaskKey, ring: &Ring, place: LinePlace, maps: &Maps) -> bool {
        let is_parked = self.tasks.get(&key).is_some_and(|task| task.parked && task.at() != Some(place));
        let facts = if is_parked { self.lookup.facts(ring, place, maps) } else { None };
        facts.is_some_and(|facts| self.outside.contains(&facts.function))
    }

    fn mark(&mut self, (ring, interrupt): (&Ring, u16), TaskMark { step, task }: TaskMark, maps: &Maps) {
        let (key, lane) = ((ring.pid, task), (ring.number, interrupt));
        let Some(thread) = self.threads.get_mut(&lane) else { return };
        let before = thread.active;
        thread.late = thread.late.filter(|(late, _)| *late == key);
        match step {
            TaskStep::Enter => {
                // Its other marks came first, by the order of two threads. A thread that ended a task uses its number again.
                let is_other = |thread: usize| thread != ring.number;
                let was_ended = self.ended.remove(&key).is_some_and(is_other);
                thread.active = Some(key);
                match self.tasks.get_mut(&key).filter(|task| is_other(task.thread.0)) {
                    _ if was_ended => {}
                    Some(task) => {
                        (task.candidate, task.first) = (before, None);
                        thread.late = Some((key, 0));
                    }
                    None => {
                        self.tasks.insert(key, TrackedTask::new(lane, before));
                    }
                }
            }
            TaskStep::Resume if thread.late.is_some() => {}
            TaskStep::Resume => {
                self.leave(key);
                if let Some(thread) = self.threads.get_mut(&lane) {
                    thread.active = Some(key);
                }
                let task = self.tasks.entry(key).or_insert_with(|| TrackedTask::new(lane, None));
                (task.thread, task.parked) = (lane, false);
            }
            TaskStep::End | TaskStep::Unwind => {
                let task = self.tasks.remove(&key);
                if task.is_none() && self.ended.len() < MOST_ENDED {
                    self.ended.insert(key, ring.number);
                }
                if let Some(task) = task.as_ref().filter(|task| step == TaskStep::End && task.parked) {
                    self.note_cancelled((key.1, task), ring, maps);
                }
                let outer = task.and_then(|task| task.around).filter(|(_, link)| *link == TaskLink::Awaits);
                self.leave(key);
                if let Some(thread) = self.threads.get_mut(&lane).filter(|_| before == Some(key)) {
                    thread.active =
                        outer.map(|(outer, _)| outer).filter(|outer| self.tasks.contains_key(outer));
                }
            }
        }
    }

    /// A task ended while it was parked. It was cancelled if it could not return there.
    fn note_cancelled(&mut self, (number, task): (u32, &TrackedTask), ring: &Ring, maps: &Maps) {
        let Some(at) = task.at().filter(|at| self.lookup.is_left_by_statements_only(ring, *at, maps)) else {
            return;
        };
        self.cancelled.entry((ring.map_hash, at)).or_insert_with(|| (ring.clone(), 0)).1 += 1;
        self.just_cancelled = Some((number, task.function.clone().unwrap_or_default()));
    }

    /// No thread runs this task.
    fn leave(&mut self, key: TaskKey) {
        for thread in self.threads.values_mut().filter(|thread| thread.active == Some(key)) {
            thread.active = None;
        }
    }

    fn statement(&mut self, key: TaskKey, (ring, interrupt): (&Ring, u16), place: LinePlace, maps: &Maps) {
        let lane = (ring.number, interrupt);
        let time = self.threads.get(&lane).and_then(|thread| thread.time);
        let facts = self.lookup.facts(ring, place, maps);
        let awaits = facts.is_some_and(|facts| facts.awaits);
        let function = facts.map(|facts| facts.function.as_str());
        let Some(task) = self.tasks.get_mut(&key) else { return };
        let is_first = task.first.is_none();
        if is_first {
            task.first = Some(place);
            task.function = function.map(str::to_owned);
        }
        let late = self.threads.get_mut(&lane).and_then(|thread| thread.late.as_mut());
        if let Some((_, count)) = late {
            if task.trail.len() < TRAIL {
                task.trail.insert((*count).min(task.trail.len()), place);
                *count += 1;
            }
        } else if !task.parked || awaits {
            (task.parked, task.since, task.thread) = (awaits, time, lane);
            if task.trail.len() == TRAIL {
                task.trail.pop_front();
            }
            task.trail.push_back(place);
            if task.function.as_deref() == function {
                task.own = Some(place);
            }
        }
        if is_first {
            let around = self.around(key, ring, place, maps);
            if let Some(task) = self.tasks.get_mut(&key) {
                task.around = around;
            }
        }
    }

    /// The task around a new one, whose first statement is at `place`.
    fn around(
        &mut self,
        key: TaskKey,
        ring: &Ring,
        place: LinePlace,
        maps: &Maps,
    ) -> Option<(TaskKey, TaskLink)> {
        let task = self.tasks.get(&key)?;
        let function = task.function.clone().filter(|function| !function.is_empty())?;
        let name = last_segment(&function);
        let mut next = task.candidate;
        for _ in 0..MOST_AROUND {
            let Some((outer, known)) = next.and_then(|key| Some((key, self.tasks.get(&key)?))) else { break };
            let (at, own) = (known.at(), known.own);
            let above = known.around.map(|(above, _)| above).or(known.candidate);
            // Each place in the text is for one task at a time.
            let is_sibling = |other: &&TrackedTask| {
                other.around == Some((outer, TaskLink::Awaits))
                    && other.function.as_deref().map(last_segment) == Some(name)
            };
            let siblings = self.tasks.values().filter(is_sibling);
            // Another run of the same body starts in the same line.
            let is_same_body = known.first == Some(place);
            let head = own.and_then(|own| self.lookup.waiting_loop(ring, own, maps));
            if let Some(at) = at {
                let (places, used) = match !is_same_body && self.lookup.reaches(ring, at, place, maps) {
                    true => (1, siblings.filter(|other| other.first == Some(place)).count()),
                    false => {
                        let calls = [Some(at), head].into_iter().flatten();
                        let calls = calls.map(|at| LineLookup::count_calls(ring, at, &function, maps));
                        (calls.sum(), siblings.count())
                    }
                };
                if used < places {
                    return Some((outer, TaskLink::Awaits));
                }
            }
            next = above.filter(|above| *above != outer);
        }
        // An async block is in the function of its text.
        let holds = |other: &(&TaskKey, &TrackedTask)| {
            *other.0 != key
                && other.0.0 == key.0
                && other.1.function.as_ref() == Some(&function)
                && other.1.first.is_some_and(|first| first.file == place.file && first.line < place.line)
        };
        let mut all = self.tasks.iter().filter(holds);
        let first = all.next().map(|(outer, _)| (*outer, TaskLink::Created));
        first.filter(|_| all.next().is_none())
    }

    /// What is known of the tasks at the end.
    pub fn summary(mut self, maps: &Maps) -> TaskSummary {
        let (unlisted, ended) = if self.has_marks { self.miscounted() } else { (0, 0) };
        let cancelled = std::mem::take(&mut self.cancelled)
            .into_iter()
            .map(|((_, at), (ring, count))| CancelledTasks { at: self.lookup.named(&ring, at, maps), count });
        let mut cancelled: Vec<CancelledTasks> = cancelled.collect();
        cancelled.sort_by(|a, b| (b.count, &a.at.path, a.at.line).cmp(&(a.count, &b.at.path, b.at.line)));
        TaskSummary { live: self.live(maps), unlisted, ended, cancelled, is_brief: false }
    }

    /// How many more tasks have not ended by the counts of the rings, and how many fewer.
    fn miscounted(&self) -> (u64, u64) {
        let mut counts: HashMap<u32, (i64, i64)> = HashMap::new();
        for Ring { pid, tasks: (began, ended), .. } in &self.counted {
            let (all_began, live) = counts.entry(*pid).or_default();
            *all_began += i64::from(*began);
            *live += i64::from(*began) - i64::from(*ended);
        }
        let known = counts.into_iter().filter(|(_, (began, _))| *began > 0);
        known.fold((0, 0), |(more, fewer), (pid, (_, live))| {
            let listed = self.tasks.keys().filter(|key| key.0 == pid).count() as i64;
            let difference = live.max(0) - listed;
            (more + difference.max(0).unsigned_abs(), fewer + difference.min(0).unsigned_abs())
        })
    }

    /// The tasks that have not ended: first those that are longest where they are.
    fn live(mut self, maps: &Maps) -> Vec<LiveTask> {
        let mut keys: Vec<TaskKey> = self.tasks.keys().copied().collect();
        keys.sort_by_key(|key| (self.tasks[key].since, *key));
        let awaited: HashSet<TaskKey> = self
            .tasks
            .values()
            .filter_map(|task| task.around.filter(|(_, link)| *link == TaskLink::Awaits))
            .map(|(outer, _)| outer)
            .collect();
        keys.into_iter().filter_map(|key| self.live_task(key, !awaited.contains(&key), maps)).collect()
    }

    /// Whether a process recorded nothing of its end, neither a panic nor a signal nor its exit.
    fn is_open(&self, pid: u32) -> bool {
        let mut rings = self.threads.values().map(|thread| &thread.ring).filter(|ring| ring.pid == pid);
        rings.all(|ring| matches!(ring.status, "running or killed" | "ended"))
    }

    fn live_task(&mut self, key: TaskKey, is_leaf: bool, maps: &Maps) -> Option<LiveTask> {
        let newest = self.threads.values().filter_map(|thread| thread.time).max();
        let task = self.tasks.get(&key)?;
        let ring = self.threads.get(&task.thread)?.ring.clone();
        let moment = self.moment.filter(|_| self.is_open(key.0));
        let moment = moment.and_then(|(time, until)| Some((ring.clock_at(time)?, until)));
        let (newest, until) = match moment.filter(|(moment, _)| Some(*moment) > newest) {
            Some((moment, until)) => (Some(moment), Some(until)),
            None => (newest, None),
        };
        let ticks = newest.zip(task.since).map(|(newest, since)| newest.saturating_sub(since));
        let ticks = ticks.filter(|_| ring.clock_hz > 0 && !ring.exact);
        let for_at_least =
            ticks.map(|ticks| Duration::from_secs_f64(ticks as f64 / f64::from(ring.clock_hz)));
        let mut next = task.around;
        let (mut trail, mut parked, interrupt) = (task.trail.clone(), task.parked, task.thread.1);
        // A thread that runs another task has left this one.
        let is_left = self.threads.get(&task.thread).is_some_and(|thread| thread.active != Some(key));
        let mut head = if parked { None } else { task.own };
        head = head.and_then(|own| self.lookup.waiting_loop(&ring, own, maps));
        if let Some(head) = head.take_if(|_| is_left) {
            parked = true;
            trail.push_back(head);
        }
        let mut around = Vec::new();
        while let Some((outer, link)) = next
            && around.len() < MOST_AROUND
        {
            let Some(known) = self.tasks.get(&outer) else { break };
            let above = known.around;
            // What a task awaits in its loop, it awaits at the head.
            let head = known.own.filter(|_| link == TaskLink::Awaits && !known.parked);
            let head = head.and_then(|own| self.lookup.waiting_loop(&ring, own, maps));
            let at = head.or(known.at());
            let at = at.map(|at| self.lookup.named(&ring, at, maps));
            around.push(TaskAround { number: outer.1, link, at });
            next = above;
        }
        let before: Vec<_> = trail.iter().map(|place| self.lookup.named(&ring, *place, maps)).collect();
        Some(LiveTask {
            number: key.1,
            pid: key.0,
            parked,
            or_parked_at: head.map(|head| self.lookup.named(&ring, head, maps)),
            at: before.last().cloned(),
            thread: ring.lane(interrupt),
            interrupt: (interrupt != 0).then(|| ring.interrupts.text_with_priority(interrupt)),
            for_at_least,
            until,
            around,
            is_leaf,
            before,
        })
    }
}

/// The name of a function without its type.
fn last_segment(function: &str) -> &str {
    function.rsplit("::").next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::BEFORE_RESET;
    use TaskStep::{End, Enter, Resume};

    /// In this ring: a step of a task, or a line of a statement.
    type RingStep = (usize, Result<(TaskStep, u32), u16>);

    /// The same in this interrupt of a ring.
    type LaneStep = (usize, u16, Result<(TaskStep, u32), u16>);

    /// Steps of tasks, each in a ring, and lines of statements of ring 1.
    fn live(steps: &[RingStep]) -> Vec<(u32, String, Vec<u32>)> {
        let steps: Vec<_> = steps.iter().map(|(ring, step)| (*ring, 0, *step)).collect();
        live_in(&steps)
    }

    /// The same, each in an interrupt of a ring.
    fn live_in(steps: &[LaneStep]) -> Vec<(u32, String, Vec<u32>)> {
        let (mut tracker, maps) = (TaskTracker::new(&ReadOptions::default()), Maps::default());
        for (number, interrupt, step) in steps {
            let ring = Ring { number: *number, tid: *number as u32, pid: 9, ..Ring::default() };
            let what = match *step {
                Ok((step, task)) => What::Task(TaskMark { step, task }),
                Err(line) => What::Statement { file: 1, line },
            };
            tracker.take(&ring, &Item { interrupt: *interrupt, ..Item::new(what, None) }, &maps);
        }
        let lines = |task: &LiveTask| task.before.iter().map(|place| place.line).collect();
        tracker.live(&maps).iter().map(|task| (task.number, task.thread.clone(), lines(task))).collect()
    }

    #[test]
    fn statements_belong_to_the_task_that_its_thread_runs() {
        let steps = [
            (1, Err(1)),
            (1, Ok((Enter, 5))),
            (1, Err(2)),
            (1, Ok((Enter, 6))),
            (1, Err(3)),
            (1, Ok((Resume, 5))),
            (1, Err(4)),
        ];
        assert_eq!(live(&steps), [(5, "1".into(), vec![2, 4]), (6, "1".into(), vec![3])]);
    }

    /// An executor of each priority, as in RTIC: the higher one interrupts a task, and goes back to it.
    #[test]
    fn tasks_of_an_interrupt_are_apart_from_what_it_interrupted() {
        let steps = [
            (1, 0, Err(1)),
            (1, 29, Ok((Enter, 5))),
            (1, 29, Err(2)),
            (1, 30, Ok((Enter, 6))),
            (1, 30, Err(3)),
            (1, 29, Err(4)),
            (1, 31, Err(5)),
            (1, 0, Err(6)),
        ];
        let tasks = [(5, "1 interrupt 29".into(), vec![2, 4]), (6, "1 interrupt 30".into(), vec![3])];
        assert_eq!(live_in(&steps), tasks);
    }

    #[test]
    fn a_number_is_used_again_by_the_thread_that_ended_its_task() {
        let known = [
            (1, Ok((Enter, 5))),
            (1, Err(2)),
            (1, Ok((End, 5))),
            (1, Err(3)),
            (1, Ok((Enter, 5))),
            (1, Err(4)),
        ];
        assert_eq!(live(&known), [(5, "1".into(), vec![4])]);
        // The beginning of the first task is overwritten.
        assert_eq!(live(&known[2..]), [(5, "1".into(), vec![4])]);
        assert_eq!(live(&known[..4]), []);
    }

    #[test]
    fn a_reset_ends_the_tasks_before_it() {
        let (mut tracker, maps) = (TaskTracker::new(&ReadOptions::default()), Maps::default());
        let mut take = |ring: &Ring, line: u16| {
            for what in [
                What::Task(TaskMark { step: Enter, task: 1 }),
                What::Task(TaskMark { step: Enter, task: line.into() }),
                What::Statement { file: 1, line },
            ] {
                tracker.take(ring, &Item::new(what, None), &maps);
            }
        };
        take(&Ring { number: 1, status: BEFORE_RESET, ..Ring::default() }, 7);
        take(&Ring { number: 2, status: "running or killed", ..Ring::default() }, 8);
        let live: Vec<_> = tracker.live(&maps).iter().map(|task| (task.number, task.before.len())).collect();
        assert_eq!(live, [(1, 0), (8, 1)]);
    }

    #[test]
    fn marks_of_two_threads_may_come_in_the_wrong_order() {
        let resumed = [(2, Ok((Resume, 5))), (1, Ok((Enter, 5))), (1, Err(2))];
        assert_eq!(live(&resumed), [(5, "2".into(), vec![2])]);
        // What its first thread ran comes before, and does not belong to the task around it.
        let both = [
            (1, Ok((Enter, 4))),
            (1, Err(1)),
            (2, Ok((Resume, 5))),
            (2, Err(9)),
            (1, Ok((Enter, 5))),
            (1, Err(2)),
            (1, Ok((Resume, 5))),
            (1, Err(3)),
        ];
        assert_eq!(live(&both), [(4, "1".into(), vec![1]), (5, "2".into(), vec![2, 3, 9])]);
        let ended = [(2, Ok((End, 5))), (1, Ok((Enter, 5))), (1, Err(2))];
        assert_eq!(live(&ended), []);
        // What its first thread runs behind that does not move it.
        let moved = [(1, Ok((Enter, 5))), (1, Err(2)), (2, Ok((Resume, 5))), (1, Err(3))];
        assert_eq!(live(&moved), [(5, "2".into(), vec![2])]);
    }
}
