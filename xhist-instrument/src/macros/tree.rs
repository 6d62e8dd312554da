//! Which macros of other files reach into one: those that are defined in front of its `mod`, there or above, also by a
//! `#[macro_use]` module. What the compiler finds so comes before all that is imported.

use crate::normal::normal;
use crate::text::{Module, Scope};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hasher as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Identifies a text.
pub(super) fn fingerprint(text: &str) -> u64 {
    let mut hash = DefaultHasher::new();
    hash.write(text.as_bytes());
    hash.finish()
}

/// What one file says, as far as other files care.
#[derive(Clone, Debug)]
pub(super) struct File {
    path: PathBuf,
    text: u64,
    len: usize,
    reaches: Vec<(String, Range<usize>)>,
    modules: Vec<Module>,
    pub of_text: Arc<super::OfText>,
}

impl File {
    pub fn new(path: &Path, text: &str, scope: &Scope) -> Self {
        let reaches = scope.definitions.iter().map(|found| (found.name.clone(), found.reach.clone()));
        Self {
            path: normal(path),
            text: fingerprint(text),
            len: scope.len,
            reaches: reaches.collect(),
            modules: scope.modules.clone(),
            of_text: Arc::default(),
        }
    }
}

/// Names that reach into files, and those that reach on from some place in them.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    by_text: HashMap<u64, (usize, Reaching)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reaching {
    /// At the start of the file, and all over it.
    pub start: BTreeSet<String>,
    /// Behind a `#[macro_use]` module.
    pub inside: Vec<(String, Range<usize>)>,
}

impl Tree {
    pub fn new(files: &[File]) -> Self {
        let by_path = files.iter().enumerate().map(|(index, file)| (file.path.as_path(), index)).collect();
        let mut builder = Builder {
            files,
            by_path,
            parents: BTreeMap::new(),
            starts: HashMap::new(),
            insides: HashMap::new(),
        };
        builder.link();
        let mut by_text: HashMap<u64, (usize, Reaching)> = HashMap::new();
        for (index, file) in files.iter().enumerate() {
            let reaching = Reaching { start: builder.start(index), inside: builder.inside(index) };
            let (_, known) = by_text.entry(file.text).or_insert_with(|| (index, reaching.clone()));
            if *known != reaching {
                // The same text at two places: nothing is sure.
                *known = Reaching::default();
            }
        }
        Self { by_text }
    }

    /// The file with this text, and what reaches into it.
    pub fn of(&self, text: u64) -> Option<(usize, &Reaching)> {
        self.by_text.get(&text).map(|(file, reaching)| (*file, reaching))
    }
}

struct Builder<'f> {
    files: &'f [File],
    by_path: HashMap<&'f Path, usize>,
    /// The files that have this one as a module, and where.
    parents: BTreeMap<usize, Vec<(usize, usize)>>,
    /// Nothing while it is under way: a file may lead to itself.
    starts: HashMap<usize, BTreeSet<String>>,
    insides: HashMap<usize, Vec<(String, Range<usize>)>>,
}

impl Builder<'_> {
    fn link(&mut self) {
        for (parent, file) in self.files.iter().enumerate() {
            for module in &file.modules {
                for child in self.children(parent, module) {
                    self.parents.entry(child).or_default().push((parent, module.at));
                }
            }
        }
    }

    /// The files that a `mod` may mean.
    fn children(&self, parent: usize, module: &Module) -> Vec<usize> {
        let path = &self.files[parent].path;
        let dir = path.parent().unwrap_or(Path::new(""));
        let own = dir.join(path.file_stem().unwrap_or_default());
        let mut found = BTreeSet::new();
        for base in [dir, &own] {
            let inside = module.inside.iter().fold(base.to_path_buf(), |dir, name| dir.join(name));
            let default =
                [inside.join(format!("{}.rs", module.name)), inside.join(&module.name).join("mod.rs")];
            let named = module.paths.iter().flat_map(|path| [dir.join(path), inside.join(path)]);
            let paths = default.into_iter().chain(named).map(|path| normal(&path));
            found.extend(paths.filter_map(|path| self.by_path.get(path.as_path()).copied()));
        }
        found.remove(&parent);
        found.into_iter().collect()
    }

    /// What reaches to the start of a file, whichever way the compiler comes to it.
    fn start(&mut self, file: usize) -> BTreeSet<String> {
        if let Some(known) = self.starts.get(&file) {
            return known.clone();
        }
        self.starts.insert(file, BTreeSet::new());
        let mut names: Option<BTreeSet<String>> = None;
        for (parent, at) in self.parents.get(&file).cloned().unwrap_or_default() {
            let mut reaching = self.start(parent);
            let inside = self.inside(parent);
            let all = self.files[parent].reaches.iter().chain(&inside);
            reaching.extend(all.filter(|(_, reach)| reach.contains(&at)).map(|(name, _)| name.clone()));
            names = Some(match names {
                Some(names) => names.intersection(&reaching).cloned().collect(),
                None => reaching,
            });
        }
        let names = names.unwrap_or_default();
        self.starts.insert(file, names.clone());
        names
    }

    /// What `#[macro_use]` modules in other files bring.
    fn inside(&mut self, file: usize) -> Vec<(String, Range<usize>)> {
        if let Some(known) = self.insides.get(&file) {
            return known.clone();
        }
        self.insides.insert(file, Vec::new());
        let files = self.files;
        let mut found = Vec::new();
        for module in files[file].modules.iter().filter(|module| !module.reach.is_empty()) {
            // It may be in either place, or in none of these files.
            let [child] = self.children(file, module)[..] else { continue };
            let below = self.inside(child);
            let all = files[child].reaches.iter().chain(&below);
            let leaving = all.filter(|(_, reach)| reach.end == files[child].len && !reach.is_empty());
            found.extend(leaving.map(|(name, _)| (name.clone(), module.reach.clone())));
        }
        self.insides.insert(file, found.clone());
        found
    }
}
