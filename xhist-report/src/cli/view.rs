//! The command line of `view`: the viewer in a terminal.

use clap::Args;

use super::error::UsageError;
use super::history_args::HistoryArgs;
use crate::console::Notes;
use crate::exit_code::ExitCode;
use crate::recording::SharedRecording;
use crate::run::report;

/// Step through a history in the terminal: source, history, calls and threads.
#[derive(Clone, Debug, Args)]
pub struct ViewArgs {
    #[command(flatten)]
    history: HistoryArgs,
}

/// Carries out the command.
///
/// # Errors
/// What cannot be opened.
pub(super) fn run(args: &ViewArgs, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
    let recording = SharedRecording::default();
    let (opened, options) = args.history.open(&recording, notes)?;
    Ok(report(&opened.image, &options, &mut std::io::sink(), notes))
}
