//! From the paths given to the files to work on, in a fixed order, each once.

use super::manifest::{Package, Packages};
use super::outcome::Rule;
use super::{Args, Fatal};
use crate::select::{Selection, Wishes, module_path};
use crate::trigger::Request;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use walkdir::{DirEntry, WalkDir};

/// A file to work on.
pub struct Source {
    /// As the user would write it.
    pub path: PathBuf,
    /// Absolute, links resolved.
    pub real: PathBuf,
    /// Below the output directory.
    pub below: PathBuf,
    pub package: Option<Arc<Package>>,
    pub is_rust: bool,
    /// The command line wants its functions thinned.
    pub thin: bool,
    /// Rust path of its module.
    pub module: String,
    /// Why it is left alone, known before reading it.
    pub rule: Option<Rule>,
}

impl Source {
    /// What the manifests around it say; its package's own comes first.
    pub fn wishes(&self) -> impl Iterator<Item = &Wishes> {
        self.package.iter().flat_map(|package| &package.wishes)
    }
}

/// Everything that was found, and what could not be.
#[derive(Default)]
pub struct Found {
    pub sources: Vec<Source>,
    pub errors: Vec<String>,
    /// What the command line wants.
    pub selection: Selection,
    /// Triggers of the command line, then those of the manifests.
    pub triggers: Vec<Request>,
    seen: HashSet<PathBuf>,
    packages: Packages,
}

/// Searches the paths of the command line. Files that are not Rust are found only when `all` are wanted.
pub fn find(args: &Args, all: bool) -> Result<Found, Fatal> {
    let selection = Selection::new(&args.include, &args.exclude, &args.thin)
        .map_err(|error| Fatal::Usage(error.to_string()))?;
    let out_dir = args.out_dir.as_deref().and_then(|dir| dir.canonicalize().ok());
    let triggers = Request::of_command_line(&args.start_at, &args.stop_at).map_err(Fatal::Usage)?;
    let mut found = Found { selection, triggers, ..Found::default() };
    for path in &args.paths {
        if path == Path::new("-") {
            return Err(Fatal::Usage("- (stdin) cannot be mixed with other paths".to_owned()));
        }
        let base = match (args.paths.as_slice(), path.is_dir()) {
            ([_], true) => PathBuf::new(),
            _ => path.file_name().map(PathBuf::from).unwrap_or_default(),
        };
        found.walk(path, &base, out_dir.as_deref(), all);
    }
    if let Some(error) = found.packages.errors.first() {
        return Err(Fatal::Usage(error.clone()));
    }
    for source in &found.sources {
        for request in source.wishes().flat_map(|wishes| &wishes.triggers) {
            // Sources share manifests.
            if !found.triggers.contains(request) {
                found.triggers.push(request.clone());
            }
        }
    }
    Ok(found)
}

impl Found {
    fn walk(&mut self, top: &Path, base: &Path, out_dir: Option<&Path>, all: bool) {
        let is_wanted = |entry: &DirEntry| {
            let is_out_dir = || out_dir.is_some() && entry.path().canonicalize().ok().as_deref() == out_dir;
            entry.depth() == 0
                || !(is_hidden(entry) || is_build_output(entry) || entry.file_type().is_dir() && is_out_dir())
        };
        for entry in WalkDir::new(top).sort_by_file_name().into_iter().filter_entry(is_wanted) {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let path = error.path().unwrap_or(top).display().to_string();
                    let cause = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                    self.errors.push(format!("{path}: {cause}"));
                    continue;
                }
            };
            let path = entry.path();
            let below = path.strip_prefix(top).unwrap_or(path);
            // A file named on the command line is Rust whatever it is called.
            let is_rust = entry.depth() == 0 || path.extension().is_some_and(|extension| extension == "rs");
            let shown = if entry.depth() == 0 { path } else { below };
            let wanted = self.selection.wants_file(shown);
            let thin = self.selection.thins_file(shown);
            if path.is_file() && (all || is_rust && wanted) {
                self.add(top, path, base.join(below), is_rust && wanted, thin);
            }
        }
    }

    fn add(&mut self, top: &Path, path: &Path, below: PathBuf, is_rust: bool, thin: bool) {
        let (Ok(real), Ok(top_real)) = (path.canonicalize(), top.canonicalize()) else {
            self.errors.push(format!("{}: cannot be resolved", path.display()));
            return;
        };
        if !self.seen.insert(real.clone()) {
            return;
        }
        let package = self.packages.around(real.parent().unwrap_or(&real));
        let outside = !real.starts_with(&top_real);
        let rule = if outside { Some(Rule::OutsideTree) } else { rule(&real, package.as_deref()) };
        let is_rust = is_rust
            && package
                .as_ref()
                .is_none_or(|package| package.wishes.iter().all(|wishes| wishes.wants_file(&real)));
        let module = package.as_ref().map_or_else(
            || module_path("crate", real.file_name().map_or(&real, Path::new)),
            |package| module_path(&package.name, real.strip_prefix(&package.dir).unwrap_or(&real)),
        );
        self.sources.push(Source {
            path: path.to_path_buf(),
            real,
            below,
            package,
            is_rust,
            thin,
            module,
            rule,
        });
    }
}

fn rule(real: &Path, package: Option<&Package>) -> Option<Rule> {
    if real.with_extension("stderr").exists() {
        return Some(Rule::UiTest);
    }
    let package = package?;
    if package.build == real {
        Some(Rule::BuildScript)
    } else if package.proc_macro {
        Some(Rule::ProcMacro)
    } else if ["xhist-rt", "qs-core", "critical-section"].contains(&package.name.as_str()) {
        Some(Rule::Recorder)
    } else {
        None
    }
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with('.')
}

/// Cargo's target directory; a module may well be called `target`.
fn is_build_output(entry: &DirEntry) -> bool {
    entry.file_type().is_dir()
        && (entry.path().join("CACHEDIR.TAG").is_file()
            || entry.file_name() == "target" && entry.path().with_file_name("Cargo.toml").is_file())
}
