//! From the paths given to the files to work on, in a fixed order, each once.

use super::manifest::{Package, Packages};
use super::outcome::Rule;
use super::{Args, Fatal, console};
use crate::select::{Selection, Wishes, module_path};
use crate::trigger::Request;
use std::collections::{BTreeSet, HashSet};
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
    /// Rust that is wanted.
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
    /// Directories that were searched.
    pub dirs: BTreeSet<PathBuf>,
    seen: HashSet<PathBuf>,
    seen_numbers: HashSet<(u64, u64)>,
    packages: Packages,
}

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Rust, also what is excluded: calls of an earlier run may be in it.
    Instrument,
    /// All files.
    Copy,
    /// Rust that the command line does not exclude.
    Strip,
}

/// Searches the paths of the command line.
pub fn find(args: &Args, purpose: Purpose) -> Result<Found, Fatal> {
    let selection = Selection::new(&args.include, &args.exclude, &args.thin)
        .map_err(|error| Fatal::Usage(error.to_string()))?;
    let out_dir = args.out_dir.as_deref().and_then(|dir| dir.canonicalize().ok());
    let triggers = Request::of_command_line(&args.start_at, &args.stop_at).map_err(Fatal::Usage)?;
    let mut found = Found { selection, triggers, ..Found::default() };
    let mut any_rust = false;
    for path in &args.paths {
        if path == Path::new("-") {
            return Err(Fatal::Usage("- (stdin) cannot be mixed with other paths".to_owned()));
        }
        let base = match (args.paths.as_slice(), path.is_dir()) {
            ([_], true) => PathBuf::new(),
            _ => path.file_name().map(PathBuf::from).unwrap_or_default(),
        };
        let before = found.errors.len();
        let has_rust = found.walk(path, &base, out_dir.as_deref(), purpose);
        any_rust |= has_rust;
        // A directory of data may well be copied beside others.
        if !has_rust && found.errors.len() == before && purpose != Purpose::Copy {
            found.errors.push(no_rust(path));
        }
    }
    if !any_rust && found.errors.is_empty() {
        found.errors.extend(args.paths.iter().map(|path| no_rust(path)));
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

fn no_rust(path: &Path) -> String {
    format!("{}: no Rust source (*.rs) in it", console::shown(path))
}

impl Found {
    /// Whether there is a Rust source, wanted or not.
    fn walk(&mut self, top: &Path, base: &Path, out_dir: Option<&Path>, purpose: Purpose) -> bool {
        let mut has_rust = false;
        let is_wanted = |entry: &DirEntry| {
            let is_out_dir = || out_dir.is_some() && entry.path().canonicalize().ok().as_deref() == out_dir;
            entry.depth() == 0
                || !(is_hidden(entry) || is_build_output(entry) || entry.file_type().is_dir() && is_out_dir())
        };
        for entry in WalkDir::new(top).sort_by_file_name().into_iter().filter_entry(is_wanted) {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let path = console::shown(error.path().unwrap_or(top));
                    let cause = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                    self.errors.push(format!("{path}: {cause}"));
                    continue;
                }
            };
            let path = entry.path();
            if entry.file_type().is_dir() {
                self.dirs.insert(path.to_path_buf());
                continue;
            }
            let below = path.strip_prefix(top).unwrap_or(path);
            // A file named on the command line is Rust whatever it is called.
            let is_rust = entry.depth() == 0 || path.extension().is_some_and(|extension| extension == "rs");
            let shown = if entry.depth() == 0 { path } else { below };
            let wanted = self.selection.wants_file(shown);
            let thin = self.selection.thins_file(shown);
            if !path.is_file() {
                continue;
            }
            has_rust |= is_rust;
            let looked_for = match purpose {
                Purpose::Instrument => is_rust,
                Purpose::Copy => true,
                Purpose::Strip => is_rust && wanted,
            };
            if looked_for {
                let kind = Kind { is_rust, wanted, thin, shares: purpose != Purpose::Copy };
                self.add(top, path, base.join(below), kind);
            }
        }
        has_rust
    }

    fn add(&mut self, top: &Path, path: &Path, below: PathBuf, kind: Kind) {
        let (Ok(real), Ok(top_real)) = (path.canonicalize(), top.canonicalize()) else {
            self.errors.push(format!("{}: cannot be resolved", console::shown(path)));
            return;
        };
        if !self.seen.insert(real.clone()) {
            return;
        }
        self.dirs.extend(real.parent().map(Path::to_path_buf));
        let package = self.packages.around(real.parent().unwrap_or(&real));
        let outside = !real.starts_with(&top_real);
        let wanted = kind.wanted
            && package
                .as_ref()
                .is_none_or(|package| package.wishes.iter().all(|wishes| wishes.wants_file(&real)));
        let rule = if outside {
            Some(Rule::OutsideTree)
        } else if kind.shares && !self.is_first_name(&real) {
            Some(Rule::HardLink)
        } else {
            let rule = rule(&real, package.as_deref());
            rule.or((kind.is_rust && !wanted).then_some(Rule::Excluded))
        };
        let module = package.as_ref().map_or_else(
            || module_path("crate", real.file_name().map_or(&real, Path::new)),
            |package| module_path(&package.name, real.strip_prefix(&package.dir).unwrap_or(&real)),
        );
        self.sources.push(Source {
            path: path.to_path_buf(),
            real,
            below,
            package,
            is_rust: kind.is_rust && wanted,
            thin: kind.thin,
            module,
            rule,
        });
    }

    /// False for a further name of a file that was found already: written in place, both change.
    fn is_first_name(&mut self, real: &Path) -> bool {
        link_number(real).is_none_or(|number| self.seen_numbers.insert(number))
    }
}

/// What is known of a file by its name.
struct Kind {
    is_rust: bool,
    /// The command line does not exclude it.
    wanted: bool,
    thin: bool,
    /// Names of one file share what is written.
    shares: bool,
}

/// What tells a file apart that has several names.
#[cfg(unix)]
fn link_number(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let meta = std::fs::metadata(path).ok()?;
    (meta.nlink() > 1).then(|| (meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn link_number(_path: &Path) -> Option<(u64, u64)> {
    None
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
