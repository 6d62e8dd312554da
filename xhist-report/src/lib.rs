#![doc = include_str!("../README.md")]
//!
//! ## Inside
//!
//! [`xhist_history`] reads sources to events. `reports` are made of them, in the look of a [`mod@format`]. Other rooms ask a whole
//! recording: `query`, `causes`, and `view` and `dap` to step through it. `live` and `qspy` are for targets that run. [`cli`] adds a
//! command line.

#![deny(unsafe_code)]

mod budget;
mod causes;
pub mod cli;
mod dap;
pub mod format;
mod interrupt;
mod live;
mod mcp;
mod options;
mod pack;
mod qspy;
mod query;
mod reports;
mod view;

use std::io::Write;

use causes::diff;
use xhist_history::notes::Notes;
use xhist_history::recording::SharedRecording;
use xhist_history::{ExitCode, ReadOptions};

pub use format::Layout;
pub use format::ReportKind;
pub use options::Options;
pub use qspy::{DictionaryFile, QsOptions};

/// Reports on the rings in `image`: entries to `out`, notes and losses to `notes`.
///
/// Any bytes are fine: what cannot be read is reported in `notes` and in the exit code.
///
/// ```
/// let (mut out, mut notes) = (Vec::new(), Vec::new());
/// let code = xhist_report::report(b"no ring here", &Default::default(), &mut out, &mut notes);
/// assert_eq!(code, xhist_history::ExitCode::NothingFound);
/// ```
pub fn report(image: &[u8], options: &Options, out: &mut dyn Write, notes: &mut dyn Write) -> ExitCode {
    reports::report(image, options, out, &mut Notes::new(notes))
}

/// Answers messages of the Debug Adapter Protocol about a recording, as `xhist-report dap` does. Any bytes are fine: a message that
/// cannot be read ends the conversation.
pub fn debug(recording: &SharedRecording, messages: &[u8]) -> Vec<serde_json::Value> {
    dap::converse(recording, messages)
}

/// Compares two images as `xhist-report diff` does: the answer to `out`, notes and losses to `notes`. Any bytes are fine.
pub fn compare(
    good: &[u8],
    bad: &[u8],
    options: &ReadOptions,
    out: &mut dyn Write,
    notes: &mut dyn Write,
) -> ExitCode {
    let input = |side: diff::Side, image| diff::Input {
        side,
        label: side.name().to_owned(),
        image,
        options,
        threads: diff::ThreadChoice::All,
    };
    let (good, bad) = (input(diff::Side::Good, good), input(diff::Side::Bad, bad));
    diff::run(&good, &bad, diff::DiffLook::default(), out, &mut Notes::new(notes))
}
