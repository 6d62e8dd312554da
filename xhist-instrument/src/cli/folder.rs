//! Searches the paths on the command line for source files: in a fixed order, each file once.

use super::manifest::{Package, Packages};
use super::{Args, Fatal, console};
use crate::pipeline::Exemption;
use crate::select::trigger::Request;
use crate::select::{ManifestSettings, Selection, module_path, requests};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use walkdir::{DirEntry, WalkDir};

/// A file to work on.
pub struct FolderSource {
    /// The path as the user would write it.
    pub path: PathBuf,
    /// The absolute path, links resolved.
    pub real: PathBuf,
    /// The path below the output directory.
    pub below: PathBuf,
    pub package: Option<Arc<Package>>,
    /// It is Rust and selected.
    pub is_rust: bool,
    /// The command line thins its functions.
    pub thin: bool,
    /// The path that patterns of the command line are compared with.
    pub shown: PathBuf,
    /// Rust path of its module.
    pub module: String,
    /// Why it is left alone, known before reading it.
    pub rule: Option<Exemption>,
}

impl FolderSource {
    /// The settings in the manifests around it, its package's own first.
    pub fn manifests(&self) -> impl Iterator<Item = &ManifestSettings> {
        self.package.iter().flat_map(|package| &package.settings)
    }
}

/// All files that were found, and errors of the search.
#[derive(Default)]
pub struct FolderSources {
    pub sources: Vec<FolderSource>,
    pub errors: Vec<String>,
    /// The patterns of the command line.
    pub selection: Selection,
    /// Triggers of the command line, then those of the manifests.
    pub triggers: Vec<Request>,
    /// Directories that were searched.
    pub dirs: BTreeSet<PathBuf>,
    seen: HashSet<PathBuf>,
    seen_numbers: HashSet<(u64, u64)>,
    packages: Packages,
}

/// What the search is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Rust files, excluded ones too: they may have calls of an earlier run.
    Instrument,
    /// All files, for a copy of the tree.
    Copy,
    /// Rust files that the command line does not exclude.
    Strip,
}

/// Searches the paths of the command line.
pub fn find(args: &Args, purpose: Purpose) -> Result<FolderSources, Fatal> {
    let selection = Selection::new(&args.settings).map_err(Fatal::Pattern)?;
    let out_dir = args.out_dir.as_deref().and_then(|dir| dir.canonicalize().ok());
    // A wrong trigger of the command line is reported before the folders are searched.
    requests(&args.settings, [])?;
    let mut found = FolderSources { selection, ..FolderSources::default() };
    let mut any_rust = false;
    for path in &args.paths {
        if path == Path::new("-") {
            return Err(Fatal::StdinBesidePaths);
        }
        let base = match (args.paths.as_slice(), path.is_dir()) {
            ([_], true) => PathBuf::new(),
            _ => path.file_name().map(PathBuf::from).unwrap_or_default(),
        };
        let before = found.errors.len();
        let has_rust = found.walk(path, &base, out_dir.as_deref(), purpose);
        any_rust |= has_rust;
        // A directory of data may be copied beside others.
        if !has_rust && found.errors.len() == before && purpose != Purpose::Copy {
            found.errors.push(no_rust(path));
        }
    }
    if !any_rust && found.errors.is_empty() {
        found.errors.extend(args.paths.iter().map(|path| no_rust(path)));
    }
    if let Some(error) = found.packages.errors.first() {
        return Err(Fatal::Manifest(error.clone()));
    }
    let manifests = found.sources.iter().flat_map(FolderSource::manifests);
    found.triggers = requests(&args.settings, manifests)?;
    Ok(found)
}

fn no_rust(path: &Path) -> String {
    format!("{}: no Rust source (*.rs) in it", console::shown(path))
}

impl FolderSources {
    /// Searches one path. Returns whether there is a Rust source, selected or not.
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
            // A file named on the command line is Rust whatever its name.
            let is_rust = entry.depth() == 0 || path.extension().is_some_and(|extension| extension == "rs");
            let shown = if entry.depth() == 0 { path } else { below };
            let wanted = self.selection.wants_file(shown);
            let thin = self.selection.thins_file(shown);
            if !path.is_file() {
                continue;
            }
            has_rust |= is_rust;
            let is_needed = match purpose {
                Purpose::Instrument => is_rust,
                Purpose::Copy => true,
                Purpose::Strip => is_rust && wanted,
            };
            if is_needed {
                let kind = FileKind { is_rust, wanted, thin, is_in_place: purpose != Purpose::Copy };
                self.add(top, path, base.join(below), shown, kind);
            }
        }
        has_rust
    }

    /// Adds a file that was found, unless it has been added under another path.
    fn add(&mut self, top: &Path, path: &Path, below: PathBuf, shown: &Path, kind: FileKind) {
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
                .is_none_or(|package| package.settings.iter().all(|manifest| manifest.wants_file(&real)));
        let rule = if outside {
            Some(Exemption::OutsideTree)
        } else if kind.is_in_place && !self.is_first_name(&real) {
            Some(Exemption::HardLink)
        } else {
            let rule = exemption(&real, package.as_deref());
            rule.or((kind.is_rust && !wanted).then_some(Exemption::Excluded))
        };
        let module = package.as_ref().map_or_else(
            || module_path("crate", real.file_name().map_or(&real, Path::new)),
            |package| module_path(&package.name, real.strip_prefix(&package.dir).unwrap_or(&real)),
        );
        self.sources.push(FolderSource {
            path: path.to_path_buf(),
            real,
            below,
            package,
            is_rust: kind.is_rust && wanted,
            thin: kind.thin,
            shown: shown.to_path_buf(),
            module,
            rule,
        });
    }

    /// False for another name of a file that was found already: written in place, both names change.
    fn is_first_name(&mut self, real: &Path) -> bool {
        link_number(real).is_none_or(|number| self.seen_numbers.insert(number))
    }
}

/// What is known about a file without reading it.
struct FileKind {
    is_rust: bool,
    /// The command line does not exclude it.
    wanted: bool,
    thin: bool,
    /// Files are written in place, so all names of a file share the result.
    is_in_place: bool,
}

/// Identifies a file that has several names.
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

/// Why a file is left alone: its package or its name forbids calls.
fn exemption(real: &Path, package: Option<&Package>) -> Option<Exemption> {
    if real.with_extension("stderr").exists() {
        return Some(Exemption::UiTest);
    }
    let package = package?;
    if package.build == real {
        Some(Exemption::BuildScript)
    } else if package.proc_macro {
        Some(Exemption::ProcMacro)
    } else if ["xhist-rt", "xhist-qs", "critical-section"].contains(&package.name.as_str()) {
        Some(Exemption::Recorder)
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
