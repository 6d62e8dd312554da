//! `-`: one source from stdin to stdout, like the scanner of the Xhist paper.
//!
//! Without `--map`, its file id is 0 and nothing is written elsewhere. With `--map`, the source is entered there under
//! `--stdin-path`. A source that is refused gives no output.

use super::args::EditionArg;
use super::lock::Wanted;
use super::paths::absolute;
use super::summary::{self, Summary};
use super::{Args, ExitCode, Fatal, console, listing};
use crate::map::MapFile;
use crate::pipeline::{self, Entered, Exemption, Failure, Outcome, Sink, SourceSet, SourceText};
use crate::select::{Selection, ValueFilter, module_path, requests};
use crate::trigger::Request;
use crate::{Analysis, Macros, MainHash, Numbers, Options, ids_needed, try_strip};
use std::borrow::Cow;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

pub fn run(args: &Args) -> Result<ExitCode, Fatal> {
    let mut text = Vec::new();
    io::stdin().read_to_end(&mut text).map_err(Fatal::Stdio)?;
    if args.strip {
        print(&stripped(args, &text)?).map_err(Fatal::Stdio)?;
    } else {
        instrument(args, &text)?;
    }
    Ok(ExitCode::Done)
}

/// Prints a text. A reader that closes the pipe early is not an error.
fn print(text: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

fn stripped(args: &Args, text: &[u8]) -> Result<Vec<u8>, Fatal> {
    let name = args.stdin_path.display();
    let stripped = try_strip(text).map_err(|left| Fatal::Source(format!("{name}:{left}")))?;
    for (line, column) in stripped.comments {
        eprintln!("note: {name}:{line}:{column}: a comment with calls in it stays");
    }
    Ok(stripped.text)
}

/// The one source of a filter, which goes to stdout.
struct Stdin<'a> {
    args: &'a Args,
    text: &'a [u8],
    selection: Selection,
    requests: &'a [Request],
}

impl SourceSet for Stdin<'_> {
    fn len(&self) -> usize {
        1
    }

    fn path(&self, _index: usize) -> &Path {
        &self.args.stdin_path
    }

    fn name(&self, _index: usize) -> String {
        console::shown(&self.args.stdin_path)
    }

    fn options(&self, _index: usize) -> Options {
        let edition2015 = self.args.edition == Some(EditionArg::E2015);
        let triggers = !self.requests.is_empty();
        let watches = self.requests.iter().any(Request::watches);
        Options { edition2015, triggers, watches, ..self.args.settings.over([]).options() }
    }

    fn text(&self, _index: usize) -> Result<SourceText<'_>, Failure> {
        Ok(SourceText { raw: Cow::Borrowed(self.text), original: Cow::Borrowed(self.text) })
    }

    fn select(&self, _index: usize, analysis: &mut Analysis) -> Option<Exemption> {
        let name = self.args.stdin_path.file_name().map_or(&*self.args.stdin_path, Path::new);
        let filter = self.selection.values().of_file(&self.args.stdin_path);
        ValueFilter::apply(&[filter], &module_path("crate", name), analysis);
        None
    }
}

impl Sink for Stdin<'_> {
    fn put(&self, _index: usize, _source: &SourceText<'_>, text: &[u8]) -> Result<(), Failure> {
        if self.args.check { Ok(()) } else { print(text).map_err(|error| Failure::Io("write", error)) }
    }

    fn leave(&self, _index: usize, _is_cleaned: bool) -> Result<bool, Failure> {
        Ok(false)
    }
}

fn instrument(args: &Args, text: &[u8]) -> Result<(), Fatal> {
    let requests = requests(&args.settings, [])?;
    let selection = Selection::new(&args.settings).map_err(Fatal::Pattern)?;
    let set = Stdin { args, text, selection, requests: &requests };
    let mut outcomes = pipeline::analyse(&set, &Macros::default(), || ());
    let lines = analyzed(&outcomes[0], &set)?.lines;
    pipeline::place_triggers(&set, &mut outcomes, &requests, |_| ())?;
    let analysis = analyzed(&outcomes[0], &set)?;
    summary::report_unused(set.selection.values());
    listing::print_debug_notes(&args.stdin_path, &analysis);
    if args.list {
        return listing::print_list(&args.stdin_path, &analysis).map_err(Fatal::Stdio);
    }
    let (entered, main_hash) = match &args.map {
        Some(map) => enter(map, &set, &mut outcomes)?,
        None => {
            let numbers = Numbers { ids: vec![0; ids_needed(lines)], first: 1, values: 1 };
            (vec![Entered::with(numbers)], MainHash::None)
        }
    };
    pipeline::write(&set, &mut outcomes, &entered, main_hash, &set, || ());
    analyzed(&outcomes[0], &set)?;
    if args.check {
        let mut summary = Summary::default();
        summary.add(&outcomes[0]);
        summary.print();
    }
    Ok(())
}

/// The analysis of the source, unless it failed.
fn analyzed(outcome: &Outcome, set: &Stdin<'_>) -> Result<Analysis, Fatal> {
    match outcome {
        Outcome::Analyzed(analyzed) => Ok(analyzed.analysis()),
        Outcome::LeftAlone(exemption) => Err(Fatal::Source(format!("{}: {exemption}", set.name(0)))),
        Outcome::Failed(failure) => Err(Fatal::Source(failure.describe(&set.name(0)))),
    }
}

/// Enters the source into the map.
fn enter(path: &Path, set: &Stdin<'_>, outcomes: &mut [Outcome]) -> Result<(Vec<Entered>, MainHash), Fatal> {
    // Filters of one build share the map.
    let mut wanted = Wanted::default();
    wanted.map(path);
    let _locks = wanted.take();
    let absolute_path: PathBuf = absolute(path);
    let root = absolute_path.parent().unwrap_or(Path::new("/"));
    let mut map = MapFile::load(path, root)?;
    let entered = pipeline::number(set, outcomes, &mut map);
    analyzed(&outcomes[0], set)?;
    let hash = map.hash();
    if !set.args.check {
        map.write(hash, path).map_err(|error| Fatal::Write(path.to_path_buf(), error))?;
    }
    Ok((entered, MainHash::Literal(hash)))
}
