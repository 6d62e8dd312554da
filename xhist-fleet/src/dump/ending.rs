//! How the program of a dump ended.

use xhist_history::model::Ring;
use xhist_history::recording::{EventKind, RecordedStep, Recording};

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// In words.
    pub text: String,
    /// Whether it failed; `None` if the dump does not say.
    pub has_failed: Option<bool>,
    /// How it failed.
    pub kind: FailureKind,
}

/// How a program failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// A thread panicked.
    Panic,
    /// A signal ended it.
    Signal,
    /// It was still running, or was killed from outside, or the device was reset.
    Stopped,
    /// It did not fail.
    NoFailure,
}

impl Ending {
    /// By the states of its rings, the first of which is that of the main thread.
    pub fn of(recording: &Recording, rings: &[Ring]) -> Ending {
        let has = |status: &str| rings.iter().any(|ring| ring.status == status);
        let ending = |text: &str, has_failed, kind| Ending { text: text.to_owned(), has_failed, kind };
        if let Some(signal) = signal(recording).filter(|_| has("killed")) {
            return ending(&signal, Some(true), FailureKind::Signal);
        }
        // A program goes on after a panic that it catches.
        let is_caught = |ring: &Ring| {
            let mut lanes = recording.lanes.iter().filter(|lane| lane.interrupt == 0);
            lanes.any(|lane| lane.ring == ring.number && !lane.is_panicking)
        };
        let has_panicked = rings.iter().any(|ring| ring.status == "panicked" && !is_caught(ring));
        let has_left = has("exited") || rings.first().is_some_and(|ring| ring.status == "ended");
        match () {
            () if has_panicked => ending("panicked", Some(true), FailureKind::Panic),
            () if has("killed") => ending("killed", Some(true), FailureKind::Signal),
            () if rings.is_empty() => ending("stream", None, FailureKind::NoFailure),
            () if has_left => ending("exited", Some(false), FailureKind::NoFailure),
            () if has("before the reset") => ending("reset", Some(true), FailureKind::Stopped),
            () => ending("running or killed", Some(true), FailureKind::Stopped),
        }
    }
}

/// The name of the fatal signal.
fn signal(recording: &Recording) -> Option<String> {
    let event = recording.steps().filter_map(|step| match step {
        RecordedStep::Event(event) => recording.events.get(event as usize),
        RecordedStep::Statement(_) => None,
    });
    let signal = event.filter(|event| event.kind == EventKind::Signal).last()?;
    Some(recording.strings.get(signal.name).to_owned())
}
