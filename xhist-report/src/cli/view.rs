//! The command line of `view`: the viewer in a terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;

use super::error::UsageError;
use super::history_args::HistoryArgs;
use crate::reports::report;
use crate::view::{self, ViewIndex, ViewState};
use xhist_history::ExitCode;
use xhist_history::notes::{Notes, outcome};
use xhist_history::recording::{Recording, SharedRecording};

/// Step through a history in the terminal: source, history, calls and threads.
#[derive(Clone, Debug, Args)]
pub struct ViewArgs {
    /// Open at the entry with this number, as listings count them; without it at the failure, else at the newest entry
    #[arg(long, value_name = "N", conflicts_with = "follow")]
    at: Option<u64>,

    /// Press these keys first: characters, and names such as <Tab> and <Enter>
    #[arg(long, value_name = "KEYS", default_value = "", hide_default_value = true)]
    keys: String,

    /// Print the screen as plain text and end; needs no terminal
    #[arg(long)]
    print: bool,

    /// Columns of the printed screen
    #[arg(long, value_name = "N", default_value_t = 80, value_parser = clap::value_parser!(u16).range(10..=1000), requires = "print")]
    width: u16,

    /// Rows of the printed screen
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u16).range(3..=1000), requires = "print")]
    height: u16,

    #[command(flatten)]
    history: HistoryArgs,
}

/// Carries out the command.
///
/// # Errors
/// What cannot be opened.
pub(super) fn run(args: &ViewArgs, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
    if !args.print {
        view::check()?;
    }
    let shared = SharedRecording::default();
    let (opened, options) = args.history.open(&shared, notes)?;
    let keys = view::parse_keys(&args.keys);
    let open = |recording: &Recording, size| {
        let at = args.at.and_then(|number| recording.by_number(number));
        ViewState::opened(recording, at, size)
    };
    if options.read.follow.is_none() || args.print {
        let code = report(&opened.image, &options, &mut std::io::sink(), notes);
        if shared.lock().is_empty() {
            return Ok(code);
        }
        if args.print {
            let recording = shared.lock();
            let mut index = ViewIndex::default();
            index.extend(&recording);
            let mut state = open(&recording, (args.width, args.height));
            keys.iter().for_each(|key| drop(state.press(key, &recording, &index)));
            let printed = view::print(&recording, &index, &state, &mut std::io::stdout().lock());
            return Ok(outcome(printed, notes).max(code));
        }
        view::run(&shared, &keys, open, &AtomicBool::new(false))?;
        return Ok(code);
    }
    let is_growing = Arc::new(AtomicBool::new(true));
    let recorder = {
        let is_growing = Arc::clone(&is_growing);
        std::thread::spawn(move || {
            let mut said = Vec::new();
            let code = report(&opened.image, &options, &mut std::io::sink(), &mut Notes::new(&mut said));
            is_growing.store(false, Ordering::Release);
            (code, said)
        })
    };
    view::run(&shared, &keys, open, &is_growing)?;
    // A program that still records goes on; only the view of it ends.
    match recorder.is_finished().then(|| recorder.join()) {
        Some(Ok((code, said))) => {
            notes.passed_on(&said);
            Ok(code)
        }
        _ => Ok(ExitCode::Complete),
    }
}
