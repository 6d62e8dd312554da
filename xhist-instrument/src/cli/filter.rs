//! `-`: one source from stdin to stdout, like the scanner of the Xhist paper.
//!
//! With `--stdin-path` or `--map` the source is entered in a map. Without them its file id is 0, nothing is written
//! elsewhere, `main` carries a hash that no map has, and a note says so. A source that is refused gives no output.

use super::args::EditionArg;
use super::lock::Wanted;
use super::paths::{absolute, map_path, root_of};
use super::summary::{self, Summary};
use super::{Args, ExitCode, Fatal, console, listing};
use crate::map::MapFile;
use crate::pipeline::{self, Entered, Exemption, Failure, Outcome, Sink, SourceSet, SourceText};
use crate::select::trigger::Request;
use crate::select::{Selection, ValueFilter, module_path, requests};
use crate::{Analysis, Macros, MainHash, Numbers, Options, ids_needed, try_strip};
use qs_core::map::NO_MAP;
use std::borrow::Cow;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// All sources without a path are one file to a reader.
const NOTE_NAMELESS: &str = "note: reports cannot name the file of these statements: with `--stdin-path FILE` the map has \
                             them as lines of FILE";

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
    map: Option<FilterMap>,
}

/// The map of a filter.
struct FilterMap {
    path: PathBuf,
    /// The paths in the map are relative to it.
    root: PathBuf,
    /// The directory that keeps texts.
    kept: PathBuf,
}

impl FilterMap {
    fn of(args: &Args) -> Option<FilterMap> {
        let root = match &args.map {
            Some(map) => absolute(map).parent().unwrap_or(Path::new("/")).to_path_buf(),
            None if args.has_stdin_path() => root_of(&args.stdin_path),
            None => return None,
        };
        let path = map_path(args, &root);
        Some(FilterMap { kept: crate::map::kept_maps::directory(&path), path, root })
    }
}

impl SourceSet for Stdin<'_> {
    fn count(&self) -> usize {
        1
    }

    fn path(&self, _index: usize) -> &Path {
        &self.args.stdin_path
    }

    fn recorded_path(&self, _index: usize) -> PathBuf {
        // With `--map`, the map may be of another tree.
        let is_named = self.args.map.is_some();
        if is_named { self.args.stdin_path.clone() } else { absolute(&self.args.stdin_path) }
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

    fn texts(&self) -> Option<&Path> {
        let kept = self.map.as_ref().map(|map| &*map.kept);
        kept.filter(|_| !self.args.check)
    }

    fn leave(&self, _index: usize, _is_cleaned: bool) -> Result<bool, Failure> {
        Ok(false)
    }
}

fn instrument(args: &Args, text: &[u8]) -> Result<(), Fatal> {
    let requests = requests(&args.settings, [])?;
    let selection = Selection::new(&args.settings).map_err(Fatal::Pattern)?;
    let set = Stdin { args, text, selection, requests: &requests, map: FilterMap::of(args) };
    let mut outcomes = pipeline::analyse(&set, &Macros::default(), || ());
    let lines = analyzed(&outcomes[0], &set)?.lines;
    pipeline::place_triggers(&set, &mut outcomes, &requests, |_| ())?;
    let analysis = analyzed(&outcomes[0], &set)?;
    summary::report_unused(set.selection.values());
    listing::print_debug_notes(&args.stdin_path, &analysis);
    if args.list {
        return listing::print_list(&args.stdin_path, &analysis).map_err(Fatal::Stdio);
    }
    let has_names = args.has_stdin_path() || analysis.sites.is_empty();
    let (entered, main_hash) = match &set.map {
        Some(map) => enter(map, &set, &mut outcomes)?,
        None => {
            let numbers = Numbers { ids: vec![0; ids_needed(lines)], first: 1, values: 1 };
            (vec![Entered::with(numbers)], MainHash::Literal(NO_MAP))
        }
    };
    pipeline::write(&set, &mut outcomes, &entered, main_hash, &set, || ());
    analyzed(&outcomes[0], &set)?;
    if !has_names && !args.check {
        eprintln!("{NOTE_NAMELESS}");
    }
    if args.check {
        let mut summary = Summary::default();
        summary.add(&outcomes[0]);
        summary.print();
    }
    Ok(())
}

/// The analysis of the source, unless it failed.
fn analyzed(outcome: &Outcome, set: &Stdin<'_>) -> Result<Arc<Analysis>, Fatal> {
    match outcome {
        Outcome::Analyzed(analyzed) => Ok(Arc::clone(&analyzed.analysis)),
        Outcome::LeftAlone(exemption) => Err(Fatal::Source(format!("{}: {exemption}", set.name(0)))),
        Outcome::Failed(failure) => Err(Fatal::Source(failure.describe(&set.name(0)))),
    }
}

/// Enters the source into the map.
fn enter(
    FilterMap { path, root, .. }: &FilterMap,
    set: &Stdin<'_>,
    outcomes: &mut [Outcome],
) -> Result<(Vec<Entered>, MainHash), Fatal> {
    // Filters of one build share the map.
    let mut wanted = Wanted::default();
    wanted.map(path);
    let _locks = wanted.take();
    let mut map = MapFile::load(path, root)?;
    let entered = pipeline::number(set, outcomes, &mut map);
    analyzed(&outcomes[0], set)?;
    let hash = map.hash();
    if !set.args.check {
        map.write(hash, path).map_err(|error| Fatal::Write(path.clone(), error))?;
    }
    Ok((entered, MainHash::Literal(hash)))
}
