//! Software triggers at a line of the sources: as the user writes them, and the statement where each stands.

use crate::site::Analysis;
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// Triggers that a program may have: the recorder counts each on its own.
const MOST: usize = 64;

/// What whoever runs the program has to know of triggers that start.
pub(crate) const NOTE_WAIT: &str =
    "note: run the program with XHIST=wait, or it records from its start and does not wait for --start-at";

/// What a trigger does when it is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Recording starts: its statement is the first.
    Start,
    /// Recording stops.
    Stop {
        /// So many statements behind its own.
        after: u32,
    },
}

impl Action {
    /// The option and the key in a manifest that ask for it.
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start-at",
            Self::Stop { .. } => "stop-at",
        }
    }
}

/// A trigger at a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// Index of the statement among the sites.
    pub site: usize,
    /// Which trigger of the program it is, from 0.
    pub number: u8,
    /// It acts when it is passed for this time, from 1.
    pub hit: u32,
    /// What it does then.
    pub action: Action,
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.action.name(), self.hit)?;
        match self.action {
            Action::Stop { after: after @ 1.. } => write!(f, "+{after}"),
            _ => Ok(()),
        }
    }
}

/// Who asks for a trigger: that decides where its path starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    /// The working directory, or the end of a path that only one file has.
    CommandLine,
    /// The directory of the manifest.
    Manifest,
}

/// A trigger as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Where it was written, and what, for messages.
    origin: String,
    from: From,
    directory: PathBuf,
    path: PathBuf,
    line: u32,
    hit: u32,
    action: Action,
}

impl Request {
    /// Reads the values of `--start-at` and `--stop-at`.
    ///
    /// # Errors
    /// One of them is not of the form `FILE:LINE#HIT+AFTER`.
    pub fn of_command_line(start_at: &[String], stop_at: &[String]) -> Result<Vec<Self>, String> {
        let directory = std::env::current_dir().unwrap_or_default();
        read_all(start_at, stop_at, From::CommandLine, &directory, "--")
    }

    /// Reads the same keys of the manifest in this directory.
    ///
    /// # Errors
    /// As [`Request::of_command_line`].
    pub fn of_manifest(
        directory: &Path,
        start_at: &[String],
        stop_at: &[String],
    ) -> Result<Vec<Self>, String> {
        read_all(start_at, stop_at, From::Manifest, directory, "")
    }

    /// Whether it starts recording.
    pub fn starts(&self) -> bool {
        self.action == Action::Start
    }

    fn read(text: &str, action: Action) -> Option<Self> {
        let (path, place) = text.rsplit_once(':')?;
        let (place, after) = split(place, '+')?;
        let (line, hit) = split(place, '#')?;
        let line = line.parse().ok().filter(|line| *line > 0)?;
        let action = match (action, after) {
            (Action::Start, Some(_)) => return None,
            (Action::Start, None) => Action::Start,
            (Action::Stop { .. }, after) => Action::Stop { after: after.unwrap_or(0) },
        };
        let hit = hit.unwrap_or(1);
        (hit > 0 && !path.is_empty()).then(|| Self {
            origin: String::new(),
            from: From::Manifest,
            directory: PathBuf::new(),
            path: PathBuf::from(path),
            line,
            hit,
            action,
        })
    }

    /// Which of these files it means; `None` when it is another file, which a manifest may well speak of.
    fn file(&self, files: &[&Path]) -> Result<Option<usize>, String> {
        let named = self.directory.join(&self.path);
        let real = named.canonicalize().ok();
        let is_it = |file: &Path| {
            let may_be = real.is_some() && file.file_name() == real.as_deref().and_then(Path::file_name);
            file == named || may_be && file.canonicalize().ok() == real
        };
        if let Some(index) = files.iter().position(|file| is_it(file)) {
            return Ok(Some(index));
        }
        let end: PathBuf = self.path.components().filter(|part| *part != Component::CurDir).collect();
        let ends: Vec<usize> = match self.from {
            From::CommandLine => (0..files.len()).filter(|index| files[*index].ends_with(&end)).collect(),
            From::Manifest => Vec::new(),
        };
        match *ends {
            [index] => Ok(Some(index)),
            [] if real.is_some() && self.from == From::Manifest => Ok(None),
            [] => Err(format!("no source file that is instrumented here is {}", self.path.display())),
            _ => {
                let names: Vec<String> =
                    ends.iter().map(|index| files[*index].display().to_string()).collect();
                Err(format!("several files end like this, say more of the path: {}", names.join(", ")))
            }
        }
    }
}

fn read_all(
    start_at: &[String],
    stop_at: &[String],
    from: From,
    directory: &Path,
    dashes: &str,
) -> Result<Vec<Request>, String> {
    let starts = start_at.iter().map(|text| (text, Action::Start));
    let stops = stop_at.iter().map(|text| (text, Action::Stop { after: 0 }));
    let read = |(text, action): (&String, Action)| {
        let origin = format!("{dashes}{} {text}", action.name());
        let Some(request) = Request::read(text, action) else {
            let form = if action == Action::Start { "FILE:LINE[#HIT]" } else { "FILE:LINE[#HIT][+AFTER]" };
            return Err(format!("{origin}: expected {form}, numbers from 1"));
        };
        let origin = match from {
            From::CommandLine => origin,
            From::Manifest => format!("{}: {origin}", directory.join("Cargo.toml").display()),
        };
        Ok(Request { origin, from, directory: directory.to_path_buf(), ..request })
    };
    starts.chain(stops).map(read).collect()
}

/// The text in front of a mark, and the number behind it; `None` when that is no number.
fn split(text: &str, mark: char) -> Option<(&str, Option<u32>)> {
    match text.split_once(mark) {
        None => Some((text, None)),
        Some((text, number)) => number.parse().ok().map(|number| (text, Some(number))),
    }
}

/// Finds the file and the statement of each trigger. `look` gives the analysis of a file, or says why it has none.
/// `note` is told of triggers in files that this run is not about.
///
/// # Errors
/// There are too many, or one of them has no file or no statement.
pub fn place(
    requests: &[Request],
    files: &[&Path],
    look: impl Fn(usize) -> Result<Analysis, String>,
    note: impl Fn(&str),
) -> Result<Vec<(usize, Trigger)>, String> {
    if requests.len() > MOST {
        return Err(format!("{} triggers; a program can have {MOST}", requests.len()));
    }
    let mut placed = Vec::new();
    // Numbers do not depend on which files this run is about: others may be instrumented in another.
    for (number, request) in (0..).zip(requests) {
        let wrong = |why: String| format!("{}: {why}", request.origin);
        let Some(file) = request.file(files).map_err(wrong)? else {
            note(&format!("{}: not among the sources instrumented here", request.origin));
            continue;
        };
        let analysis = look(file).map_err(wrong)?;
        let site = statement_at(&analysis, request.line).map_err(wrong)?;
        placed.push((file, Trigger { site, number, hit: request.hit, action: request.action }));
    }
    Ok(placed)
}

/// The first statement that starts in this line, else the innermost one around it.
fn statement_at(analysis: &Analysis, line: u32) -> Result<usize, String> {
    let sites = &analysis.sites;
    let covers = |&index: &usize| (sites[index].line..=sites[index].end_line).contains(&line);
    let first = sites.iter().position(|site| site.line == line);
    // Of those around a line the innermost starts last.
    let innermost = || (0..sites.len()).rev().find(covers);
    first.or_else(innermost).ok_or_else(|| {
        let skip = analysis.skips.iter().find(|skip| skip.line == line);
        let why = skip.map_or(String::new(), |skip| format!(" ({})", skip.reason));
        let above = sites.iter().map(|site| site.line).filter(|other| *other < line).max();
        let below = sites.iter().map(|site| site.line).filter(|other| *other > line).min();
        let nearest = match (above, below) {
            (Some(above), Some(below)) => format!("the nearest are in lines {above} and {below}"),
            (Some(nearest), None) | (None, Some(nearest)) => format!("the nearest is in line {nearest}"),
            (None, None) => "the file has none".to_owned(),
        };
        format!("no statement of line {line} is recorded{why}; {nearest}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, analyze};

    fn read(text: &str, action: Action) -> Option<(String, u32, u32, Action)> {
        let request = Request::read(text, action)?;
        Some((request.path.display().to_string(), request.line, request.hit, request.action))
    }

    #[test]
    fn hit_and_after_may_be_left_out() {
        let stop = |text| read(text, Action::Stop { after: 0 });
        let is = |line, hit, after| Some(("a/b.rs".to_owned(), line, hit, Action::Stop { after }));
        assert_eq!(stop("a/b.rs:7"), is(7, 1, 0));
        assert_eq!(stop("a/b.rs:7#3"), is(7, 3, 0));
        assert_eq!(stop("a/b.rs:7+100"), is(7, 1, 100));
        assert_eq!(stop("a/b.rs:7#3+100"), is(7, 3, 100));
        for wrong in
            ["a.rs", "a.rs:", "a.rs:0", "a.rs:1#0", "a.rs:1#", "a.rs:1+", ":1", "a.rs:1+2#3", "a.rs:-1"]
        {
            assert_eq!(stop(wrong), None, "{wrong}");
        }
        assert_eq!(read("a.rs:1#2", Action::Start), Some(("a.rs".to_owned(), 1, 2, Action::Start)));
        assert_eq!(read("a.rs:1+2", Action::Start), None);
    }

    #[test]
    fn a_file_is_the_one_in_the_directory_or_the_only_one_that_ends_like_it() {
        let files = ["/w/src/main.rs", "/w/a/src/main.rs", "/w/a/src/lib.rs"].map(Path::new);
        let file = |directory: &str, from, path: &str| {
            let request = Request::read(&format!("{path}:1"), Action::Start).unwrap();
            Request { from, directory: directory.into(), ..request }.file(&files)
        };
        assert_eq!(file("/w", From::CommandLine, "src/main.rs"), Ok(Some(0)));
        assert_eq!(file("/w/a", From::Manifest, "src/main.rs"), Ok(Some(1)));
        assert_eq!(file("/", From::CommandLine, "./src/lib.rs"), Ok(Some(2)));
        assert_eq!(file("/", From::CommandLine, "/w/a/src/lib.rs"), Ok(Some(2)));
        let ambiguous = file("/", From::CommandLine, "main.rs").unwrap_err();
        assert!(ambiguous.ends_with("say more of the path: /w/src/main.rs, /w/a/src/main.rs"), "{ambiguous}");
        assert!(file("/", From::CommandLine, "b.rs").is_err());
        assert!(file("/", From::Manifest, "lib.rs").is_err());
    }

    #[test]
    fn the_statement_starts_in_the_line_or_is_the_innermost_around_it() {
        let text =
            "fn f() {\n  a(); b();\n  if c {\n    d(\n      1,\n    );\n  }\n}\nconst E: u8 = {\n  1\n};\n";
        let analysis = analyze(text.as_bytes(), &Options::default()).unwrap();
        let at = |line| statement_at(&analysis, line).map(|site| analysis.sites[site].range.start);
        let start = |of: &str| Ok(text.find(of).unwrap());
        assert_eq!(at(2), start("a();"));
        assert_eq!(at(5), start("d("));
        assert_eq!(at(7), start("if c"));
        assert_eq!(at(1), Err("no statement of line 1 is recorded; the nearest is in line 2".to_owned()));
        let constant = at(10).unwrap_err();
        assert!(
            constant.ends_with(
                "is recorded (evaluated by the compiler (const context)); the nearest is in line 4"
            )
        );
    }

    #[test]
    fn there_are_not_too_many() {
        let request = Request::read("/a.rs:1", Action::Start).unwrap();
        let analysis = analyze(b"fn f() { x() }", &Options::default()).unwrap();
        let place = |count| {
            place(&vec![request.clone(); count], &[Path::new("/a.rs")], |_| Ok(analysis.clone()), |_| ())
        };
        let placed = place(64).unwrap();
        assert!(placed.iter().enumerate().all(|(index, (_, trigger))| usize::from(trigger.number) == index));
        assert!(place(65).is_err());
    }
}
