//! Names that a user asks for and nothing has: checked before a report.

use std::fmt;

use super::Selection;
use super::pattern::Pattern;
use super::places::{self, PatternPlaces};
use super::thread::{Fit, ThreadPattern};
use crate::model::{Names, Ring};
use crate::notes::ExitCode;

/// Most names that an error lists.
const LISTED: usize = 8;

impl Selection {
    /// The chosen threads among all threads there are: for each, whether it is. A name wins over the number of a ring, and that over
    /// the id of a thread.
    ///
    /// # Errors
    /// A pattern that no thread fits.
    pub fn choose_threads(&self, rings: &[&Ring]) -> Result<Vec<bool>, UnknownName> {
        let mut chosen = vec![self.threads.is_empty(); rings.len()];
        for thread in &self.threads {
            let fits: Vec<Option<Fit>> = rings.iter().map(|ring| thread.fits(ring)).collect();
            let Some(best) = fits.iter().flatten().max() else {
                return Err(UnknownName::thread(thread, rings));
            };
            chosen.iter_mut().zip(&fits).for_each(|(is, fit)| *is |= fit.as_ref() == Some(best));
        }
        Ok(chosen)
    }

    /// Checks that each pattern matches something in one of the maps.
    ///
    /// # Errors
    /// The first pattern that matches nothing, or that there is no map.
    pub fn check(&self, maps: &[&Names]) -> Result<(), UnknownName> {
        let patterns = self.only.iter().map(|pattern| ("--only", pattern));
        let all = patterns.chain(self.not.iter().map(|pattern| ("--not", pattern)));
        all.into_iter().try_for_each(|(option, pattern)| known(option, pattern, maps))
    }
}

/// Checks that a pattern matches something in one of the maps.
///
/// # Errors
/// It matches nothing, or there is no map.
pub fn known(option: &'static str, pattern: &Pattern, maps: &[&Names]) -> Result<(), UnknownName> {
    if maps.iter().all(|names| names.files().next().is_none()) {
        return Err(UnknownName::NoMap(option));
    }
    match maps.iter().any(|names| PatternPlaces::new(pattern, names).has_any()) {
        true => Ok(()),
        false => Err(UnknownName::pattern(option, pattern, maps)),
    }
}

/// A name that nothing has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownName {
    /// No file, crate or function has it.
    Pattern {
        /// The option and the pattern.
        given: String,
        /// Crates that there are, or files if the pattern is about files.
        what: &'static str,
        /// The first of them.
        known: Vec<String>,
        /// How many more there are.
        more: usize,
    },
    /// No thread has it.
    Thread {
        /// The name.
        given: String,
        /// The first threads that there are.
        known: Vec<String>,
        /// How many more there are.
        more: usize,
    },
    /// Nothing has a name: there is no map.
    NoMap(&'static str),
}

impl UnknownName {
    fn pattern(option: &str, pattern: &Pattern, maps: &[&Names]) -> UnknownName {
        let (what, mut all) = match pattern.is_about_files() {
            true => ("files", places::files(maps)),
            false => ("crates", places::crates(maps)),
        };
        let more = all.len().saturating_sub(LISTED);
        all.truncate(LISTED);
        UnknownName::Pattern { given: format!("{option} {}", pattern.text()), what, known: all, more }
    }

    fn thread(thread: &ThreadPattern, rings: &[&Ring]) -> UnknownName {
        let mut known: Vec<String> = rings.iter().map(|ring| ring.thread()).collect();
        known.dedup();
        let more = known.len().saturating_sub(LISTED);
        known.truncate(LISTED);
        UnknownName::Thread { given: thread.text().to_owned(), known, more }
    }
}

impl UnknownName {
    /// A wrong name is a wrong argument; a map that is missing is not.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            UnknownName::NoMap(_) => ExitCode::Incomplete,
            UnknownName::Pattern { .. } | UnknownName::Thread { .. } => ExitCode::Usage,
        }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |known: &[String], more: &usize| match more {
            0 => known.join(", "),
            more => format!("{} and {more} more", known.join(", ")),
        };
        match self {
            UnknownName::Pattern { given, what, known, more } => {
                let list = list(known, more);
                write!(f, "{given} matches no file, crate or function of this program; its {what}: {list}")
            }
            UnknownName::Thread { given, known, more } => {
                write!(f, "no thread is called {given}; the threads: {}", list(known, more))
            }
            UnknownName::NoMap(option) => {
                write!(
                    f,
                    "{option} needs the map of the program: without it no file or function has a name; --map FILE names it"
                )
            }
        }
    }
}

impl std::error::Error for UnknownName {}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(number: usize, tid: u32, name: &str) -> Ring {
        Ring { number, tid, thread_name: Some(name.to_owned()), ..Ring::default() }
    }

    fn threads(texts: &[&str]) -> Selection {
        Selection {
            threads: texts.iter().map(|text| ThreadPattern::new(text)).collect(),
            ..Selection::default()
        }
    }

    #[test]
    fn a_name_wins_over_a_number() {
        let rings = [ring(1, 3, "main"), ring(2, 1, "3"), ring(3, 2, "worker")];
        let rings: Vec<&Ring> = rings.iter().collect();
        let chosen = |texts: &[&str]| threads(texts).choose_threads(&rings).unwrap();
        assert_eq!(chosen(&["3"]), [false, true, false]);
        assert_eq!(chosen(&["2"]), [false, true, false]);
        assert_eq!(chosen(&["1", "work*"]), [true, false, true]);
        assert_eq!(chosen(&[]), [true; 3]);
        let error = threads(&["mian"]).choose_threads(&rings).unwrap_err().to_string();
        assert_eq!(error, "no thread is called mian; the threads: main, 3, worker");
    }

    fn map() -> Names {
        let head =
            r#"{"xhist":"map","version":3,"hash":"00000000000000ff","root":"/nowhere/app","tool":"0"}"#;
        let lines = [
            head,
            r#"{"file":1,"path":"src/main.rs","base":0}"#,
            r#"{"stmt":1,"line":2,"col":5,"end":"2:9","kind":"expr","fn":"main"}"#,
            r#"{"stmt":1,"line":5,"col":5,"end":"5:9","kind":"expr","fn":"run"}"#,
        ];
        Names::parse(lines.join("\n").as_bytes())
    }

    #[test]
    fn a_pattern_that_matches_nothing_is_an_error() {
        let selection = |only: &[&str], not: &[&str]| {
            let parse = |texts: &[&str]| texts.iter().map(|text| Pattern::parse(text).unwrap()).collect();
            Selection { only: parse(only), not: parse(not), ..Selection::default() }
        };
        let map = map();
        assert_eq!(selection(&["src/", "run", "app"], &["app::main"]).check(&[&map]), Ok(()));
        for (selection, text) in [
            (
                selection(&["tokio"], &[]),
                "--only tokio matches no file, crate or function of this program; its crates: app",
            ),
            (
                selection(&[], &["x.rs"]),
                "--not x.rs matches no file, crate or function of this program; its files: src/main.rs",
            ),
            (
                selection(&["main.rs:3-4"], &[]),
                "--only main.rs:3-4 matches no file, crate or function of this program; its files: src/main.rs",
            ),
        ] {
            assert_eq!(selection.check(&[&map]).unwrap_err().to_string(), text);
        }
        assert_eq!(selection(&["x"], &[]).check(&[&Names::default()]), Err(UnknownName::NoMap("--only")));
    }
}
