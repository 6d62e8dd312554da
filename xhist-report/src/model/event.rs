//! What formats are given: an opening, entries, gaps, totals. It must not know how they look.

use super::{Place, Record, Ring};

/// Told once, before the first entry.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// The rings of this report.
    pub rings: &'a [Ring],
    /// Entries that will follow.
    pub entries: u64,
}

/// One entry of the history, named and numbered.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Number from 1, oldest first.
    pub number: u64,
    /// The ring it was recorded in.
    pub ring: &'a Ring,
    /// The clock in full, in ticks of the ring.
    pub time: Option<u64>,
    /// What happened.
    pub subject: Subject<'a>,
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// A statement was about to run; with its source text, where that was asked for and found.
    Statement(Place<'a>, Option<&'a str>),
    /// The thread panicked.
    Panic(&'a Record),
    /// A fatal signal arrived.
    Signal(u64, &'a Record),
    /// Another QS record.
    Record(&'a Record),
}

/// Told once, behind the last entry.
#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// Entries reported.
    pub entries: u64,
    /// Whether nothing was lost, damaged or nameless by a wrong map.
    pub complete: bool,
}
