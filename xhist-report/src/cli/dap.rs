//! The command line of `dap`: the debug adapter.

use clap::Args;

use super::error::UsageError;
use super::history_args::HistoryArgs;
use crate::console::Notes;
use crate::exit_code::ExitCode;
use crate::recording::SharedRecording;
use crate::run::report;

/// Debug adapter on standard input and output: an editor steps through a history.
#[derive(Clone, Debug, Args)]
pub struct DapArgs {
    #[command(flatten)]
    history: HistoryArgs,
}

/// Carries out the command.
///
/// # Errors
/// What cannot be opened.
pub(super) fn run(args: &DapArgs, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
    let recording = SharedRecording::default();
    let (opened, options) = args.history.open(&recording, notes)?;
    Ok(report(&opened.image, &options, &mut std::io::sink(), notes))
}
