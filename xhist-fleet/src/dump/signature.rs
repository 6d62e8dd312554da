//! Which failure a dump shows: a signature that is the same for the same bug, in each build and on each device.
//!
//! A signature has no lines, no addresses and no depths. A crash is identified by its kind, the failing statement and its
//! function. Functions that only report a failure, such as `fail` or `on_assert`, do not identify one: their caller does.
//! Callers beyond that are not part of it, because a small ring has lost them. A program that was stopped in a loop is
//! identified by the function that loops; one that waits, by the statements that its threads wait in.

use std::collections::BTreeSet;

use xhist_history::recording::{
    EventKind, LaneId, RecordedLane, RecordedStep, Recording, SiteId, StackFrame, StepId,
};

use super::ending::{Ending, FailureKind};
use super::identity::{hash, plain_path};

/// Parts of names of functions that report a failure.
const REPORTING: [&str; 12] = [
    "panic",
    "assert",
    "abort",
    "fatal",
    "unwrap",
    "expect",
    "unreachable",
    "on_error",
    "bail",
    "fail",
    "die",
    "fmt",
];
/// Calls that `stack` names.
const FRAMES: usize = 16;
/// Steps at the end of a thread that are searched for a loop.
const TAIL: usize = 4096;
/// How often a statement runs in the tail of a thread that loops.
const TURNS: u64 = 3;
/// Threads whose ends are part of a signature.
const THREADS: usize = 8;

/// A failure that can be compared with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The same for the same bug.
    pub hash: u64,
    /// In words.
    pub title: String,
    /// The open calls, the innermost first, without repetitions.
    pub stack: String,
    /// The failing statement.
    pub site: Option<SiteId>,
    /// Its thread.
    pub lane: Option<LaneId>,
}

impl Signature {
    /// The signature of a failed program; `None` if it did not fail.
    pub fn of(recording: &Recording, ending: &Ending) -> Option<Signature> {
        match ending.kind {
            FailureKind::NoFailure => None,
            FailureKind::Stopped => Some(stopped(recording, &ending.text)),
            FailureKind::Panic | FailureKind::Signal => Some(crashed(recording, ending)),
        }
    }
}

/// The end of one thread.
struct ThreadEnd {
    /// `panic in f`.
    title: String,
    /// What identifies it.
    key: Vec<String>,
    site: Option<SiteId>,
    frames: Vec<StackFrame>,
    lane: LaneId,
}

fn crashed(recording: &Recording, ending: &Ending) -> Signature {
    let kind = match ending.kind {
        FailureKind::Panic => "panic",
        _ => ending.text.as_str(),
    };
    let Some(step) = recording.opening_step() else { return unknown(kind) };
    let frames = recording.failing_stack(step);
    let is_last = |index: usize| index + 1 == frames.len();
    let reporting = frames
        .iter()
        .enumerate()
        .take_while(|(index, frame)| !is_last(*index) && is_reporting(function(recording, frame)))
        .count();
    let Some(frame) = frames.get(reporting) else { return unknown(kind) };
    let name = function(recording, frame);
    let mut key: Vec<String> =
        frames[..reporting].iter().map(|frame| function(recording, frame).to_owned()).collect();
    key.extend(statement_key(recording, frame));
    let end = ThreadEnd {
        title: format!("{kind} in {name}"),
        key,
        site: frame.site,
        lane: recording.lane_of(step),
        frames,
    };
    signature(recording, kind, vec![end])
}

fn stopped(recording: &Recording, kind: &str) -> Signature {
    let is_open = |lane: &RecordedLane| !matches!(lane.status, "ended" | "exited");
    let lanes = recording.lanes.iter().enumerate().filter(|(_, lane)| is_open(lane));
    let ends: Vec<ThreadEnd> =
        lanes.filter_map(|(index, _)| thread_end(recording, LaneId(index as u32))).take(THREADS).collect();
    if ends.is_empty() { unknown(kind) } else { signature(recording, kind, ends) }
}

/// One signature for the ends of some threads.
fn signature(recording: &Recording, kind: &str, ends: Vec<ThreadEnd>) -> Signature {
    // How many threads wait at one place, and in which order they started, does not matter.
    let keys: BTreeSet<&Vec<String>> = ends.iter().map(|end| &end.key).collect();
    let mut parts = vec![kind];
    for key in &keys {
        parts.extend(key.iter().map(String::as_str));
        parts.push("|");
    }
    let hash = hash(&parts);
    let titles: BTreeSet<&str> = ends.iter().map(|end| end.title.as_str()).collect();
    let title = titles.into_iter().collect::<Vec<_>>().join(", ");
    // A thread that loops says more than one that waits for it.
    let shown = ends.iter().find(|end| end.title.starts_with("loop")).or(ends.first());
    let (site, lane) = (shown.and_then(|end| end.site), shown.map(|end| end.lane));
    let stack = shown.map_or_else(String::new, |end| stack(recording, &end.frames));
    Signature { hash, title, stack, site, lane }
}

/// A failure of which no statement is known.
fn unknown(kind: &str) -> Signature {
    let title = format!("{kind}, no statement known");
    Signature { hash: hash(&[kind]), title, stack: String::new(), site: None, lane: None }
}

/// Where a thread was stopped: in a loop, or at a statement.
fn thread_end(recording: &Recording, id: LaneId) -> Option<ThreadEnd> {
    let last = *recording.lane(id)?.steps.last()?;
    let frames = recording.stack_at(last);
    let newest = frames.first()?;
    let looping = loop_start(recording, id).and_then(|start| {
        // The innermost call that goes on for all turns.
        let has_begun = |frame: &&StackFrame| {
            frame.call.and_then(|call| recording.call(call)).is_none_or(|call| call.first <= start)
        };
        frames.iter().find(has_begun)
    });
    Some(match looping {
        Some(frame) => {
            let name = function(recording, frame).to_owned();
            let path = frame.site.and_then(|site| recording.file_of(site)).map(|file| plain_path(&file.path));
            ThreadEnd {
                title: format!("loop in {name}"),
                key: vec!["loop".to_owned(), path.unwrap_or_default(), name],
                site: frame.site,
                lane: id,
                frames,
            }
        }
        None => ThreadEnd {
            title: format!("stopped in {}", function(recording, newest)),
            key: statement_key(recording, newest),
            site: newest.site,
            lane: id,
            frames,
        },
    })
}

/// The step from which on the last statement of a thread ran at least [`TURNS`] times; `None` if it did not.
fn loop_start(recording: &Recording, id: LaneId) -> Option<StepId> {
    let lane = recording.lane(id)?;
    let site = recording.site_at(*lane.steps.last()?)?;
    // The next statements, counted back, that a repetition ran more often.
    let (mut repeated, mut more, mut turns) = (0u64, 0u64, 0u64);
    for step in lane.steps.iter().rev().take(TAIL) {
        match recording.step(*step)? {
            RecordedStep::Statement(other) => {
                if other == site {
                    turns += 1 + if repeated > 0 { more } else { 0 };
                }
                repeated = repeated.saturating_sub(1);
                if turns >= TURNS && repeated == 0 {
                    return Some(*step);
                }
            }
            RecordedStep::Event(event) => {
                if let Some(EventKind::Repetition { statements, times }) =
                    recording.events.get(event as usize).map(|event| event.kind)
                {
                    (repeated, more) = (statements, times);
                }
            }
        }
    }
    None
}

fn function<'r>(recording: &'r Recording, frame: &StackFrame) -> &'r str {
    recording.functions.get(frame.function.0 as usize).map_or("", |function| &function.name)
}

/// Whether a function only reports failures, by its name.
fn is_reporting(function: &str) -> bool {
    let own = function.rsplit("::").find(|part| !part.starts_with('{')).unwrap_or(function);
    own.to_ascii_lowercase().split('_').any(|word| REPORTING.contains(&word)) || own == "on_error"
}

/// What identifies the statement of a call.
fn statement_key(recording: &Recording, frame: &StackFrame) -> Vec<String> {
    let Some((id, site)) = frame.site.and_then(|id| Some((id, recording.site(id)?))) else {
        return Vec::new();
    };
    let path = recording.file_of(id).map_or_else(String::new, |file| plain_path(&file.path));
    let text = if site.text == 0 { format!("line {}", site.line) } else { site.text.to_string() };
    vec![path, function(recording, frame).to_owned(), text]
}

/// The functions of a stack, without direct and mutual recursion.
fn stack(recording: &Recording, frames: &[StackFrame]) -> String {
    let names: Vec<&str> = frames.iter().map(|frame| function(recording, frame)).collect();
    folded(&names).into_iter().take(FRAMES).collect::<Vec<_>>().join(" < ")
}

/// Each run of equal pieces once.
fn folded<'t>(names: &[&'t str]) -> Vec<&'t str> {
    let mut kept: Vec<&str> = Vec::new();
    for name in names {
        kept.push(name);
        let longest = (kept.len() / 2).min(4);
        let repeats = |length: &usize| {
            let (before, last) = kept.split_at(kept.len() - length);
            before.ends_with(last)
        };
        if let Some(length) = (1..=longest).find(repeats) {
            kept.truncate(kept.len() - length);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recursion_has_no_depth() {
        assert_eq!(folded(&["a", "f", "f", "f", "main"]), ["a", "f", "main"]);
        assert_eq!(folded(&["x", "f", "g", "f", "g", "main"]), ["x", "f", "g", "main"]);
        assert_eq!(folded(&[]), [""; 0]);
    }

    #[test]
    fn functions_that_report_are_known_by_a_word_of_their_name() {
        let names = ["fail", "q_on_assert", "Checker::assert_ready", "fmt::panic_at::{closure}", "A::fmt"];
        assert!(names.iter().all(|name| is_reporting(name)));
        assert!(!["failure_rate", "format", "parse", ""].iter().any(|name| is_reporting(name)));
    }
}
