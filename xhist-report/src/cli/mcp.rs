//! The command line of `mcp`: a server for agents.

use std::io::{BufReader, stdin, stdout};
use std::sync::Arc;

use clap::Args;

use super::error::UsageError;
use crate::mcp::{self, Program, Requests};
use xhist_history::ExitCode;
use xhist_history::notes::typed;
use xhist_history::notes::{Notes, outcome};

const AFTER_HELP: &str = "\
An agent starts this program in the project; docs/agents.md has the set-up. Its tools are commands of this program:
xhist_run (`test`), xhist_frame, xhist_find, xhist_source, xhist_compare. It runs nothing else, and reads no file outside of
the project.";

/// Server of the Model Context Protocol on standard input and output, for agents.
#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct McpArgs {}

impl McpArgs {
    /// Answers requests until the input ends.
    ///
    /// # Errors
    /// This program does not know where it is.
    pub(super) fn run(self, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
        let path = std::env::current_exe().map_err(UsageError::WorkDir)?;
        let before = if typed::is_cargo() { vec!["xhist".to_owned()] } else { Vec::new() };
        let requests = Arc::new(Requests::default());
        let program = Program { path, before, requests: Arc::clone(&requests) };
        let served =
            mcp::serve(BufReader::new(stdin()), stdout(), &requests, &mut |words| program.run(words));
        Ok(outcome(served, notes))
    }
}
