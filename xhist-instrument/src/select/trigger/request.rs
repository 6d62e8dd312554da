//! Parses trigger requests of the command line and of manifests, and finds the file that each one names.

use super::error::{RequestProblem, TriggerError};
use crate::options::Settings;
use crate::site::Action;
use std::path::{Component, Path, PathBuf};

/// Advice for the user who runs a program with start triggers.
pub const NOTE_WAIT: &str =
    "note: run the program with XHIST=wait, or it records from its start and does not wait for --start-at";

/// The origin of a request, which decides how its path is resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestOrigin {
    /// The path starts in the working directory, or is the end of exactly one source path.
    CommandLine,
    /// The path starts in the directory of the manifest.
    Manifest,
}

/// A trigger as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The text of the request and its origin, for messages.
    pub(super) label: String,
    origin: RequestOrigin,
    directory: PathBuf,
    path: PathBuf,
    pub(super) line: u32,
    pub(super) hit: u32,
    pub(super) action: Action,
    /// The binding, for a trigger at a value.
    pub(super) watched: Option<Watched>,
}

/// A binding, and the value that it is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Watched {
    pub name: String,
    pub expected: Option<String>,
}

impl Request {
    /// Parses the values of `--start-at`, `--stop-at` and `--watch`.
    ///
    /// # Errors
    /// A value does not have the form `FILE:LINE#HIT+AFTER`, or `FILE:LINE+AFTER:NAME=VALUE`.
    pub fn of_command_line(settings: &Settings) -> Result<Vec<Self>, TriggerError> {
        let directory = std::env::current_dir().unwrap_or_default();
        read_all(settings, RequestOrigin::CommandLine, &directory, "--")
    }

    /// Parses the keys `start-at`, `stop-at` and `watch` of the manifest in this directory.
    ///
    /// # Errors
    /// The errors of [`Request::of_command_line`].
    pub fn of_manifest(directory: &Path, settings: &Settings) -> Result<Vec<Self>, TriggerError> {
        read_all(settings, RequestOrigin::Manifest, directory, "")
    }

    /// Whether the trigger is at a value.
    pub fn watches(&self) -> bool {
        self.watched.is_some()
    }

    /// Whether the trigger starts recording.
    pub fn starts(&self) -> bool {
        self.action == Action::Start
    }

    /// Checks that a target without an operating system can do what is asked for.
    ///
    /// # Errors
    /// Recording should stop behind its line, or at a value.
    pub fn check_bare(&self) -> Result<(), TriggerError> {
        let problem = match (self.action, &self.watched) {
            (Action::Stop { after: 1.. }, _) => RequestProblem::StopsLater,
            (_, Some(Watched { expected: Some(_), .. })) => RequestProblem::ComparesValue,
            _ => return Ok(()),
        };
        Err(TriggerError::Request { request: self.label.clone(), problem })
    }

    pub(super) fn read(text: &str, action: Action) -> Option<Self> {
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
            label: String::new(),
            origin: RequestOrigin::Manifest,
            directory: PathBuf::new(),
            path: PathBuf::from(path),
            line,
            hit,
            action,
            watched: None,
        })
    }

    /// Reads `FILE:LINE+AFTER:NAME=VALUE`. The value may contain any character, and so may the path.
    pub(super) fn read_watch(text: &str) -> Option<Self> {
        let ends = text.match_indices('=').map(|(at, _)| at).chain([text.len()]);
        ends.into_iter().find_map(|end| {
            let (place, name) = text[..end].rsplit_once(':')?;
            let request = Self::read(place, Action::Stop { after: 0 })
                .filter(|_| is_name(name) && !place.contains('#'))?;
            let expected = text.get(end + 1..).map(str::to_owned);
            Some(Self { watched: Some(Watched { name: name.to_owned(), expected }), ..request })
        })
    }

    /// Index of the file that the request names. `None` if that file is not in the list, which is valid for a
    /// manifest.
    pub(super) fn file(&self, files: &[&Path]) -> Result<Option<usize>, RequestProblem> {
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
        let ends: Vec<usize> = match self.origin {
            RequestOrigin::CommandLine => {
                (0..files.len()).filter(|index| files[*index].ends_with(&end)).collect()
            }
            RequestOrigin::Manifest => Vec::new(),
        };
        match *ends {
            [index] => Ok(Some(index)),
            [] if real.is_some() && self.origin == RequestOrigin::Manifest => Ok(None),
            [] => Err(RequestProblem::NoFile(self.path.clone())),
            _ => {
                let files = ends.iter().map(|index| files[*index].to_path_buf()).collect();
                Err(RequestProblem::Ambiguous(files))
            }
        }
    }
}

fn is_name(text: &str) -> bool {
    let word = text.strip_prefix("r#").unwrap_or(text);
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && word.chars().all(|char| char.is_alphanumeric() || char == '_')
}

fn read_all(
    Settings { start_at, stop_at, watch, .. }: &Settings,
    origin: RequestOrigin,
    directory: &Path,
    dashes: &str,
) -> Result<Vec<Request>, TriggerError> {
    let stop = Action::Stop { after: 0 };
    let starts = start_at.iter().map(|text| (text, Some(Action::Start)));
    let stops = stop_at.iter().map(|text| (text, Some(stop)));
    let watches = watch.iter().map(|text| (text, None));
    let read = |(text, action): (&String, Option<Action>)| {
        let label = format!("{dashes}{} {text}", action.map_or("watch", Action::name));
        let (request, problem) = match action {
            Some(action) => (Request::read(text, action), RequestProblem::Malformed(action)),
            None => (Request::read_watch(text), RequestProblem::MalformedWatch),
        };
        let Some(request) = request else {
            return Err(TriggerError::Request { request: label, problem });
        };
        let label = match origin {
            RequestOrigin::CommandLine => label,
            RequestOrigin::Manifest => format!("{}: {label}", directory.join("Cargo.toml").display()),
        };
        Ok(Request { label, origin, directory: directory.to_path_buf(), ..request })
    };
    starts.chain(stops).chain(watches).map(read).collect()
}

/// Splits at a mark into the text before it and the number after it; `None` if that is not a number.
fn split(text: &str, mark: char) -> Option<(&str, Option<u32>)> {
    match text.split_once(mark) {
        None => Some((text, None)),
        Some((text, number)) => number.parse().ok().map(|number| (text, Some(number))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn firmware_stops_at_its_line_and_compares_nothing() {
        let why = |settings: &Settings| {
            let [request] = &Request::of_command_line(settings).expect("a request")[..] else {
                panic!("one")
            };
            request.check_bare().map_err(|why| why.to_string())
        };
        let stop = |text: &str| why(&Settings { stop_at: vec![text.into()], ..Settings::default() });
        let watch = |text: &str| why(&Settings { watch: vec![text.into()], ..Settings::default() });
        let start = why(&Settings { start_at: vec!["a.rs:1#2".into()], ..Settings::default() });
        assert_eq!((start, stop("a.rs:1#2"), stop("a.rs:1+0")), (Ok(()), Ok(()), Ok(())));
        assert_eq!(watch("a.rs:1:x"), Ok(()));
        let later = "firmware stops at its line, because nothing counts statements there: leave out +AFTER";
        assert_eq!(stop("a.rs:1+9"), Err(format!("--stop-at a.rs:1+9: {later}")));
        assert_eq!(watch("a.rs:1+9:x"), Err(format!("--watch a.rs:1+9:x: {later}")));
        let value =
            "firmware compares no values, because that would take flash for each type: leave out =VALUE";
        assert_eq!(watch("a.rs:1:x=3"), Err(format!("--watch a.rs:1:x=3: {value}")));
    }

    #[test]
    fn a_watch_names_a_binding_and_its_value() {
        let watch = |text| {
            let request = Request::read_watch(text)?;
            let Watched { name, expected } = request.watched.clone()?;
            Some((request.path.display().to_string(), request.line, request.action, name, expected))
        };
        let is = |path: &str, line, after, name: &str, expected: Option<&str>| {
            let action = Action::Stop { after };
            Some((path.to_owned(), line, action, name.to_owned(), expected.map(str::to_owned)))
        };
        assert_eq!(watch("a/b.rs:7:len"), is("a/b.rs", 7, 0, "len", None));
        assert_eq!(watch("a/b.rs:7+9:len=12"), is("a/b.rs", 7, 9, "len", Some("12")));
        assert_eq!(watch("a=b.rs:7:r#in=a:1=b+2"), is("a=b.rs", 7, 0, "r#in", Some("a:1=b+2")));
        assert_eq!(watch("a.rs:7:self="), is("a.rs", 7, 0, "self", Some("")));
        for wrong in [
            "a.rs:7",
            "a.rs:len",
            "a.rs:0:len",
            "a.rs:7:1",
            "a.rs:7:a.b",
            "a.rs:7#2:len",
            ":7:len",
            "a.rs:7:",
        ] {
            assert_eq!(watch(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_path_is_below_the_directory_or_the_end_of_exactly_one_path() {
        let files = ["/w/src/main.rs", "/w/a/src/main.rs", "/w/a/src/lib.rs"].map(Path::new);
        let file = |directory: &str, origin, path: &str| {
            let request = Request::read(&format!("{path}:1"), Action::Start).unwrap();
            Request { origin, directory: directory.into(), ..request }.file(&files)
        };
        assert_eq!(file("/w", RequestOrigin::CommandLine, "src/main.rs"), Ok(Some(0)));
        assert_eq!(file("/w/a", RequestOrigin::Manifest, "src/main.rs"), Ok(Some(1)));
        assert_eq!(file("/", RequestOrigin::CommandLine, "./src/lib.rs"), Ok(Some(2)));
        assert_eq!(file("/", RequestOrigin::CommandLine, "/w/a/src/lib.rs"), Ok(Some(2)));
        let ambiguous = file("/", RequestOrigin::CommandLine, "main.rs").unwrap_err().to_string();
        assert!(
            ambiguous.ends_with("give more of the path: /w/src/main.rs, /w/a/src/main.rs"),
            "{ambiguous}"
        );
        assert!(file("/", RequestOrigin::CommandLine, "b.rs").is_err());
        assert!(file("/", RequestOrigin::Manifest, "lib.rs").is_err());
    }
}
