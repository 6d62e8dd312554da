//! What a format receives: entries and totals.

use xhist_history::model::{DescribedTrace, Place, Record, Repetition, Ring, ShownValue, Trace};

/// One entry of the history, named and numbered.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Number from 1, oldest first; of a repetition, that of the entry before it.
    pub number: u64,
    /// The ring it was recorded in.
    pub ring: &'a Ring,
    /// The clock in full, in ticks of the ring.
    pub time: Option<u64>,
    /// Its place among the entries of other rings is not certain.
    pub uncertain: bool,
    /// The number of the interrupt that a statement ran in; 0 for none, or if not known.
    pub interrupt: u16,
    /// The async task that it belongs to: its number and its function. `None` if the report does not follow tasks.
    pub task: Option<(u32, &'a str)>,
    /// What happened.
    pub subject: Subject<'a>,
    /// Values that were recorded behind it.
    pub values: &'a [ShownValue],
}

impl Entry<'_> {
    /// Its number, if it has one of its own.
    pub fn own_number(&self) -> Option<u64> {
        let has_none = matches!(self.subject, Subject::Again(_) | Subject::Values | Subject::Output(..));
        (!has_none).then_some(self.number)
    }

    /// Its thread, or the interrupt of its ring.
    pub fn thread(&self) -> String {
        self.ring.lane(self.interrupt)
    }
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// A statement was about to run. With its source text, if wanted and found.
    Statement(Place<'a>, Option<&'a str>),
    /// Values behind an entry that is not here, or was given before they came. They have no number of their own.
    Values,
    /// The statements before this ran again. It has no number of its own.
    Again(&'a Repetition),
    /// The thread panicked.
    Panic(&'a Record),
    /// A fatal signal arrived.
    Signal(u64, &'a Record),
    /// What was printed, and the line of the macro, 0 without one. It has no number of its own.
    Output(&'a DescribedTrace, u32),
    /// A trace event and its description.
    Trace(&'a Trace, &'a DescribedTrace),
    /// Another QS record.
    Record(&'a Record),
}

/// Given once, behind the last entry.
#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// Entries reported.
    pub entries: u64,
    /// Whether nothing was lost, damaged or nameless by a wrong map.
    pub complete: bool,
}
