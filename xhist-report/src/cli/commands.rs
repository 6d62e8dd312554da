//! Carries out a command line on the standard streams of the process.

use std::ffi::{OsStr, OsString};
use std::io::Write;

use clap::{CommandFactory, FromArgMatches, Parser};

use super::answer;
use super::args::Args;
use super::budget_args;
use super::command::{Command, CommandLine};
use super::completions;
use super::dap;
use super::document;
use super::error::UsageError;
use super::evidence;
use super::fleet;
use super::how_to_dump;
use super::origin;
use super::pack;
use super::pager::Pager;
use super::suspects;
use super::typos;
use super::view;
use super::words;
use crate::budget::Weight;
use crate::format::ReportKind;
use crate::live::report_live;
use crate::live::send;
use crate::options::Options;
use crate::reports::report;
use crate::reports::run_list::{self, RunsFormat};
use xhist_history::ExitCode;
use xhist_history::model::visible;
use xhist_history::notes::typed;
use xhist_history::notes::{Notes, outcome};
use xhist_history::source::Opened;

/// `xhist-report` with these words, the first of which is the program. A usage error exits with 2, as in all programs of xhist.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words = words::prepared(words);
    keep_typed(&words);
    run(&CommandLine::parse_from(words))
}

/// The same command as a part of `cargo xhist`: `answer RUN`, or `history RING` for what `xhist-report RING` prints.
pub fn run_from_cargo(words: Vec<OsString>) -> ExitCode {
    let mut command = CommandLine::command().name("cargo-xhist").bin_name(typed::program());
    // The examples of a command are among its arguments.
    command.build();
    let command = with_examples(command);
    let words = words::prepared([OsString::from(typed::program())].into_iter().chain(words));
    keep_typed(&words);
    let matches = command.get_matches_from(words);
    match CommandLine::from_arg_matches(&matches) {
        Ok(line) => run(&line),
        Err(error) => error.exit(),
    }
}

/// Keeps the words for the command that prints what a budget leaves out.
fn keep_typed(words: &[OsString]) {
    let behind = words.get(1..).unwrap_or_default();
    budget_args::typed(behind, behind.first().is_some_and(|word| is_command(word)));
}

/// The command and those below it, with examples as a user of cargo types them.
fn with_examples(mut command: clap::Command) -> clap::Command {
    let shown = |text: &clap::builder::StyledStr| {
        let is_word = |word: &str| is_command(OsStr::new(word));
        typed::examples(&text.to_string(), is_word)
    };
    if let Some(text) = command.get_after_help().map(shown) {
        command = command.after_help(text);
    }
    if let Some(text) = command.get_after_long_help().map(shown) {
        command = command.after_long_help(text);
    }
    let below: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    below.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_examples))
}

/// What each command does, a line each.
pub fn command_list() -> String {
    let line = |command: &clap::Command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        format!("  {:<12}{about}\n", command.get_name())
    };
    CommandLine::command().get_subcommands().map(line).collect()
}

/// Whether this word is a command.
pub fn is_command(word: &OsStr) -> bool {
    let is_named = |command: &clap::Command| {
        word == command.get_name() || command.get_all_aliases().any(|alias| word == alias)
    };
    CommandLine::command().get_subcommands().any(is_named)
}

/// The names of the commands.
pub fn command_names() -> Vec<String> {
    CommandLine::command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

fn run(line: &CommandLine) -> ExitCode {
    let mut stderr = anstream::stderr();
    let notes = &mut Notes::new(&mut stderr);
    carry_out(line, notes).unwrap_or_else(|error| {
        notes.error(format_args!("{error}"));
        ExitCode::Usage
    })
}

fn carry_out(line: &CommandLine, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
    match &line.command {
        Some(Command::Send(send)) => return Ok(send::run(send, &mut std::io::stdout().lock(), notes)),
        Some(Command::Runs(list)) => {
            let dir = std::env::current_dir().map_err(UsageError::WorkDir)?;
            let is_json = list.format == RunsFormat::Json;
            let out = &mut buffered(std::io::stdout().lock());
            // The newest are the last.
            let print = |out: &mut dyn Write| run_list::print(&dir, list.format, out, notes);
            let (printed, written) = list.budget.lines(is_json, Weight::newer, out, print);
            return Ok(outcome(printed?.and(written), notes));
        }
        Some(Command::Diff(diff)) => return diff.run(&mut buffered(std::io::stdout().lock()), notes),
        Some(Command::Suspects(args)) => return suspects::run(args, notes),
        Some(Command::Origin(args)) => return origin::run(args, notes),
        Some(Command::Fleet(args)) => return Ok(fleet::run(args, notes)),
        Some(Command::Find(args)) => return args.run(&mut buffered(std::io::stdout().lock()), notes),
        Some(Command::Frame(args)) => return args.run(&mut buffered(std::io::stdout().lock()), notes),
        Some(Command::Source(args)) => return args.run(&mut buffered(std::io::stdout().lock()), notes),
        Some(Command::View(args)) => return view::run(args, notes),
        Some(Command::Pack(args)) => return pack::run(args, notes),
        Some(Command::Dap(args)) => return dap::run(args, notes),
        Some(Command::Skill(args)) => return args.run(&mut buffered(std::io::stdout().lock()), notes),
        Some(Command::Mcp(args)) => return args.run(notes),
        Some(Command::Answer(answer)) => return answer::run(answer, notes),
        Some(Command::Completions(args)) => {
            let printed =
                completions::run(**args, CommandLine::command(), &mut buffered(std::io::stdout().lock()));
            return Ok(outcome(printed, notes));
        }
        _ => {}
    }
    if let Some(history) = line.history() {
        if history.gdb_script {
            return Ok(print(how_to_dump::GDB_SCRIPT, notes));
        }
        if let Some(elf) = &history.how_to_dump {
            return Ok(print(&how_to_dump::commands(elf)?, notes));
        }
    }
    match line.report() {
        Some(args) => run_report(&args.with_stdin(notes), notes),
        None => Ok(ExitCode::Complete),
    }
}

fn run_report(args: &Args, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
    if args.is_live() {
        return run_live(args, notes);
    }
    args.check_files()?;
    args.check_document()?;
    Ok(run_files(args))
}

/// Prints a whole text.
fn print(text: &str, notes: &mut Notes<'_>) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    outcome(written, notes)
}

fn run_live(args: &Args, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
    let options = args.options(None)?;
    let setup = args.open_live(notes)?;
    Ok(to_output(&options, false, |out| report_live(setup, &options, out, notes)))
}

/// One report after another; the worst exit code of all.
fn run_files(args: &Args) -> ExitCode {
    let sources = args.sources();
    if sources.is_empty() {
        return run_file(args, None);
    }
    let codes = sources.iter().enumerate().map(|source| run_file(args, Some(source)));
    codes.max().unwrap_or_default()
}

/// Reports on one source, the first of several or a later one.
fn run_file(args: &Args, source: Option<(usize, &OsString)>) -> ExitCode {
    let mut stderr = anstream::stderr();
    let notes = &mut Notes::new(&mut stderr);
    let (opened, mut options) = match open(args, source.map(|(_, source)| source), notes) {
        Ok(opened) => opened,
        Err(error) => {
            match source.and_then(|(_, source)| typos::instead_of(source)) {
                Some(meant) => notes.error(format_args!("{error}; did you mean `{meant}`?")),
                None => notes.error(format_args!("{error}")),
            }
            return ExitCode::Usage;
        }
    };
    let mut of = String::new();
    if let Some((place, source)) = source.filter(|_| args.sources().len() > 1) {
        let name = visible(&source.to_string_lossy()).into_owned();
        if place > 0 && options.qs.side_files().next().is_some() {
            notes.note(format_args!("{name}: the side files hold the first source only"));
            options.qs = options.qs.without_side_files();
        }
        of = format!("{name}: ");
        options.read.origin = Some(name);
    }
    opened.losses.iter().for_each(|loss| notes.loss(format_args!("{of}{loss}")));
    if options.report() == ReportKind::Recording {
        options.evidence = evidence::find(&opened, &options.read, &args.values, notes);
    }
    match args.output_file(&opened) {
        Ok(None) => {}
        Ok(Some(path)) => {
            let write =
                |out: &mut dyn Write, notes: &mut Notes<'_>| report(&opened.image, &options, out, notes);
            return document::write(&path, args.open, notes, write);
        }
        Err(error) => {
            notes.error(format_args!("{error}"));
            return ExitCode::Usage;
        }
    }
    let is_paged = !args.no_pager && !args.follow && args.sources().len() <= 1;
    to_output(&options, is_paged, |out| report(&opened.image, &options, out, notes))
}

fn open(
    args: &Args,
    source: Option<&OsString>,
    notes: &mut Notes<'_>,
) -> Result<(Opened, Options), UsageError> {
    let (opened, choice) = args.open(source)?;
    choice.iter().for_each(|note| notes.note(format_args!("{note}")));
    let options = args.options(Some(&opened))?;
    Ok((opened, options))
}

/// Writes to standard output.
///
/// Without a terminal nothing may change the bytes; with one, NO_COLOR and similar variables decide. The colours of QSPY's
/// lines are decided elsewhere.
fn to_output(options: &Options, is_paged: bool, write: impl FnOnce(&mut dyn Write) -> ExitCode) -> ExitCode {
    match options.layout.terminal && options.format.report != ReportKind::Qspy {
        true if is_paged => write_paged(write),
        true => write(&mut buffered(anstream::stdout().lock())),
        false => write(&mut buffered(std::io::stdout().lock())),
    }
}

/// Writes to a pager, if it is longer than the screen. The exit code is that of the report, also when the user leaves early.
fn write_paged(write: impl FnOnce(&mut dyn Write) -> ExitCode) -> ExitCode {
    let mut pager = Pager::new(true);
    let code = match anstream::stdout().current_choice() {
        anstream::ColorChoice::Never => {
            write(&mut buffered(anstream::StripStream::new(&mut pager as &mut dyn Write)))
        }
        _ => write(&mut buffered(&mut pager)),
    };
    let mut stderr = anstream::stderr();
    outcome(pager.finish(), &mut Notes::new(&mut stderr)).max(code)
}

fn buffered<W: Write>(out: W) -> std::io::BufWriter<W> {
    std::io::BufWriter::with_capacity(256 << 10, out)
}
