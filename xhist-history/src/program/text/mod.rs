//! Source files of a map: the text of a line, and whether a file changed since the build. The text of a file that changed is the
//! kept one of the build. Missing files are noted, never an error.

mod drift;
mod plain;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use qs_core::map::Hash;

use crate::model::{Names, SourceChanges, Span, visible};
use crate::notes::Notes;
use crate::options::ReadOptions;
use crate::program::map::project_of;
use plain::plain;

/// Longest source file that is read; a map may name any file.
const MAX_SOURCE: u64 = 64 << 20;

/// Indentation of a tab.
const TAB: &str = "    ";

/// Source files, read when they are first asked for.
#[derive(Debug)]
pub struct SourceText {
    /// Time of the dump.
    dumped: Option<SystemTime>,
    /// Directories whose files may be shown, besides the project of the map.
    allowed: Vec<PathBuf>,
    /// Directories to search, besides those of the map.
    roots: Vec<PathBuf>,
    /// By number of the map and file id.
    files: HashMap<(usize, u16), Option<SourceLines>>,
    /// Files that have changed since the build and whose kept text is shown.
    changed: Vec<String>,
}

#[derive(Debug)]
struct SourceLines {
    path: PathBuf,
    text: String,
    starts: Vec<u32>,
    /// Columns of the text are those of the source.
    has_columns: bool,
}

impl SourceText {
    /// A map may come from anywhere and name any file. Shown are only files of the map's project, of the working directory's project, of
    /// cargo's packages, and below the directories that the user allows.
    pub fn new(options: &ReadOptions) -> SourceText {
        let project = options.maps.work_dir.as_deref().and_then(project_of);
        let packages = cargo_home().into_iter().flat_map(|home| PACKAGES.map(|packages| home.join(packages)));
        let allowed = packages.chain(options.source_roots.clone()).filter_map(|dir| dir.canonicalize().ok());
        SourceText {
            dumped: options.written,
            allowed: allowed.chain(project).collect(),
            roots: options.source_roots.clone(),
            files: HashMap::new(),
            changed: Vec::new(),
        }
    }

    /// The trimmed text of a line. A file that is missing, or has changed and whose text is not kept, is noted once.
    pub fn line(
        &mut self,
        (map, names): (usize, &Names),
        file: u16,
        line: u32,
        notes: &mut Notes<'_>,
    ) -> Option<&str> {
        let path = names.path(file)?;
        let SourceText { dumped, allowed, roots, files, changed } = self;
        let lines = files.entry((map, file)).or_insert_with(|| {
            let places: Vec<PathBuf> = places(names, path, roots).collect();
            let is_allowed = |path: &&PathBuf| is_below(path, allowed.iter().chain(&names.project));
            let here = places.iter().filter(is_allowed).find_map(|path| Some((path, read(path)?)));
            match (here, kept(names, file)) {
                (Some((path, source)), _) if names.source(file) == Some(hash(&source.text)) => {
                    Some(SourceLines::new(&source.text, path.clone()))
                }
                (here, Some(kept)) => {
                    let kept = SourceLines::new(&kept, PathBuf::new());
                    let here = here.map(|(path, source)| SourceLines::new(&source.text, path.clone()));
                    if here.as_ref().is_some_and(|here| here.text != kept.text) {
                        changed.push(visible(path).into_owned());
                    }
                    // The same, but instrumented in place.
                    here.filter(|here| here.text == kept.text).or(Some(kept))
                }
                (Some((found, source)), None) => {
                    checked(&source, names.statements(file), *dumped, &visible(path), notes)?;
                    Some(SourceLines::new(&source.text, found.clone()))
                }
                (None, None) => {
                    report_missing(&places, path, names, notes);
                    None
                }
            }
        });
        lines.as_ref()?.get(line)
    }

    /// What a statement has of the line that it starts in; the trimmed line where columns are not those of the source.
    pub fn part(
        &mut self,
        map: (usize, &Names),
        file: u16,
        span: Span,
        notes: &mut Notes<'_>,
    ) -> Option<&str> {
        self.line(map, file, span.line, notes);
        self.files.get(&(map.0, file))?.as_ref()?.part(span)
    }

    /// Notes which files have changed since the build, so that the text of the build is shown.
    pub fn report_changed(&mut self, notes: &mut Notes<'_>) {
        let changed = std::mem::take(&mut self.changed);
        match &*changed {
            [] => {}
            [file] => notes
                .note(format_args!("{file} has changed since this build: the text of the build is shown")),
            [file, more @ ..] => notes.note(format_args!(
                "{file} and {} more have changed since this build: the texts of the build are shown",
                if more.len() == 1 { "1 file".to_owned() } else { format!("{} files", more.len()) }
            )),
        }
    }

    /// All lines of a file, with their indentation. Notes the same.
    pub fn whole(&mut self, map: (usize, &Names), file: u16, notes: &mut Notes<'_>) -> Option<&str> {
        self.line(map, file, 1, notes);
        Some(&self.files.get(&(map.0, file))?.as_ref()?.text)
    }

    /// The absolute path of a file whose lines were asked for, if they are shown.
    pub fn file(&self, map: usize, file: u16) -> Option<PathBuf> {
        let lines = self.files.get(&(map, file))?.as_ref()?;
        lines.path.canonicalize().ok()
    }
}

impl SourceLines {
    fn new(text: &str, path: PathBuf) -> SourceLines {
        let is_instrumented = drift::is_instrumented(text);
        let is_changed = |char: char| char.is_control() && !matches!(char, '\n' | '\r');
        let has_columns = !is_instrumented && !text.contains(is_changed);
        let shown = |line: &str| {
            let line = if is_instrumented { plain(line) } else { Cow::Borrowed(line) };
            visible(&line.trim_end().replace('\t', TAB)).into_owned()
        };
        let text = text.lines().map(shown).collect::<Vec<_>>().join("\n");
        let starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect();
        SourceLines { path, text, starts, has_columns }
    }

    fn get(&self, line: u32) -> Option<&str> {
        Some(self.whole(line)?.trim())
    }

    fn whole(&self, line: u32) -> Option<&str> {
        let start = *self.starts.get((line as usize).checked_sub(1)?)? as usize;
        Some(self.text[start..].lines().next().unwrap_or_default())
    }

    fn part(&self, span: Span) -> Option<&str> {
        let line = self.whole(span.line)?;
        let at = |col: u32| {
            line.char_indices().nth(col.saturating_sub(1) as usize).map_or(line.len(), |(at, _)| at)
        };
        let end = if span.end_line == span.line { at(span.end_col) } else { line.len() };
        let part = line.get(at(span.col)..end).filter(|part| self.has_columns && !part.trim().is_empty());
        Some(part.unwrap_or(line).trim())
    }
}

/// Checks that a source is that of the build, as far as the places of statements show it. The text of another line would mislead.
fn checked(
    source: &Source,
    statements: &[Span],
    dumped: Option<SystemTime>,
    shown: &str,
    notes: &mut Notes<'_>,
) -> Option<()> {
    if let Some(line) = drift::first_moved_line(&source.text, statements) {
        notes.note(format_args!(
            "no source text of {shown}: it has changed since this build, the statement of line {line} is elsewhere"
        ));
        return None;
    }
    if source.written.zip(dumped).is_some_and(|(written, dumped)| written > dumped) {
        notes
            .note(format_args!("{shown} was written after the dump; the text beside it may not be what ran"));
    }
    Some(())
}

fn report_missing(places: &[PathBuf], path: &str, names: &Names, notes: &mut Notes<'_>) {
    let (shown, root) = (visible(path), visible(&names.root));
    match places.iter().find(|place| place.is_file()) {
        Some(other) => notes.note(format_args!(
            "no source text of {shown}: {} is not below the project of the map or the working directory; --source-root DIR \
             shows files below DIR as well",
            other.display()
        )),
        None => notes.note(format_args!(
            "no source text of {shown}: not found below {root} or the working directory; --source-root DIR looks below DIR \
             as well"
        )),
    }
}

/// The text of a file as it was built, with the name under which `kept` finds it. `None`: it is neither kept nor unchanged.
pub fn of_build(names: &Names, file: u16) -> Option<(String, String)> {
    let (wanted, path) = (names.source(file)?, names.path(file)?);
    let here = || {
        places(names, path, &[]).filter_map(|path| Some(read(&path)?.text)).find(|text| hash(text) == wanted)
    };
    Some((kept_name(wanted), kept(names, file).or_else(here)?))
}

/// The text of a file as it was built, kept beside the map under its hash.
fn kept(names: &Names, file: u16) -> Option<String> {
    let wanted = names.source(file)?;
    let name = kept_name(wanted);
    let texts = names.kept_texts.iter().filter_map(|dir| Some(read(&dir.join(&name))?.text));
    // A damaged copy is left out.
    texts.into_iter().find(|text| hash(text) == wanted)
}

fn kept_name(hash: u64) -> String {
    format!("{hash:016x}.source")
}

fn hash(text: &str) -> u64 {
    let mut hash = Hash::new();
    hash.update(text.as_bytes());
    hash.finish()
}

/// Where a file may be. The root of a map from another machine does not exist here; then the working directory or a directory of the
/// user may have the file.
fn places<'a>(names: &'a Names, path: &'a str, roots: &'a [PathBuf]) -> impl Iterator<Item = PathBuf> + 'a {
    let roots = roots.iter().map(move |root| root.join(path));
    [Path::new(&names.root).join(path), PathBuf::from(path)].into_iter().chain(roots)
}

/// Whether a file is below one of these directories, after all links.
fn is_below<'a>(path: &Path, mut dirs: impl Iterator<Item = &'a PathBuf>) -> bool {
    path.canonicalize().is_ok_and(|path| dirs.any(|dir| path.starts_with(dir)))
}

/// Directories of cargo that hold sources of packages.
const PACKAGES: [&str; 2] = ["registry/src", "git/checkouts"];

fn cargo_home() -> Option<PathBuf> {
    let home = || Some(Path::new(&std::env::var_os("HOME")?).join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home).filter(|home| home.is_absolute())
}

/// Compares the files of a map with what is there now.
pub fn compare(names: &Names, map_written: Option<SystemTime>) -> SourceChanges {
    let mut sources = SourceChanges::default();
    for file in names.files() {
        let Some(path) = names.path(file) else { continue };
        let (shown, statements) = (visible(path).into_owned(), names.statements(file));
        let Some(source) = places(names, path, &[]).find_map(|path| read(&path)) else {
            sources.missing.push(shown);
            continue;
        };
        if names.source(file) == Some(hash(&source.text)) {
            continue;
        }
        let is_newer = source.written.zip(map_written).is_some_and(|(source, map)| source > map);
        match drift::first_moved_line(&source.text, statements) {
            Some(line) => sources.moved.push((shown, line)),
            // Instrumenting in place writes the sources after the map.
            None if is_newer && !drift::is_instrumented(&source.text) => sources.touched.push(shown),
            None => {}
        }
    }
    sources
}

struct Source {
    text: String,
    written: Option<SystemTime>,
}

fn read(path: &Path) -> Option<Source> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(MAX_SOURCE).read_to_end(&mut bytes).ok()?;
    Some(Source { text: String::from_utf8_lossy(&bytes).into_owned(), written: metadata.modified().ok() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise a file that was instrumented in place would be said to have changed.
    #[test]
    fn an_instrumented_text_without_its_calls_is_the_original() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../xhist-instrument/tests/fixtures");
        let mut seen = 0;
        for fixture in std::fs::read_dir(fixtures).unwrap() {
            let text = |name| std::fs::read_to_string(fixture.as_ref().unwrap().path().join(name));
            let (Ok(original), Ok(instrumented)) = (text("in.rs"), text("out.rs")) else { continue };
            let [shown, expected] =
                [instrumented, original].map(|text| SourceLines::new(&text, PathBuf::new()).text);
            // The fixture lists behind its text what is left alone. In one, a call of the user's own looks like ours of an
            // earlier version.
            for (shown, expected) in shown.lines().zip(expected.lines()) {
                assert_eq!(shown.trim(), expected.replace("xhist_rt::s(2);", "").trim(), "{fixture:?}");
            }
            seen += 1;
        }
        assert!(seen > 50, "{seen}");
    }

    #[test]
    fn a_statement_has_a_part_of_its_line() {
        let span = |col, end_line, end_col| Span { line: 1, col, end_line, end_col };
        let lines = |text: &str| SourceLines::new(text, PathBuf::new());
        let text = "    if ä { one() } else {\n    two() }";
        let part = |span| lines(text).part(span).map(String::from);
        assert_eq!(part(span(12, 1, 17)).as_deref(), Some("one()"));
        assert_eq!(part(span(5, 2, 12)).as_deref(), Some("if ä { one() } else {"));
        // A column that is not in the line.
        assert_eq!(part(span(90, 1, 95)).as_deref(), Some("if ä { one() } else {"));
        assert_eq!(lines("\ta(); b();").part(span(7, 1, 10)), Some("a(); b();"));
    }

    #[test]
    fn lines_count_from_one_and_are_trimmed() {
        let lines = SourceLines::new("fn main() {\r\n\n\tlet x = 1;  \n}", PathBuf::new());
        let got: Vec<_> = (0..=5).map(|line| lines.get(line)).collect();
        assert_eq!(got, [None, Some("fn main() {"), Some(""), Some("let x = 1;"), Some("}"), None]);
    }
}
