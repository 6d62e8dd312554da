//! The tables of a recording.

use super::event::RecordedEvent;
use super::ids::{CallId, LaneId, SiteId, StepId};
use super::lane::RecordedLane;
use super::site::{RecordedFile, RecordedFunction, RecordedSite};
use super::span::CallSpan;
use super::strings::Strings;
use super::task_span::TaskSpan;
use super::value::ValueAt;
use crate::model::{LocatedPanic, TaskSummary};

/// What happened at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedStep {
    /// A statement was about to run.
    Statement(SiteId),
    /// An event, among [`Recording::events`].
    Event(u32),
}

/// The bit of a packed step that makes it an event.
const EVENT: u32 = 1 << 31;

/// A whole history. Steps of all lanes have one order; it is certain within a lane.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Texts of events and values.
    pub strings: Strings,
    /// Source files.
    pub files: Vec<RecordedFile>,
    /// Functions, closures and async blocks.
    pub functions: Vec<RecordedFunction>,
    /// Statements of the program that ran.
    pub sites: Vec<RecordedSite>,
    /// Threads and interrupts.
    pub lanes: Vec<RecordedLane>,
    /// Calls, by their first steps.
    pub calls: Vec<CallSpan>,
    /// Events, by their steps.
    pub events: Vec<RecordedEvent>,
    /// Values, by their steps.
    pub values: Vec<ValueAt>,
    /// Async tasks, by their first steps.
    pub task_spans: Vec<TaskSpan>,
    /// Where panics were that name a place, by the steps of the panics.
    pub panics: Vec<(StepId, LocatedPanic)>,
    /// The rings of failed tests, where the run names them: a panic in another test was the one that it waits for.
    pub failed_tests: Vec<usize>,
    /// Times of steps that carry one, in nanoseconds of the recorder's clock.
    pub times: Vec<(StepId, u64)>,
    /// The async tasks at the end; `None` if the program has none.
    pub tasks: Option<TaskSummary>,
    /// What other commands find out about the run.
    pub evidence: RunEvidence,
    /// Entries before the first step that the recording does not hold.
    pub left_out: u64,
    /// What was lost, in words.
    pub losses: Vec<String>,
    /// Where it comes from, printable.
    pub origin: String,
    packed: Vec<u32>,
    lane_of: Vec<u32>,
    /// Steps that listings give no number, rising.
    unnumbered: Vec<u32>,
    /// Steps whose order among other lanes is not certain, rising.
    uncertain: Vec<u32>,
}

/// What other commands find out about the run of a recording.
#[derive(Clone, Debug, Default)]
pub struct RunEvidence {
    /// Statements by how suspicious the tests of the run make them, the most suspicious first.
    pub suspects: Vec<SuspectRow>,
    /// How the failed test differs from the passed test most like it, as `xhist-report diff` prints it; empty if not known.
    pub diff: String,
    /// The message of the failure, if the run kept one.
    pub message: String,
}

/// A suspicious statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SuspectRow {
    /// Its rank, from 1; statements that always run together share it.
    pub rank: usize,
    /// Its score, the value of the formula.
    pub score: f64,
    /// Path of its file, printable.
    pub path: String,
    /// Its line.
    pub line: u32,
    /// Its function.
    pub function: String,
    /// Its source text, if found.
    pub text: String,
}

impl Recording {
    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.packed.len()
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// The newest step; `None` if there is no step.
    pub fn last(&self) -> Option<StepId> {
        (self.len() as u32).checked_sub(1).map(StepId)
    }

    /// Adds a step at the end.
    ///
    /// # Panics
    /// Never: a lane that does not exist keeps the step out of every lane.
    pub fn push(&mut self, lane: LaneId, step: RecordedStep, is_uncertain: bool) -> StepId {
        let id = StepId(self.packed.len() as u32);
        self.packed.push(match step {
            RecordedStep::Statement(SiteId(site)) => site & !EVENT,
            RecordedStep::Event(event) => event | EVENT,
        });
        self.lane_of.push(lane.0);
        if let RecordedStep::Event(event) = step
            && self.events.get(event as usize).is_some_and(|event| !event.kind.is_numbered())
        {
            self.unnumbered.push(id.0);
        }
        if is_uncertain {
            self.uncertain.push(id.0);
        }
        if let Some(lane) = self.lanes.get_mut(lane.0 as usize) {
            lane.steps.push(id);
        }
        id
    }

    /// What happened at a step; that of the newest one behind the end.
    pub fn step(&self, step: StepId) -> Option<RecordedStep> {
        let packed = *self.packed.get(step.0 as usize)?;
        Some(if packed & EVENT == 0 {
            RecordedStep::Statement(SiteId(packed))
        } else {
            RecordedStep::Event(packed & !EVENT)
        })
    }

    /// All steps, oldest first.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = RecordedStep> {
        let step = |packed: &u32| match packed & EVENT {
            0 => RecordedStep::Statement(SiteId(*packed)),
            _ => RecordedStep::Event(packed & !EVENT),
        };
        self.packed.iter().map(step)
    }

    /// The lane of a step.
    pub fn lane_of(&self, step: StepId) -> LaneId {
        LaneId(self.lane_of.get(step.0 as usize).copied().unwrap_or_default())
    }

    /// The lane of each step, oldest first.
    pub fn lanes_of_steps(&self) -> impl ExactSizeIterator<Item = LaneId> {
        self.lane_of.iter().map(|lane| LaneId(*lane))
    }

    /// Whether other lanes may have run before the step, in spite of the order.
    pub fn is_uncertain(&self, step: StepId) -> bool {
        self.uncertain.binary_search(&step.0).is_ok()
    }

    /// The event of a step.
    pub fn event(&self, step: StepId) -> Option<&RecordedEvent> {
        match self.step(step)? {
            RecordedStep::Event(event) => self.events.get(event as usize),
            RecordedStep::Statement(_) => None,
        }
    }

    /// The statement that a step runs; of an event, the newest one of its lane before it.
    pub fn site_at(&self, step: StepId) -> Option<SiteId> {
        let lane = self.lane(self.lane_of(step))?;
        let position = lane.position(step)?;
        lane.steps[..=position].iter().rev().find_map(|step| match self.step(*step)? {
            RecordedStep::Statement(site) => Some(site),
            RecordedStep::Event(_) => None,
        })
    }

    /// A site.
    pub fn site(&self, site: SiteId) -> Option<&RecordedSite> {
        self.sites.get(site.0 as usize)
    }

    /// A lane.
    pub fn lane(&self, lane: LaneId) -> Option<&RecordedLane> {
        self.lanes.get(lane.0 as usize)
    }

    /// A call.
    pub fn call(&self, call: CallId) -> Option<&CallSpan> {
        self.calls.get(call.0 as usize)
    }

    /// The file of a site.
    pub fn file_of(&self, site: SiteId) -> Option<&RecordedFile> {
        self.files.get(self.site(site)?.file as usize)
    }

    /// The name of a site's function.
    pub fn function_of(&self, site: SiteId) -> &str {
        let function = self.site(site).and_then(|site| self.functions.get(site.function.0 as usize));
        function.map_or("", |function| &function.name)
    }

    /// The number of a step in listings, from 1. A step that has none has that of the step before it.
    pub fn number(&self, step: StepId) -> u64 {
        let before = self.unnumbered.partition_point(|other| *other <= step.0) as u64;
        self.left_out + u64::from(step.0) + 1 - before
    }

    /// The step with this number in listings; if no step has it, the nearest one.
    pub fn by_number(&self, number: u64) -> Option<StepId> {
        let last = self.last()?;
        let (mut low, mut high) = (0, last.0);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.number(StepId(middle)) < number { low = middle + 1 } else { high = middle }
        }
        Some(StepId(low))
    }

    /// The newest time at or before a step, in nanoseconds; `None` if no step up to it carries one.
    pub fn time(&self, step: StepId) -> Option<u64> {
        let behind = self.times.partition_point(|(other, _)| *other <= step);
        behind.checked_sub(1).map(|index| self.times[index].1)
    }

    /// The values recorded behind a step.
    pub fn values_at(&self, step: StepId) -> &[ValueAt] {
        let first = self.values.partition_point(|value| value.step < step);
        let end = first + self.values[first..].partition_point(|value| value.step == step);
        &self.values[first..end]
    }

    /// The task that a step belongs to.
    pub fn task_at(&self, step: StepId) -> Option<&TaskSpan> {
        let lane = self.lane_of(step);
        let behind = self.task_spans.partition_point(|span| span.first <= step);
        // Spans of other lanes lie between.
        let near = self.task_spans[..behind].iter().rev().take(4 * self.lanes.len().max(1));
        near.filter(|span| span.lane == lane).take(1).find(|span| step <= span.last)
    }

    /// Where a view opens: at the signal that ended the program; at the first panic that was not caught, the cause of those that
    /// follow from it, of failed tests where the run names them; else at the newest step.
    pub fn opening_step(&self) -> Option<StepId> {
        let failed = self.lanes.iter().filter(|lane| self.failed_tests.contains(&lane.ring));
        let panic = failed.filter_map(RecordedLane::fatal_panic).min();
        let panic = panic.or_else(|| self.lanes.iter().filter_map(RecordedLane::fatal_panic).min());
        let is_signal = |(index, step): (usize, RecordedStep)| match step {
            RecordedStep::Event(event) => {
                let kind = self.events.get(event as usize)?.kind;
                (kind == super::event::EventKind::Signal).then_some(StepId(index as u32))
            }
            RecordedStep::Statement(_) => None,
        };
        let lane = |step: &StepId| self.lane(self.lane_of(*step));
        let mut signals = self.steps().enumerate().filter_map(is_signal);
        // A panic in a destructor ends in a signal.
        let signal = signals.find(|step| {
            lane(step).is_some_and(|lane| {
                matches!(lane.status, "killed" | "panicked") && lane.fatal_panic().is_none()
            })
        });
        signal.or(panic).or_else(|| self.last())
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::EventKind;
    use super::super::sample::RecordingSample;
    use super::*;

    #[test]
    fn steps_without_a_number_are_not_counted() {
        let mut sample = RecordingSample::default();
        sample.line(1);
        sample.event(EventKind::Repetition { statements: 1, times: 9 }, "... line 1 x 9");
        sample.line(2);
        sample.event(EventKind::Panic, "panicked here");
        sample.line(3);
        let recording = &sample.recording;
        let numbers: Vec<u64> = (0..5).map(|step| recording.number(StepId(step))).collect();
        assert_eq!(numbers, [1, 1, 2, 3, 4]);
        let found: Vec<_> = (0..6).map(|number| recording.by_number(number).unwrap().0).collect();
        assert_eq!(found, [0, 0, 2, 3, 4, 4]);
        assert_eq!(recording.opening_step(), Some(StepId(3)));
        assert_eq!(recording.site(recording.site_at(StepId(3)).unwrap()).unwrap().line, 2);
    }

    #[test]
    fn a_view_opens_at_what_ended_the_program() {
        let mut sample = RecordingSample::default();
        sample.line(1);
        sample.event(EventKind::Panic, "panicked here");
        sample.line(2);
        let opening = |sample: &RecordingSample| sample.recording.opening_step().map(|step| step.0);
        assert_eq!(opening(&sample), Some(1));
        let lane = sample.recording.lanes[0].clone();
        sample.recording.lanes.push(RecordedLane { panic: Some(StepId(0)), ..lane });
        assert_eq!(opening(&sample), Some(0), "another thread panicked before");
        (sample.recording.lanes[1].ring, sample.recording.failed_tests) = (2, vec![1]);
        assert_eq!(opening(&sample), Some(1), "that is the test that failed");
        sample.recording.lanes[1].panic = None;
        sample.recording.lanes[0].panic = None;
        assert_eq!(opening(&sample), Some(2), "it was caught");
        sample.event(EventKind::Signal, "SIGSEGV");
        sample.recording.lanes[1].panic = Some(StepId(0));
        assert_eq!(opening(&sample), Some(3), "the signal ended all threads");
    }
}
