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
pub mod front_end;
mod hot;
mod how_to_dump;
mod identify;
mod interrupt;
mod live;
pub mod log;
mod map;
pub mod model;
mod options;
mod order;
mod plain_source;
pub mod qs;
mod qs_args;
mod qspy;
mod runs;
mod send;
mod session;
pub mod source;
mod source_text;
mod stream;
mod target;
mod telling;
pub mod trace;
mod trace_args;

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
    report_with(image, options, out, &mut console::Notes::new(notes))
}

/// The same, when something may have been told already.
fn report_with(
    image: &[u8],
    options: &Options,
    out: &mut dyn Write,
    notes: &mut console::Notes<'_>,
) -> ExitCode {
    options.trace.tell(notes);
    match (&options.live, &options.follow) {
        (Some(file), Some(path)) => follow::run(file, path, options, out, notes),
        _ => session::run(image, options, out, notes),
    }
}

/// Runs the program with these arguments, on the process's own standard streams.
pub fn run(args: &args::Args) -> ExitCode {
    let mut stderr = anstream::stderr();
    let notes = &mut console::Notes::new(&mut stderr);
    let args = &args.clone().with_stdin(notes);
    let done = match args.command() {
        Some(args::Command::Send(send)) => Ok(send::run(send, &mut std::io::stdout().lock(), notes)),
        None if args.is_live() => run_live(args, notes),
        None if args.gdb_script => Ok(print(how_to_dump::GDB_SCRIPT, notes)),
        None => match &args.how_to_dump {
            Some(elf) => how_to_dump::commands(elf).map(|commands| print(&commands, notes)),
            None => {
                args.check_files().and_then(|()| args.open_log()).map(|mut log| run_files(args, &mut log))
            }
        },
    };
    done.unwrap_or_else(|message| {
        notes.error(format_args!("{message}"));
        ExitCode::Usage
    })
}

/// Prints a text, whole.
fn print(text: &str, notes: &mut console::Notes<'_>) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    session::outcome(written, notes)
}

fn run_live(args: &args::Args, notes: &mut console::Notes<'_>) -> Result<ExitCode, String> {
    let options = args.options(None)?;
    let setup = args.open_live(notes)?;
    let mut log = args.open_log()?;
    options.trace.tell(notes);
    Ok(to_output(&options, &mut log, |out| live::run(setup, &options, out, notes)))
}

/// One report after another, the worst exit code of all.
fn run_files(args: &args::Args, log: &mut Option<log::Log>) -> ExitCode {
    match args.sources() {
        [] => run_file(args, None, None, log),
        [source] => run_file(args, Some(source), None, log),
        sources => {
            let codes = sources.iter().enumerate();
            let codes = codes.map(|(place, source)| run_file(args, Some(source), Some(place), log));
            codes.max().unwrap_or_default()
        }
    }
}

/// `place` is the source's among several.
fn run_file(
    args: &args::Args,
    source: Option<&std::ffi::OsString>,
    place: Option<usize>,
    log: &mut Option<log::Log>,
) -> ExitCode {
    let mut stderr = anstream::stderr();
    let notes = &mut console::Notes::new(&mut stderr);
    let opened = args.open(source).and_then(|(opened, said)| {
        said.iter().for_each(|note| notes.note(format_args!("{note}")));
        let options = args.options(Some(&opened))?;
        Ok((opened, options))
    });
    match opened {
        Err(message) => {
            notes.error(format_args!("{message}"));
            ExitCode::Usage
        }
        Ok((opened, mut options)) => {
            if let (Some(source), Some(place)) = (source, place) {
                let name = model::visible(&source.to_string_lossy()).into_owned();
                if place > 0 && options.qs.beside().next().is_some() {
                    notes.note(format_args!("{name}: the files asked for hold the first source only"));
                    options.qs = options.qs.of_another();
                }
                options.origin = Some(name);
            }
            let of = options.origin.as_ref().map_or(String::new(), |origin| format!("{origin}: "));
            opened.losses.iter().for_each(|loss| notes.loss(format_args!("{of}{loss}")));
            to_output(&options, log, |out| report_with(&opened.image, &options, out, notes))
        }
    }
}

/// To the files that the report is kept in, or to standard output.
///
/// Without a terminal nothing may touch the bytes; with one, NO_COLOR and the like decide. QSPY's colours have been decided
/// on already.
fn to_output(
    options: &Options,
    log: &mut Option<log::Log>,
    run: impl FnOnce(&mut dyn Write) -> ExitCode,
) -> ExitCode {
    if let Some(log) = log {
        if options.format.has_opening {
            log.repeat_first_line();
        }
        return run(log);
    }
    match options.layout.terminal && options.format.about != format::About::Stream {
        true => run(&mut buffered(anstream::stdout().lock())),
        false => run(&mut buffered(std::io::stdout().lock())),
    }
}

fn buffered<W: Write>(out: W) -> std::io::BufWriter<W> {
    std::io::BufWriter::with_capacity(256 << 10, out)
}
