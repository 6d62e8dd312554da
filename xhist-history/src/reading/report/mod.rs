//! What is made of the events of a source: a report, perhaps behind filters.

mod newest;
mod selected;

use std::io;

pub use newest::NewestStatements;
pub use selected::Selected;

use crate::events::Step;
use crate::events::context::Context;
use crate::model::Opening;
use crate::notes::ExitCode;

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
