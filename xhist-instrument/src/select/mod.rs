//! Which files and functions are instrumented: the patterns of the command line, and of
//! `[package.metadata.xhist]` and `[workspace.metadata.xhist]`.
//!
//! A pattern with `::` is a glob over Rust paths such as `my_crate::parser::Lexer::next`; any other is one over files.
//! A pattern that matches a directory, module or type covers everything in it. `exclude` wins over `include`.
//! Functions that match `thin` record only their entry. The values of what matches `values` are recorded.

mod patterns;
pub mod trigger;
mod values;

pub use values::{ValueFilter, ValueSelection};

use crate::Settings;
use crate::select::trigger::{Request, TriggerError};
use crate::site::analysis::Analysis;
use patterns::Patterns;
use serde::{Deserialize, Deserializer};
use std::fmt::{self, Display};
use std::path::{Component, Path, PathBuf};

/// The table `metadata.xhist` of one manifest.
#[derive(Clone, Debug)]
pub struct ManifestSettings {
    /// The directory of the manifest, where the paths of its patterns start.
    pub dir: PathBuf,
    /// The table itself.
    pub settings: Settings,
    /// Its patterns.
    pub selection: Selection,
    /// Where recording starts and stops.
    pub triggers: Vec<Request>,
}

/// Why a table `metadata.xhist` cannot be used.
#[derive(Debug)]
pub enum SettingsError {
    /// It has an unknown key, or a value of the wrong type.
    Table(String),
    /// A pattern is not a glob.
    Pattern(globset::Error),
    /// A trigger is not of the form `FILE:LINE#HIT+AFTER`.
    Trigger(TriggerError),
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(error) => f.write_str(error.trim_end()),
            Self::Pattern(error) => write!(f, "{error}"),
            Self::Trigger(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for SettingsError {}

impl ManifestSettings {
    /// Reads the table of the manifest in this directory.
    ///
    /// # Errors
    /// The table has an unknown key, a value of the wrong type, or a pattern or trigger that cannot be read.
    pub fn new<'de>(
        dir: &Path,
        table: impl Deserializer<'de, Error: Display>,
    ) -> Result<Self, SettingsError> {
        let settings =
            Settings::deserialize(table).map_err(|error| SettingsError::Table(error.to_string()))?;
        let selection = Selection::new(&settings).map_err(SettingsError::Pattern)?;
        let triggers = Request::of_manifest(dir, &settings).map_err(SettingsError::Trigger)?;
        Ok(Self { dir: dir.to_path_buf(), settings, selection, triggers })
    }

    /// The values of a file, given by its absolute path, that the patterns select.
    pub fn values_of<'a>(&'a self, file: &'a Path) -> ValueFilter<'a> {
        self.selection.values.of_file(file.strip_prefix(&self.dir).unwrap_or(file))
    }

    /// Whether the patterns select a file, given by its absolute path.
    pub fn wants_file(&self, file: &Path) -> bool {
        self.selection.wants_file(file.strip_prefix(&self.dir).unwrap_or(file))
    }

    /// Whether every function of a file, given by its absolute path, is thinned.
    pub fn thins_file(&self, file: &Path) -> bool {
        self.selection.thins_file(file.strip_prefix(&self.dir).unwrap_or(file))
    }
}

/// The triggers of a command line, then those of manifests, each once: files share manifests.
///
/// # Errors
/// A trigger of the command line is not of the form `FILE:LINE#HIT+AFTER`.
pub fn requests<'a>(
    command_line: &Settings,
    manifests: impl IntoIterator<Item = &'a ManifestSettings>,
) -> Result<Vec<Request>, TriggerError> {
    let mut found = Request::of_command_line(command_line)?;
    for request in manifests.into_iter().flat_map(|manifest| &manifest.triggers) {
        if !found.contains(request) {
            found.push(request.clone());
        }
    }
    Ok(found)
}

/// Compiled patterns.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    include: Patterns,
    exclude: Patterns,
    thin: Patterns,
    values: ValueSelection,
}

impl Selection {
    /// # Errors
    /// One of the patterns is not a glob.
    pub fn new(Settings { include, exclude, thin, values, .. }: &Settings) -> Result<Self, globset::Error> {
        let [include, exclude, thin] = [include, exclude, thin].map(|patterns| Patterns::new(patterns));
        Ok(Self { include: include?, exclude: exclude?, thin: thin?, values: ValueSelection::new(values)? })
    }

    /// The patterns `values`.
    pub fn values(&self) -> &ValueSelection {
        &self.values
    }

    /// `path` is relative to where the patterns start.
    pub fn wants_file(&self, path: &Path) -> bool {
        (!self.include.has_files() || self.include.hit_file(path)) && !self.exclude.hit_file(path)
    }

    /// Whether every function of a file is thinned. `path` as in [`Selection::wants_file`].
    pub fn thins_file(&self, path: &Path) -> bool {
        self.thin.hit_file(path)
    }

    /// `path` is a Rust path that starts with the crate.
    pub fn wants_path(&self, path: &str) -> bool {
        (!self.include.has_paths() || self.include.hit_path(path)) && !self.exclude.hit_path(path)
    }

    /// Whether some pattern that leaves things out is one over Rust paths.
    fn is_about_paths(&self) -> bool {
        self.include.has_paths() || self.exclude.has_paths()
    }

    /// Removes what is not selected from the analysis of a selected file, whose module has this Rust path. `thins`: all
    /// its functions are thinned.
    pub fn apply(&self, module: &str, thins: bool, analysis: &mut Analysis) {
        if self.is_about_paths() {
            analysis.leave_out(|function| !self.wants_path(&format!("{module}::{function}")));
        }
        if thins || self.thin.has_paths() {
            analysis.thin(|function| thins || self.thin.hit_path(&format!("{module}::{function}")));
        }
    }
}

/// The Rust path of the module in a file, guessed from the place of the file in its package: `#[path]` is not considered.
pub fn module_path(package: &str, file: &Path) -> String {
    let mut parts: Vec<&str> = file
        .components()
        .filter_map(|part| match part {
            Component::Normal(part) => part.to_str(),
            _ => None,
        })
        .collect();
    let root = match parts.as_slice() {
        ["src", "bin", ..] => Some(2),
        ["tests" | "examples" | "benches", ..] => Some(1),
        _ => None,
    };
    let stem = parts.pop().map(|name| name.strip_suffix(".rs").unwrap_or(name));
    if !matches!(stem, Some("mod")) {
        parts.extend(stem);
    }
    let mut path = match root {
        // Each file, or directory with a `main.rs`, is a crate of its own.
        Some(root) => parts.get(root..).unwrap_or_default().to_vec(),
        None => {
            let inside = parts.strip_prefix(&["src"]).unwrap_or(&parts);
            std::iter::once(package).chain(inside.iter().copied()).collect()
        }
    };
    if path.len() > 1 && matches!(path.last(), Some(&("main" | "lib"))) {
        path.pop();
    }
    path.join("::").replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(include: &[&str], exclude: &[&str]) -> Selection {
        let owned =
            |patterns: &[&str]| patterns.iter().map(|&pattern| pattern.to_owned()).collect::<Vec<_>>();
        let (include, exclude) = (owned(include), owned(exclude));
        Selection::new(&Settings { include, exclude, ..Settings::default() }).unwrap()
    }

    #[test]
    fn exclude_wins_and_covers_directories() {
        let wants = |include: &[&str], exclude: &[&str], path| {
            selection(include, exclude).wants_file(Path::new(path))
        };
        assert!(wants(&[], &[], "src/a.rs"));
        assert!(!wants(&[], &["src/gen"], "src/gen/a.rs"));
        assert!(!wants(&["**/*.rs"], &["*/a.rs"], "src/a.rs"));
        assert!(!wants(&["tests/*"], &[], "src/a.rs"));
        assert!(wants(&["a::b"], &["c::d"], "src/a.rs"));
    }

    #[test]
    fn a_path_covers_what_is_inside_it() {
        let wants = |include: &[&str], exclude: &[&str], path| selection(include, exclude).wants_path(path);
        assert!(!wants(&[], &["a::b"], "a::b::T::f"));
        assert!(wants(&[], &["a::b"], "a::bc::f"));
        assert!(!wants(&[], &["**::drop"], "a::T::drop"));
        assert!(wants(&[], &["*::drop"], "a::T::drop"));
        assert!(!wants(&["a::**"], &[], "b::f"));
        assert!(!wants(&["a::**"], &["a::hot"], "a::hot"));
        assert!(wants(&["src/*.rs"], &[], "a::f"));
    }

    #[test]
    fn thinned_functions_keep_their_first_statement() {
        let text = "fn a() { fn in_a() { x(); } fn b() {} if c { d(); } || e; }
mod m { impl T { fn f(&self) { #[cfg(x)] g(); h(); i(); } } }
impl T { fn f() { j(); k(); } } impl U for T { fn f() { l(); m(); } } static S: F = || { n(); o() };";
        let left = |thin: &[&str], whole_file| {
            let thin: Vec<String> = thin.iter().map(|&pattern| pattern.to_owned()).collect();
            let mut analysis = crate::analyze(text.as_bytes(), &crate::Options::default()).unwrap();
            let before = analysis.sites.len();
            let thin = Settings { thin, ..Settings::default() };
            Selection::new(&thin).unwrap().apply("k", whole_file, &mut analysis);
            assert_eq!(before, analysis.sites.len() + analysis.skips.len());
            let texts = analysis.sites.iter().map(|site| &text[site.range.clone()]);
            texts.map(|text| text.split(['(', ' ']).next().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
        };
        let all = "x if d || e g h i j k l m n o";
        assert_eq!(left(&["k::other"], false), all);
        assert_eq!(left(&["k::a"], false), "if g h i j k l m n o");
        assert_eq!(left(&["**::in_a"], false), all);
        assert_eq!(left(&["k::T"], false), "x if d || e g h i j l n o");
        assert_eq!(left(&["k::m"], false), "x if d || e g h j k l m n o");
        assert_eq!(left(&["a.rs"], false), all);
        assert_eq!(left(&[], true), "if g h j l n o");
    }

    #[test]
    fn modules_are_named_by_their_files() {
        for (file, path) in [
            ("src/lib.rs", "my_crate"),
            ("src/main.rs", "my_crate"),
            ("src/a.rs", "my_crate::a"),
            ("src/a/mod.rs", "my_crate::a"),
            ("src/a/b.rs", "my_crate::a::b"),
            ("src/bin/tool.rs", "tool"),
            ("src/bin/tool/main.rs", "tool"),
            ("tests/it/main.rs", "it"),
            ("tests/it/part.rs", "it::part"),
            ("examples/one.rs", "one"),
            ("lib.rs", "my_crate"),
        ] {
            assert_eq!(module_path("my-crate", Path::new(file)), path, "{file}");
        }
    }
}
