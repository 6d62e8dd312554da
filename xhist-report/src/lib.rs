#![doc = include_str!("../README.md")]
//!
//! ## Inside
//!
//! Sources of events ([`source`] opens their bytes, `ring` and `events` decode them) x reports (`reports`, in the look of a
//! [`mod@format`]). `run` is the only loop between them. [`qs_host`] is the host side of QS. [`cli`] adds a command line.

#![deny(unsafe_code)]

mod answer;
pub mod calls;
pub mod cli;
mod console;
mod context;
mod dap;
mod diff;
mod dumps;
mod events;
mod exit_code;
pub mod format;
mod github;
mod how_to_dump;
mod interrupt;
mod live;
mod map;
pub mod model;
mod options;
mod order;
mod pager;
mod plain_source;
mod qs_args;
pub mod qs_host;
mod read_options;
mod reading;
pub mod recording;
mod reports;
mod ring;
mod run;
pub mod run_record;
mod runs;
mod selection;
mod send;
pub mod source;
mod source_drift;
mod source_text;
mod suspects;
mod tasks;
pub mod trace;
mod trace_args;
mod typed;
pub mod types;
mod values;
mod view;

use std::io::Write;

pub use dumps::{Dump, DumpReader, RanStatement};
pub use exit_code::ExitCode;
pub use format::Layout;
pub use how_to_dump::{quoted, shown_path};
pub use options::Options;
pub use qs_host::qspy::{DictionaryFile, QsOptions};
pub use read_options::{EntryChoice, MapPlaces, ProgramPlaces, ReadOptions};
pub use typed::{CargoCommands, use_cargo};

/// Reports on the rings in `image`: entries to `out`, notes and losses to `notes`.
///
/// Any bytes are fine: what cannot be read is reported in `notes` and in the exit code.
///
/// ```
/// let (mut out, mut notes) = (Vec::new(), Vec::new());
/// let code = xhist_report::report(b"no ring here", &Default::default(), &mut out, &mut notes);
/// assert_eq!(code, xhist_report::ExitCode::NothingFound);
/// ```
pub fn report(image: &[u8], options: &Options, out: &mut dyn Write, notes: &mut dyn Write) -> ExitCode {
    run::report(image, options, out, &mut console::Notes::new(notes))
}

/// Answers messages of the Debug Adapter Protocol about a recording, as `xhist-report dap` does. Any bytes are fine: a message that
/// cannot be read ends the conversation.
pub fn debug(recording: &recording::SharedRecording, messages: &[u8]) -> Vec<serde_json::Value> {
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
    diff::run(&good, &bad, diff::DiffLook::default(), out, &mut console::Notes::new(notes))
}
