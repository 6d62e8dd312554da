//! Which files a crate is made of: from its root along `mod` and `include!`, so that UI tests,
//! templates and other `.rs` files that are data stay as they are.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use crate::normal::normal;

use rayon::prelude::*;

use crate::{Analysis, IncludeKind, Macros, ModDecl, Options, Refusal, analyze_among};

use super::workspace::Workspace;

/// A source file that a crate is made of.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) text: Vec<u8>,
    pub(super) analysis: Result<Analysis, Refusal>,
    /// Some crate that uses it is of edition 2015.
    pub(super) edition2015: bool,
}

/// Every file that was reached.
#[derive(Debug, Default)]
pub(super) struct Reached {
    /// Source files, by path.
    pub(super) sources: BTreeMap<PathBuf, Source>,
    /// Files that macros read as data.
    pub(super) data: BTreeSet<PathBuf>,
}

/// A file to look at, and where its modules lie.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Visit {
    file: PathBuf,
    modules_dir: PathBuf,
    edition2015: bool,
    /// Reached by `include!`: it may well be an expression, and is then left alone silently.
    included: bool,
}

impl Visit {
    fn new(file: PathBuf, owns_directory: bool, edition2015: bool) -> Visit {
        let directory = file.parent().unwrap_or(Path::new("")).to_path_buf();
        let stem = file.file_stem().unwrap_or_default();
        let modules_dir = if owns_directory || stem == "mod" { directory } else { directory.join(stem) };
        Visit { file, modules_dir, edition2015, included: false }
    }
}

/// Follows every target. Files are read and parsed once, in parallel.
pub(super) fn reach(
    workspace: &Workspace,
    options: &(impl Fn(&Path) -> Options + Sync),
    progress: impl Fn(usize) + Sync,
) -> Reached {
    let mut reached = Reached::default();
    let mut macros = Macros::default();
    workspace.packages.iter().for_each(|package| macros.add_crate(&package.name));
    let mut seen = HashSet::new();
    let mut wave: Vec<Visit> = workspace
        .targets
        .iter()
        .map(|target| Visit::new(target.root.clone(), true, target.edition2015))
        .collect();
    while !wave.is_empty() {
        wave.sort();
        wave.retain(|visit| seen.insert(visit.clone()));
        read(&wave, options, &mut macros, &mut reached);
        progress(reached.sources.len());
        let mut next = Vec::new();
        for visit in &wave {
            follow(visit, &mut reached, &mut next);
        }
        wave = next;
    }
    // A file that is code and data at once would change as data.
    reached.sources.retain(|path, _| !reached.data.contains(path));
    look_again(&mut reached, options, &macros);
    for (path, source) in &mut reached.sources {
        if let Ok(analysis) = &mut source.analysis {
            workspace.select(path, analysis);
        }
    }
    reached
}

/// Most macros stand in front of what calls them; these do not.
fn look_again(reached: &mut Reached, options: &(impl Fn(&Path) -> Options + Sync), macros: &Macros) {
    reached.sources.par_iter_mut().for_each(|(path, source)| {
        if source.analysis.as_ref().is_ok_and(|analysis| analysis.wants(macros)) {
            source.analysis = analyze_among(&source.text, &options(path), macros);
        }
    });
}

fn read(
    wave: &[Visit],
    options: &(impl Fn(&Path) -> Options + Sync),
    macros: &mut Macros,
    reached: &mut Reached,
) {
    let new: BTreeMap<&Path, &Visit> = wave
        .iter()
        .filter(|visit| !reached.sources.contains_key(&visit.file))
        .map(|visit| (visit.file.as_path(), visit))
        .collect();
    let texts: Vec<_> = new
        .into_par_iter()
        .filter_map(|(path, visit)| Some((path, visit.included, std::fs::read(path).ok()?)))
        .collect();
    texts.iter().for_each(|(path, _, text)| macros.add_file(path, text));
    let read: Vec<_> = texts
        .into_par_iter()
        .filter_map(|(path, included, text)| {
            let analysis = analyze_among(&text, &options(path), macros);
            // A table or an expression: included, but no module. The compiler will judge it.
            let is_module = analysis.is_ok() || !included;
            is_module.then(|| (path.to_path_buf(), Source { text, analysis, edition2015: false }))
        })
        .collect();
    reached.sources.extend(read);
    for visit in wave {
        if let Some(source) = reached.sources.get_mut(&visit.file) {
            source.edition2015 |= visit.edition2015;
        }
    }
}

fn follow(visit: &Visit, reached: &mut Reached, next: &mut Vec<Visit>) {
    let Some(Source { analysis: Ok(analysis), .. }) = reached.sources.get(&visit.file) else { return };
    let directory = visit.file.parent().unwrap_or(Path::new(""));
    for module in &analysis.modules {
        for (file, owns_directory) in candidates(visit, directory, module) {
            if file.is_file() {
                next.push(Visit::new(file, owns_directory, visit.edition2015));
            }
        }
    }
    for include in &analysis.includes {
        let file = normal(&directory.join(&include.path));
        if include.kind == IncludeKind::Code {
            next.push(Visit { included: true, ..Visit::new(file, true, visit.edition2015) });
        } else {
            reached.data.insert(file);
        }
    }
}

/// Where the file of a `mod` may be, and whether its own modules lie beside it.
fn candidates(visit: &Visit, directory: &Path, module: &ModDecl) -> Vec<(PathBuf, bool)> {
    let inside = inline_dirs(visit, directory, module);
    // `#[path]` starts at the file's directory, and inside inline modules at theirs.
    let path_bases = if module.inside.is_empty() { vec![directory.to_path_buf()] } else { inside.clone() };
    let mut files: Vec<_> = path_bases
        .iter()
        .flat_map(|base| module.paths.iter().map(move |path| (normal(&base.join(path)), true)))
        .collect();
    if !module.path_is_certain {
        for base in inside {
            files.push((base.join(format!("{}.rs", module.name)), false));
            files.push((base.join(&module.name).join("mod.rs"), true));
        }
    }
    files
}

/// The directories that inline modules around a `mod` may lead to.
fn inline_dirs(visit: &Visit, directory: &Path, module: &ModDecl) -> Vec<PathBuf> {
    let mut bases = vec![visit.modules_dir.clone()];
    for (depth, inline) in module.inside.iter().enumerate() {
        let mut deeper = Vec::new();
        for base in &bases {
            deeper.push(base.join(&inline.name));
            let start = if depth == 0 { directory } else { base };
            deeper.extend(inline.paths.iter().map(|path| normal(&start.join(path))));
        }
        bases = deeper;
    }
    bases
}
