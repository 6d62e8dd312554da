//! Where the session is, in words: the event of a stop, and the failure of a thread.

use super::body::{OutputBody, StoppedBody};
use super::handles::thread_id;
use super::points::PointHit;
use super::session::DapSession;
use xhist_history::recording::{EventKind, Recording, StepId};

/// A failure that was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedFailure {
    /// `panic`, `signal SIGSEGV`.
    pub name: String,
    /// What is known of it.
    pub text: String,
}

/// Why the session stopped.
#[derive(Debug)]
pub enum StopReason {
    /// A motion ended.
    Step,
    /// The user asked for it.
    Pause,
    /// The user went there.
    Goto,
    /// A call begins again.
    Restart,
    /// Nothing is behind or before this step.
    End(&'static str),
    /// The session opens.
    Opening,
    /// Breakpoints.
    Hit(PointHit),
}

/// The failure that was recorded at a step.
pub fn failure_at(recording: &Recording, step: StepId) -> Option<RecordedFailure> {
    let event =
        recording.event(step).filter(|event| matches!(event.kind, EventKind::Panic | EventKind::Signal))?;
    let text = recording.strings.get(event.text).to_owned();
    Some(RecordedFailure { name: recording.strings.get(event.name).to_owned(), text })
}

/// The newest failure of a lane up to a step.
pub fn failure_of(recording: &Recording, step: StepId) -> Option<RecordedFailure> {
    let lane = recording.lane(recording.lane_of(step))?;
    let steps = lane.steps.get(..=lane.position(step)?)?;
    steps.iter().rev().find_map(|step| failure_at(recording, *step))
}

/// A line about a step: `step 12 of 40, main: src/main.rs:7 parse: let x = 1;`.
pub fn step_text(recording: &Recording, step: StepId) -> String {
    let Some(last) = recording.last() else { return "nothing has been recorded yet".to_owned() };
    let lane = recording.lane(recording.lane_of(step)).map_or("", |lane| lane.name.as_str());
    let mut text = format!("step {} of {}, {lane}", recording.number(step), recording.number(last));
    if let Some(place) = recording.site_at(step).and_then(|site| recording.place_text(site)) {
        text.push_str(&format!(": {place}"));
    }
    if let Some(event) = recording.event(step) {
        text.push_str(&format!(" ({})", recording.strings.get(event.text)));
    }
    text
}

impl DapSession {
    /// Sends the event of a stop at the current step.
    pub(super) fn stopped(&mut self, recording: &Recording, reason: StopReason) {
        let here = failure_at(recording, self.at);
        let mut stop = match (&reason, here) {
            (StopReason::Hit(_) | StopReason::Opening | StopReason::End(_), Some(failure)) => StoppedBody {
                reason: "exception",
                description: failure.name,
                text: Some(failure.text),
                ..StoppedBody::default()
            },
            (StopReason::End("end"), None) => self.end(recording),
            (StopReason::End(_), None) => StoppedBody {
                reason: "entry",
                description: "Start of the recorded history".to_owned(),
                ..StoppedBody::default()
            },
            (StopReason::Opening, None) => StoppedBody { reason: "entry", ..StoppedBody::default() },
            (StopReason::Hit(hit), None) => StoppedBody { reason: hit.reason, ..StoppedBody::default() },
            (StopReason::Step, _) => StoppedBody { reason: "step", ..StoppedBody::default() },
            (StopReason::Pause, _) => StoppedBody { reason: "pause", ..StoppedBody::default() },
            (StopReason::Goto, _) => StoppedBody { reason: "goto", ..StoppedBody::default() },
            (StopReason::Restart, _) => StoppedBody { reason: "restart", ..StoppedBody::default() },
        };
        if stop.description.is_empty() {
            stop.description = step_text(recording, self.at);
        }
        if let StopReason::Hit(hit) = reason {
            stop.hit_breakpoint_ids = hit.ids;
        }
        stop.thread_id = (!recording.is_empty()).then(|| thread_id(recording.lane_of(self.at)));
        stop.all_threads_stopped = true;
        self.event("stopped", &stop);
    }

    /// Prints where everything was at the end, if no failure says it.
    pub(super) fn say_how_it_ended(&mut self, recording: &Recording) {
        let lines = recording.ends();
        if !self.is_complete || recording.opens_at_failure() || lines.is_empty() {
            return;
        }
        let output = format!("No failure is recorded. At the end of the history:\n{}\n", lines.join("\n"));
        self.event("output", &OutputBody { category: "console", output, source: None, line: None });
    }

    /// The end of the history: a stop with the reason why there is no more.
    fn end(&self, recording: &Recording) -> StoppedBody {
        if !self.is_complete {
            let description = "The newest entry so far; continue waits for more".to_owned();
            return StoppedBody { reason: "pause", description, ..StoppedBody::default() };
        }
        let failure = failure_of(recording, self.at)
            .or_else(|| recording.opening_step().and_then(|step| failure_at(recording, step)));
        match failure {
            Some(failure) => StoppedBody {
                reason: "exception",
                description: format!("End of the recorded history: {}", failure.name),
                text: Some(failure.text),
                ..StoppedBody::default()
            },
            None => StoppedBody {
                reason: "pause",
                description: "End of the recorded history".to_owned(),
                ..StoppedBody::default()
            },
        }
    }
}
