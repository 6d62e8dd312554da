//! `--budget BYTES`: the one rule by which a report is made to fit. What matters least is left out, an entry at a time. Markers
//! say where and how much, and the last line says how to get all of it.
//!
//! A report says what each of its entries weighs; [`KeptEntries`] keeps the heaviest.

mod document;
mod kept;
mod lines;
mod weight;

pub use document::cut_document;
pub use kept::KeptEntries;
pub use lines::BudgetedLines;
pub use weight::Weight;

/// The fewest bytes that make sense: the first and the last line may need most of them.
pub const FEWEST_BYTES: usize = 1 << 10;

/// How long a report may be, and the command that prints all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes of the whole report at most.
    pub bytes: usize,
    /// The same command without the budget.
    pub command: String,
}

impl Budget {
    /// A part of it, for one of several reports of a command.
    #[must_use]
    pub fn shared_by(&self, reports: usize) -> Budget {
        Budget { bytes: self.bytes / reports.max(1), command: self.command.clone() }
    }
}
