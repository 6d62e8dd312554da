//! The command line of `dap`: the debug adapter, and the histories that its clients ask for.

use std::io::{BufReader, IsTerminal, stdin, stdout};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::channel;

use clap::Args;

use super::error::UsageError;
use super::history_args::HistoryArgs;
use crate::dap::{self, LaunchArgs, LoadEnd, Loading, OneOrMore, Opener};
use crate::reports::report;
use xhist_history::ExitCode;
use xhist_history::notes::Notes;
use xhist_history::notes::typed;
use xhist_history::options::selection::Pattern;
use xhist_history::recording::SharedRecording;

const AFTER_HELP: &str = "\
An editor starts this program; docs/editors.md has the set-up of VS Code, Neovim, Helix, Zed and Emacs. A launch
configuration may name the history and all else: \"history\", \"stopAt\" (\"end\", \"start\" or a step number), \"thread\",
\"sourceMap\" ({\"from\": \"to\"}), \"sourceRoots\", \"map\", \"program\", \"follow\", \"ring\", \"last\", \"only\", \"not\",
\"justMyCode\", \"cwd\". What it does not name comes from this command line.

Examples:
  xhist-report dap                          the run that failed last, on standard input and output
  xhist-report dap --listen 127.0.0.1:4711  clients connect there, one after another";

/// Debug adapter on standard input and output: an editor steps through a history.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct DapArgs {
    #[command(flatten)]
    history: HistoryArgs,

    /// Wait for clients at this address, one after another, in place of standard input and output
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
}

/// Carries out the command.
///
/// # Errors
/// The address cannot be used.
pub(super) fn run(args: &DapArgs, notes: &mut Notes<'_>) -> Result<ExitCode, UsageError> {
    let history = args.history.clone();
    let opener: Opener = Rc::new(move |launch| open(&history, launch));
    let Some(address) = &args.listen else {
        if stdin().is_terminal() {
            notes.note(format_args!(
                "an editor starts `{}`; `{}` is for a terminal",
                typed::command("dap"),
                typed::command("view")
            ));
        }
        return Ok(match dap::serve(&opener, BufReader::new(stdin()), &mut stdout().lock()) {
            Ok(()) => ExitCode::Complete,
            Err(error) => {
                notes.error(format_args!("{error}"));
                ExitCode::Usage
            }
        });
    };
    let notes = std::cell::RefCell::new(notes);
    let ready = &mut |address| notes.borrow_mut().note(format_args!("debug adapters connect to {address}"));
    let broken = &mut |error| notes.borrow_mut().note(format_args!("a client left: {error}"));
    dap::listen(&opener, address, ready, broken)
        .map_err(|error| UsageError::Listen(address.clone(), error))?;
    Ok(ExitCode::Complete)
}

/// Opens what a launch configuration names, and reads it in another thread.
fn open(given: &HistoryArgs, launch: &LaunchArgs) -> Result<Loading, String> {
    if let Some(cwd) = &launch.cwd {
        std::env::set_current_dir(cwd)
            .map_err(|error| format!("cannot work in {}: {error}", cwd.display()))?;
    }
    let history = merged(given, launch)?;
    let recording = SharedRecording::default();
    let mut text = Vec::new();
    let opened = history.open(&recording, &mut Notes::new(&mut text));
    let (opened, mut options) = opened.map_err(|error| error.to_string())?;
    let stop = Arc::default();
    options.read.stop = Some(Arc::clone(&stop));
    options.read.progress = None;
    let (sender, end) = channel();
    std::thread::spawn(move || {
        let mut plain = anstream::StripStream::new(&mut text);
        let code = report(&opened.image, &options, &mut std::io::sink(), &mut Notes::new(&mut plain));
        let notes = String::from_utf8_lossy(&text).into_owned();
        // The client may have left.
        let _ = sender.send(LoadEnd { code, notes });
    });
    Ok(Loading { recording, end, stop, is_live: history.follow })
}

/// The command line, with what the launch configuration says in its place.
fn merged(given: &HistoryArgs, launch: &LaunchArgs) -> Result<HistoryArgs, String> {
    let mut history = given.clone();
    let texts = |list: &Option<OneOrMore>| list.as_ref().map(|list| list.texts().to_vec());
    let patterns = |list: &Option<OneOrMore>| {
        let parse = |text: &String| Pattern::parse(text).map_err(|error| format!("{text}: {error}"));
        texts(list).map(|list| list.iter().map(parse).collect::<Result<Vec<_>, _>>()).transpose()
    };
    if let Some(source) = &launch.history {
        history.source = Some(source.into());
    }
    history.names.map = launch.map.clone().or(history.names.map);
    history.names.source_roots = launch.source_roots.clone().unwrap_or(history.names.source_roots);
    // Files of the build may be there.
    history.names.source_roots.extend(launch.source_map.iter().flatten().map(|(_, to)| PathBuf::from(to)));
    history.ring = launch.ring.or(history.ring);
    history.last = launch.last.or(history.last);
    history.follow = launch.follow.unwrap_or(history.follow);
    history.threads = texts(&launch.thread).unwrap_or(history.threads);
    history.only = patterns(&launch.only)?.unwrap_or(history.only);
    history.not = patterns(&launch.not)?.unwrap_or(history.not);
    history.names.values.program = launch.program.clone().or(history.names.values.program);
    if history.follow && history.ring.is_some() {
        return Err("\"ring\" cannot be used with \"follow\": \"thread\" chooses what is followed".to_owned());
    }
    Ok(history)
}
