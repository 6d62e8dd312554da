//! The module graph of the workspace: from the root file of each target along `mod` and `include!`. UI tests, templates and
//! other `.rs` files that are data are not in it and stay as they are.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use xhist_instrument::files::normal::normal;

use rayon::prelude::*;

use xhist_instrument::{Analysis, IncludeKind, Macros, ModDecl, Options, Refusal};

use crate::keep::facts::Fact;
use crate::workspace::Workspace;
use crate::workspace::kept_analyses::KeptAnalyses;

/// The files that the targets are made of.
#[derive(Debug, Default)]
pub(crate) struct ModuleGraph {
    /// Source files, by path.
    pub(crate) files: Vec<ModuleFile>,
    /// The analysis of each.
    pub(crate) analyses: Vec<Result<Analysis, Refusal>>,
    /// Files that macros read as data.
    pub(crate) data: BTreeSet<PathBuf>,
    /// Macros that are called across files.
    pub(crate) macros: Macros,
    /// Files that a module or an `include!` leads to. A root may be among them.
    pub(crate) inner: HashSet<PathBuf>,
    /// What was read and looked for.
    pub(crate) facts: Vec<Fact>,
}

/// A source file of a crate.
#[derive(Debug)]
pub(crate) struct ModuleFile {
    pub(crate) path: PathBuf,
    pub(crate) text: Vec<u8>,
    /// Some crate that uses it is of edition 2015.
    pub(crate) edition2015: bool,
}

/// A graph that is being built.
#[derive(Debug, Default)]
struct Growing {
    files: BTreeMap<PathBuf, Analysed>,
    data: BTreeSet<PathBuf>,
    macros: Macros,
    inner: HashSet<PathBuf>,
    facts: Vec<Fact>,
}

/// A file that was read.
#[derive(Debug)]
struct Analysed {
    text: Vec<u8>,
    analysis: Result<Analysis, Refusal>,
    edition2015: bool,
}

/// A file to visit, and the directory of its modules.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Visit {
    file: PathBuf,
    modules_dir: PathBuf,
    edition2015: bool,
    /// Reached by `include!`: it may be an expression, and is then left alone silently.
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

/// Follows every target, and the files that build scripts made. Files are read once and parsed at most once, in parallel. `progress` gets the number of files so far.
pub(crate) fn follow(
    workspace: &Workspace,
    (kept, generated): (&KeptAnalyses, &[PathBuf]),
    options: &(impl Fn(&Path) -> Options + Sync),
    progress: impl Fn(usize),
) -> ModuleGraph {
    let mut graph = Growing::default();
    workspace.packages.iter().for_each(|package| graph.macros.add_crate(&package.name));
    let mut seen = HashSet::new();
    let mut wave: Vec<Visit> = workspace
        .targets
        .iter()
        .map(|target| Visit::new(target.root.clone(), true, target.edition2015))
        .collect();
    let included = |file: &PathBuf| Visit { included: true, ..Visit::new(file.clone(), true, false) };
    wave.extend(generated.iter().map(included));
    while !wave.is_empty() {
        wave.sort();
        wave.retain(|visit| seen.insert(visit.clone()));
        graph.read(&wave, kept, options);
        progress(graph.files.len());
        wave = wave.iter().flat_map(|visit| graph.next(visit)).collect();
        graph.inner.extend(wave.iter().map(|visit| visit.file.clone()));
    }
    graph.finish(kept, options)
}

impl Growing {
    /// Reads and analyses the files of a wave that are new.
    fn read(&mut self, wave: &[Visit], kept: &KeptAnalyses, options: &(impl Fn(&Path) -> Options + Sync)) {
        let new: BTreeMap<&Path, &Visit> = wave
            .iter()
            .filter(|visit| !self.files.contains_key(&visit.file))
            .map(|visit| (visit.file.as_path(), visit))
            .collect();
        let read: Vec<_> =
            new.into_par_iter().map(|(path, visit)| (path, visit.included, Fact::text(path))).collect();
        self.facts.extend(read.iter().map(|(.., (fact, _))| fact.clone()));
        let texts: Vec<_> = read
            .into_iter()
            .filter_map(|(path, included, (_, text))| Some((path, included, text?)))
            .collect();
        texts.iter().for_each(|(path, _, text)| self.macros.add_file(path, text));
        let macros = &self.macros;
        let analysed: Vec<_> = texts
            .into_par_iter()
            .filter_map(|(path, included, text)| {
                let analysis = kept.of(&text, &options(path), macros);
                // An included file may be a table or an expression. The compiler will judge it.
                let is_module = analysis.is_ok() || !included;
                is_module.then(|| (path.to_path_buf(), Analysed { text, analysis, edition2015: false }))
            })
            .collect();
        self.files.extend(analysed);
        for visit in wave {
            if let Some(file) = self.files.get_mut(&visit.file) {
                file.edition2015 |= visit.edition2015;
            }
        }
    }

    /// The files that a visited one leads to.
    fn next(&mut self, visit: &Visit) -> Vec<Visit> {
        let Some(Analysed { analysis: Ok(analysis), .. }) = self.files.get(&visit.file) else {
            return Vec::new();
        };
        let directory = visit.file.parent().unwrap_or(Path::new(""));
        let modules = analysis.modules.iter().flat_map(|module| candidates(visit, directory, module));
        let (files, others): (Vec<_>, Vec<_>) = modules.partition(|(file, _)| file.is_file());
        self.facts.extend(others.iter().map(|(file, _)| Fact::presence(file)));
        let mut next: Vec<Visit> = files
            .into_iter()
            .map(|(file, owns_directory)| Visit::new(file, owns_directory, visit.edition2015))
            .collect();
        for include in &analysis.includes {
            let file = normal(&directory.join(&include.path));
            if include.kind == IncludeKind::Code {
                next.push(Visit { included: true, ..Visit::new(file, true, visit.edition2015) });
            } else {
                self.data.insert(file);
            }
        }
        next
    }

    /// The whole graph. Most macros are defined before the calls; files that call later ones are analysed again.
    fn finish(self, kept: &KeptAnalyses, options: &(impl Fn(&Path) -> Options + Sync)) -> ModuleGraph {
        let Self { mut files, data, macros, inner, facts } = self;
        // A file that is code and data at once would change as data.
        files.retain(|path, _| !data.contains(path));
        files.par_iter_mut().for_each(|(path, file)| {
            if file.analysis.as_ref().is_ok_and(|analysis| analysis.wants(&macros)) {
                file.analysis = kept.of(&file.text, &options(path), &macros);
            }
        });
        let split = |(path, Analysed { text, analysis, edition2015 })| {
            (ModuleFile { path, text, edition2015 }, analysis)
        };
        let (files, analyses) = files.into_iter().map(split).unzip();
        ModuleGraph { files, analyses, data, macros, inner, facts }
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
