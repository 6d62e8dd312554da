//! What is made of events. A new report is a file here and a row of [`REPORTS`](table::REPORTS).

mod answer;
mod builds;
mod calls;
mod coverage;
mod document;
mod folder;
mod history;
mod hotspots;
mod lock_waits;
mod newest;
mod order;
mod qspy;
mod recording;
mod selected;
pub mod table;
mod tasks;

use std::io;

pub use answer::AnswerReport;
pub use builds::Builds;
pub use calls::Calls;
pub use coverage::Coverage;
pub use document::RecordingDocument;
pub use history::EntryWriter;
pub use hotspots::Hotspots;
pub use order::Order;
pub use qspy::{PrintedElsewhere, QspyLines};
pub use recording::RecordingReport;
pub use selected::Selected;
pub use tasks::Tasks;

use crate::context::Context;
use crate::events::Step;
use crate::exit_code::ExitCode;
use crate::model::Opening;

/// Takes the steps of a source, oldest first.
pub trait Report {
    /// Whether the report needs every statement, and applies `--only` and `--not` itself.
    fn chooses_places(&self) -> bool {
        false
    }

    /// Before the first step.
    ///
    /// # Errors
    /// Those of the output.
    fn start(&mut self, opening: &Opening<'_>, context: &mut Context<'_, '_>) -> io::Result<()> {
        let _ = (opening, context);
        Ok(())
    }

    /// Takes the next step.
    ///
    /// # Errors
    /// Those of the output.
    fn step(&mut self, step: Step<'_>, context: &mut Context<'_, '_>) -> io::Result<()>;

    /// Behind the last step.
    ///
    /// # Errors
    /// Those of the output.
    fn finish(&mut self, context: &mut Context<'_, '_>) -> io::Result<Summary>;
}

/// The result of a report.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// What the losses and errors so far mean.
    pub code: ExitCode,
    /// Entries that were read, shown or not.
    pub entries: u64,
}
