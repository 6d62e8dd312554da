//! The patterns `values`: what they select is the union over the command line and the manifests.

use super::patterns::Patterns;
use crate::site::analysis::Analysis;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Patterns that select values, each with a note of whether it selected any.
#[derive(Clone, Debug, Default)]
pub struct ValueSelection(Arc<[ValuePattern]>);

#[derive(Debug)]
struct ValuePattern {
    text: String,
    patterns: Patterns,
    is_used: AtomicBool,
}

/// The patterns for one file.
#[derive(Clone, Copy, Debug)]
pub struct ValueFilter<'a> {
    selection: &'a ValueSelection,
    file: &'a Path,
}

impl ValueSelection {
    /// # Errors
    /// One of the patterns is not a glob.
    pub fn new(patterns: &[String]) -> Result<Self, globset::Error> {
        let compile = |text: &String| {
            let patterns = Patterns::new(std::slice::from_ref(text))?;
            Ok(ValuePattern { text: text.clone(), patterns, is_used: AtomicBool::new(false) })
        };
        patterns.iter().map(compile).collect::<Result<_, _>>().map(Self)
    }

    /// The patterns for a file; `path` is relative to where they start.
    pub fn of_file<'a>(&'a self, path: &'a Path) -> ValueFilter<'a> {
        ValueFilter { selection: self, file: path }
    }

    /// Patterns that selected no binding so far.
    pub fn unused(&self) -> impl Iterator<Item = &str> {
        let unused = self.0.iter().filter(|pattern| !pattern.is_used.load(Ordering::Relaxed));
        unused.map(|pattern| pattern.text.as_str())
    }
}

impl ValueFilter<'_> {
    /// Whether values of this function are recorded.
    fn hits(&self, path: &str) -> bool {
        // Each pattern that hits is used, not only the first.
        self.selection.0.iter().fold(false, |hit, pattern| {
            let is_hit = pattern.patterns.hit_file(self.file) || pattern.patterns.hit_path(path);
            if is_hit {
                pattern.is_used.store(true, Ordering::Relaxed);
            }
            hit | is_hit
        })
    }

    /// Leaves only the bindings that one of these filters selects, in a file whose module has this Rust path.
    pub fn apply(filters: &[ValueFilter<'_>], module: &str, analysis: &mut Analysis) {
        if analysis.values.is_empty() && analysis.value_skips.is_empty() {
            return;
        }
        analysis.keep_values(|function| {
            let path = format!("{module}::{function}");
            filters.iter().fold(false, |hit, filter| hit | filter.hits(&path))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Values, analyze};

    #[test]
    fn patterns_select_the_bindings_of_functions_and_files() {
        let text =
            "fn a(x: u8) { let y = x; let z; fn b(w: u8) { w; } } struct T; impl T { fn c(v: u8) { v; } }";
        let names = |patterns: &[&str], file: &str| {
            let options = Options { values: Values::Eight, ..Options::default() };
            let mut analysis = analyze(text.as_bytes(), &options).unwrap();
            let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
            let selection = ValueSelection::new(&patterns).unwrap();
            ValueFilter::apply(&[selection.of_file(Path::new(file))], "k", &mut analysis);
            let values = analysis.values.iter().filter(|value| value.recorded);
            let values: Vec<&str> = values.map(|value| &*value.name).collect();
            (values.join(" "), analysis.value_skips.len(), selection.unused().count())
        };
        assert_eq!(names(&["**"], "src/a.rs"), ("x y w v".to_owned(), 1, 0));
        assert_eq!(names(&["src/a.rs"], "src/a.rs"), ("x y w v".to_owned(), 1, 0));
        assert_eq!(names(&["src/b.rs"], "src/a.rs"), (String::new(), 0, 1));
        assert_eq!(names(&["k::T"], "src/a.rs"), ("v".to_owned(), 0, 0));
        assert_eq!(names(&["**::c", "k::a::b", "k::x"], "src/a.rs"), ("w v".to_owned(), 0, 1));
        assert_eq!(names(&["k::a"], "src/a.rs"), ("x y w".to_owned(), 1, 0));
    }
}
