//! Which macros of other files are in scope in a file: those defined before its `mod` item, in the parent or above,
//! and those of `#[macro_use]` modules. They take precedence over all imports.

use crate::files::normal::normal;
use crate::text::{MacroScope, ModuleDeclaration};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The macros and modules of one file.
#[derive(Clone, Debug)]
pub(super) struct MacroFile {
    path: PathBuf,
    text: u64,
    len: usize,
    definitions: Vec<(String, Range<usize>)>,
    modules: Vec<ModuleDeclaration>,
}

impl MacroFile {
    pub fn new(path: &Path, text: &str, scope: &MacroScope) -> Self {
        let definitions = scope.definitions.iter().map(|found| (found.name.clone(), found.scope.clone()));
        Self {
            path: normal(path),
            text: crate::text::fingerprint(text.as_bytes()),
            len: scope.len,
            definitions: definitions.collect(),
            modules: scope.modules.clone(),
        }
    }
}

/// The macros of other files in scope, for each text.
#[derive(Clone, Debug, Default)]
pub(super) struct ModuleTree {
    by_text: HashMap<u64, (usize, InheritedMacros)>,
}

#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub(super) struct InheritedMacros {
    /// In scope in the whole file.
    pub everywhere: BTreeSet<String>,
    /// In scope after a `#[macro_use]` module.
    pub in_ranges: Vec<(String, Range<usize>)>,
}

impl ModuleTree {
    pub fn new(files: &[MacroFile]) -> Self {
        let by_path = files.iter().enumerate().map(|(index, file)| (file.path.as_path(), index)).collect();
        let mut builder = ModuleTreeBuilder {
            files,
            by_path,
            parents: BTreeMap::new(),
            starts: HashMap::new(),
            insides: HashMap::new(),
        };
        builder.link();
        let mut by_text: HashMap<u64, (usize, InheritedMacros)> = HashMap::new();
        for (index, file) in files.iter().enumerate() {
            let inherited =
                InheritedMacros { everywhere: builder.start(index), in_ranges: builder.inside(index) };
            let (_, known) = by_text.entry(file.text).or_insert_with(|| (index, inherited.clone()));
            if *known != inherited {
                // Two files with the same text and different scopes: neither is certain.
                *known = InheritedMacros::default();
            }
        }
        Self { by_text }
    }

    /// The index of the file with this text, and the macros in scope there.
    pub fn of(&self, text: u64) -> Option<(usize, &InheritedMacros)> {
        self.by_text.get(&text).map(|(file, inherited)| (*file, inherited))
    }
}

struct ModuleTreeBuilder<'f> {
    files: &'f [MacroFile],
    by_path: HashMap<&'f Path, usize>,
    /// The parents of each file, with the offset of the `mod` item.
    parents: BTreeMap<usize, Vec<(usize, usize)>>,
    /// Results, empty while they are computed: modules may form a cycle.
    starts: HashMap<usize, BTreeSet<String>>,
    insides: HashMap<usize, Vec<(String, Range<usize>)>>,
}

impl ModuleTreeBuilder<'_> {
    fn link(&mut self) {
        for (parent, file) in self.files.iter().enumerate() {
            for module in &file.modules {
                for child in self.children(parent, module) {
                    self.parents.entry(child).or_default().push((parent, module.at));
                }
            }
        }
    }

    /// The files that a `mod` item may refer to.
    fn children(&self, parent: usize, module: &ModuleDeclaration) -> Vec<usize> {
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

    /// Macros in scope at the start of a file, by every parent that loads it.
    fn start(&mut self, file: usize) -> BTreeSet<String> {
        if let Some(known) = self.starts.get(&file) {
            return known.clone();
        }
        self.starts.insert(file, BTreeSet::new());
        let mut names: Option<BTreeSet<String>> = None;
        for (parent, at) in self.parents.get(&file).cloned().unwrap_or_default() {
            let mut inherited = self.start(parent);
            let inside = self.inside(parent);
            let all = self.files[parent].definitions.iter().chain(&inside);
            inherited.extend(all.filter(|(_, scope)| scope.contains(&at)).map(|(name, _)| name.clone()));
            names = Some(match names {
                Some(names) => names.intersection(&inherited).cloned().collect(),
                None => inherited,
            });
        }
        let names = names.unwrap_or_default();
        self.starts.insert(file, names.clone());
        names
    }

    /// Macros that `#[macro_use]` modules in other files bring.
    fn inside(&mut self, file: usize) -> Vec<(String, Range<usize>)> {
        if let Some(known) = self.insides.get(&file) {
            return known.clone();
        }
        self.insides.insert(file, Vec::new());
        let files = self.files;
        let mut found = Vec::new();
        for module in files[file].modules.iter().filter(|module| !module.scope.is_empty()) {
            // Skip a module with two possible files, or none.
            let [child] = self.children(file, module)[..] else { continue };
            let below = self.inside(child);
            let all = files[child].definitions.iter().chain(&below);
            let leaving = all.filter(|(_, scope)| scope.end == files[child].len && !scope.is_empty());
            found.extend(leaving.map(|(name, _)| (name.clone(), module.scope.clone())));
        }
        self.insides.insert(file, found.clone());
        found
    }
}
