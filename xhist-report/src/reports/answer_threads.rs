//! Threads of an answer: which are shown, and in which order.

use xhist_history::answer::{Ending, ListedStatement, Tail, ThreadEnd};
use xhist_history::model::Ring;

/// The rank of a ring whose thread panicked.
pub(super) const PANICKED: u32 = 1;

/// The rank of a thread without a failure that had not ended.
const OPEN: u32 = 3;
/// Threads ran at the same time that are apart by less than one in this many parts of a second. Their order is chance.
const SAME_MOMENT: u32 = 200;

/// The end of a thread.
pub(super) struct ShownThread {
    pub(super) ring: Ring,
    pub(super) tail: Tail,
    pub(super) ending: Ending,
    /// The panics that it caught: how many, and the statement of the newest one.
    pub(super) caught: Option<(usize, ListedStatement)>,
}

impl ShownThread {
    /// Whether a panic or a signal ended it.
    pub(super) fn has_failed(&self) -> bool {
        self.ending.end != ThreadEnd::Here
    }
}

/// What is shown first: what ended the process, what a panic ended, `main`, then the others that were there at the end.
pub(super) fn rank(thread: &ShownThread) -> u32 {
    match thread.ending.end {
        ThreadEnd::Signal(_) => 0,
        ThreadEnd::Panic if thread.ending.has_aborted() => 0,
        ThreadEnd::Panic => 1,
        ThreadEnd::Here if is_main(&thread.ring) => 2,
        // A thread that caught a panic may have passed on that something failed.
        ThreadEnd::Here if thread.ring.status == "ended" && thread.caught.is_none() => 4,
        ThreadEnd::Here => OPEN,
    }
}

/// The same before the history is known: by what the ring says.
pub(super) fn rank_of(ring: &Ring) -> u32 {
    match ring.status {
        "killed" => 0,
        "panicked" => PANICKED,
        _ if is_main(ring) => 2,
        "ended" => 4,
        _ => OPEN,
    }
}

/// When the newest of the threads ran that had not ended: a thread that the system killed, for a fault, is among the newest.
pub(super) fn newest_time(rings: &[Ring]) -> u64 {
    rings.iter().filter(|ring| rank_of(ring) == OPEN).map(|ring| ring.last_time).max().unwrap_or_default()
}

/// Whether an open thread did not run at that time any more.
pub(super) fn ran_earlier(ring: &Ring, rank: u32, newest: u64) -> bool {
    let moment = u64::from(ring.clock_hz / SAME_MOMENT);
    rank == OPEN && moment > 0 && newest.saturating_sub(ring.last_time) > moment
}

pub(super) fn is_main(ring: &Ring) -> bool {
    ring.tid != 0 && ring.tid == ring.pid
}
