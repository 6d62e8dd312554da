//! A pattern of the command line: which files, crates or functions it names.

use std::fmt;

use super::glob::{Parts, matches};
use super::names::{SourceNames, split_path};

/// A pattern, as the user wrote it and as it is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    names: PatternKind,
    /// First and last line, if the pattern has any.
    lines: Option<(u32, u32)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternKind {
    /// Files: the beginning of a path, or its end.
    Files(Parts),
    /// The same of absolute paths: the beginning only.
    Absolute(Parts),
    /// A Rust path: any part of `crate::module::Type::function`.
    Path(Parts),
    /// A Rust path from the root of its crate on.
    Rooted(Parts),
    /// One word: a crate, or without such a crate a module, type or function.
    Word(String),
}

/// A text that is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    text: String,
    why: &'static str,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a pattern: {}", self.text, self.why)
    }
}

impl std::error::Error for PatternError {}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// It is empty, or its lines are not.
    pub fn parse(text: &str) -> Result<Pattern, PatternError> {
        let error = |why| PatternError { text: text.to_owned(), why };
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(error("it is empty"));
        }
        if trimmed.contains("::") {
            let parts: Vec<&str> = split_path(trimmed).filter(|part| !part.is_empty()).collect();
            let (is_rooted, parts) = match parts.split_first() {
                Some((&"crate", rest)) => (true, rest),
                _ => (false, &parts[..]),
            };
            let parts = Parts::new(parts.iter().copied()).ok_or_else(|| error("it names nothing"))?;
            let names = if is_rooted { PatternKind::Rooted(parts) } else { PatternKind::Path(parts) };
            return Ok(Pattern { text: trimmed.to_owned(), names, lines: None });
        }
        let (file, lines) = match trimmed.rsplit_once(':') {
            Some((file, lines)) => {
                (file, Some(line_range(lines).ok_or_else(|| error("a line is a number from 1"))?))
            }
            None => (trimmed, None),
        };
        let is_file = lines.is_some() || file.contains('/') || file.ends_with(".rs");
        if !is_file {
            return Ok(Pattern {
                text: trimmed.to_owned(),
                names: PatternKind::Word(file.to_owned()),
                lines,
            });
        }
        let parts = file.split('/').filter(|part| !matches!(*part, "" | "."));
        let parts = Parts::new(parts).ok_or_else(|| error("it names no file"))?;
        let names =
            if file.starts_with('/') { PatternKind::Absolute(parts) } else { PatternKind::Files(parts) };
        Ok(Pattern { text: trimmed.to_owned(), names, lines })
    }

    /// The pattern as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The first and the last line that it names.
    pub fn lines(&self) -> Option<(u32, u32)> {
        self.lines
    }

    /// Whether it names a file, not a function.
    pub fn is_about_files(&self) -> bool {
        matches!(self.names, PatternKind::Files(_) | PatternKind::Absolute(_))
    }

    /// Whether it names a place: its file, its function, or a name in it as the last part of the path. A project has no
    /// crate of that name.
    pub fn is_of(&self, root: &str, path: &str, name: &str, line: u32) -> bool {
        self.matches(&SourceNames::new(root, path, None), Some(name), line, &[])
    }

    /// Whether it matches something in this file, if no function of the file is known.
    pub(super) fn is_about(&self, source: &SourceNames, crates: &[String]) -> bool {
        self.matches(source, None, self.lines.map_or(0, |(first, _)| first), crates)
    }

    /// Whether it matches a statement in this line of a function.
    pub(super) fn matches(
        &self,
        source: &SourceNames,
        function: Option<&str>,
        line: u32,
        crates: &[String],
    ) -> bool {
        if self.lines.is_some_and(|(first, last)| !(first..=last).contains(&line)) {
            return false;
        }
        match &self.names {
            PatternKind::Files(parts) => {
                let names = source.path();
                parts.covers(&names) || parts.ends(&names)
            }
            PatternKind::Absolute(parts) => source.absolute().is_some_and(|names| parts.covers(&names)),
            PatternKind::Path(parts) => {
                source.crates().iter().any(|root| parts.are_in(&with_crate(root, source, function)))
            }
            PatternKind::Rooted(parts) => parts.covers(&source.rust_path(function)),
            PatternKind::Word(word) => {
                let word = word.replace('-', "_");
                if crates.iter().any(|name| matches(&word, name)) {
                    return source.crates().iter().any(|name| matches(&word, name));
                }
                let names = source.rust_path(function);
                names.iter().flatten().any(|name| matches(&word, name))
            }
        }
    }
}

/// The Rust path of a function, with the name of its crate.
fn with_crate<'n>(root: &'n str, source: &'n SourceNames, function: Option<&'n str>) -> Vec<Vec<&'n str>> {
    std::iter::once(vec![root]).chain(source.rust_path(function)).collect()
}

/// Lines as a user types them: `7` or `7-9`.
pub fn line_range(text: &str) -> Option<(u32, u32)> {
    let line = |text: &str| text.parse().ok().filter(|line| *line > 0);
    match text.split_once('-') {
        Some((first, last)) => line(first).zip(line(last)),
        None => line(text).map(|line| (line, line)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(pattern: &str, path: &str, function: &str, line: u32) -> bool {
        let crates = ["my_app", "tokio"].map(str::to_owned);
        let source = SourceNames::new("/home/me/my-app", path, None);
        Pattern::parse(pattern).unwrap().matches(&source, Some(function), line, &crates)
    }

    #[test]
    fn files_are_named_by_the_beginning_or_the_end_of_their_paths() {
        for (pattern, path, expected) in [
            ("src/", "src/net/tcp.rs", true),
            ("src/net", "src/net/tcp.rs", true),
            ("./src/net/tcp.rs", "src/net/tcp.rs", true),
            ("tcp.rs", "src/net/tcp.rs", true),
            ("net/*.rs", "src/net/tcp.rs", true),
            ("*.rs", "src/net/tcp.rs", true),
            ("net/", "src/net/tcp.rs", false),
            ("**/net/", "src/net/tcp.rs", true),
            ("cp.rs", "src/net/tcp.rs", false),
            ("/home/me/my-app/src", "src/net/tcp.rs", true),
            ("/src", "src/net/tcp.rs", false),
            ("src/", "/home/me/.cargo/registry/src/x/tokio-1.54.1/src/lib.rs", false),
            ("tcp.rs:7", "src/net/tcp.rs", true),
            ("tcp.rs:5-7", "src/net/tcp.rs", true),
            ("src/net/tcp.rs:8", "src/net/tcp.rs", false),
        ] {
            assert_eq!(is_match(pattern, path, "f", 7), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn functions_are_named_by_any_part_of_their_paths() {
        for (pattern, function, expected) in [
            ("net::tcp", "f", true),
            ("tcp::f", "f", true),
            ("my_app::net", "f", true),
            ("::f", "f", true),
            ("::f", "ff", false),
            ("net::f", "f", false),
            ("net::**::f", "f", true),
            ("crate::net", "f", true),
            ("crate::tcp", "f", false),
            ("Socket::re*", "Socket::<T>::read", false),
            ("Socket::re*", "Socket::read", true),
            ("Socket::drop", "<Socket<'_> as Drop>::drop", true),
            ("Drop::drop", "<Socket<'_> as core::ops::Drop>::drop", true),
            ("tcp::Socket", "<Socket<'_> as Drop>::drop", true),
        ] {
            assert_eq!(is_match(pattern, "src/net/tcp.rs", function, 1), expected, "{pattern} {function}");
        }
    }

    #[test]
    fn a_word_names_a_crate_or_else_a_part_of_a_path() {
        let dependency = "/home/me/.cargo/registry/src/x/tokio-1.54.1/src/net/lib.rs";
        for (pattern, path, function, expected) in [
            ("tokio", dependency, "f", true),
            ("tok*", dependency, "f", true),
            // That is a crate here.
            ("tokio", "src/main.rs", "tokio", false),
            ("my-app", "src/main.rs", "f", true),
            ("my_app", "src/main.rs", "f", true),
            ("net", "src/net/tcp.rs", "f", true),
            ("f", "src/net/tcp.rs", "f", true),
            ("f", "src/net/tcp.rs", "T::f", true),
            ("g", "src/net/tcp.rs", "T::f", false),
        ] {
            assert_eq!(is_match(pattern, path, function, 1), expected, "{pattern} {path} {function}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_pattern_or_an_error(text in "[a-z:./*?<> -]{0,40}|\\PC{0,20}", path in "[a-z./-]{0,30}|\\PC{0,20}") {
            if let Ok(pattern) = Pattern::parse(&text) {
                let source = SourceNames::new("/p", &path, None);
                let _ = pattern.matches(&source, Some(&text), 1, &[]);
                proptest::prop_assert_eq!(Pattern::parse(pattern.text()), Ok(pattern));
            }
        }
    }

    #[test]
    fn what_is_not_a_pattern_is_refused() {
        for text in ["", " ", "::", "/", "./", "a.rs:0", "a.rs:x", "a.rs:2-", "crate::"] {
            let error = Pattern::parse(text).expect_err(text).to_string();
            assert!(error.contains(text) && error.contains("is not a pattern"), "{error}");
        }
    }
}
