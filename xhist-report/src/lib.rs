//! Finds xhist rings in memory dumps, cores and ring files, and reports the history in them.
//!
//! `source` (bytes from anywhere, no protocol) and `decode` (protocol, no I/O) meet only in `session`;
//! `model` is what both sides speak of, `format` sees nothing but the model. The binary adds
//! arguments and a terminal.

pub mod args;
mod console;
mod cover;
mod decode;
mod exit_code;
mod fit;
mod follow;
pub mod format;
mod hot;
mod how_to_dump;
mod identify;
mod map;
pub mod model;
mod options;
mod order;
pub mod qs;
mod qs_args;
mod qspy;
mod session;
pub mod source;
mod source_text;
mod stream;
mod telling;

use std::io::Write;

pub use exit_code::ExitCode;
pub use options::{Layout, MapPlaces, Options};
pub use qspy::{DictionaryFile, QsOptions};

/// Reports on the rings in `image`: entries to `out`, notes and losses to `notes`.
///
/// Any bytes are fine: what cannot be read is told in `notes` and in the exit code.
///
/// ```
/// let (mut out, mut notes) = (Vec::new(), Vec::new());
/// let code = xhist_report::report(b"no ring here", &Default::default(), &mut out, &mut notes);
/// assert_eq!(code, xhist_report::ExitCode::NothingFound);
/// ```
pub fn report(image: &[u8], options: &Options, out: &mut dyn Write, notes: &mut dyn Write) -> ExitCode {
    let notes = &mut console::Notes::new(notes);
    match &options.live {
        Some(file) if options.follow => follow::run(file, options, out, notes),
        _ => session::run(image, options, out, notes),
    }
}

/// Runs the program with these arguments, on the process's own standard streams.
pub fn run(args: &args::Args) -> ExitCode {
    let mut stderr = anstream::stderr();
    if let Some(elf) = &args.how_to_dump {
        return match how_to_dump::commands(elf) {
            Ok(commands) => {
                print!("{commands}");
                ExitCode::Complete
            }
            Err(message) => {
                console::Notes::new(&mut stderr).error(format_args!("{message}"));
                ExitCode::Usage
            }
        };
    }
    match args.open() {
        Err(message) => {
            console::Notes::new(&mut stderr).error(format_args!("{message}"));
            ExitCode::Usage
        }
        Ok((opened, note)) => {
            if let Some(note) = note {
                console::Notes::new(&mut stderr).note(format_args!("{note}"));
            }
            let options = match args.options(&opened) {
                Ok(options) => options,
                Err(message) => {
                    console::Notes::new(&mut stderr).error(format_args!("{message}"));
                    return ExitCode::Usage;
                }
            };
            // Without a terminal nothing may touch the bytes; with one, NO_COLOR and the like decide. QSPY's colours
            // have been decided on already.
            let styled = options.layout.terminal || options.layout.lanes;
            match styled && options.format.about != format::About::Stream {
                true => {
                    report(&opened.image, &options, &mut buffered(anstream::stdout().lock()), &mut stderr)
                }
                false => {
                    report(&opened.image, &options, &mut buffered(std::io::stdout().lock()), &mut stderr)
                }
            }
        }
    }
}

fn buffered<W: Write>(out: W) -> std::io::BufWriter<W> {
    std::io::BufWriter::with_capacity(256 << 10, out)
}
