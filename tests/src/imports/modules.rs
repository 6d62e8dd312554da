//! The modules of a crate as its files declare them, and the file that defines what a path names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{Attribute, Expr, ExprLit, Item, ItemMod, ItemUse, Lit, Meta, Token, UseTree, Visibility};

/// What a name of a module may be. One name may be several things, each under another `cfg`.
enum Name {
    Module(usize),
    Item,
    Import(Vec<String>),
}

/// A module in a file of its own or in its parent's.
pub struct Module {
    pub file: PathBuf,
    pub items: Vec<Item>,
    parent: Option<usize>,
    names: BTreeMap<String, Vec<Name>>,
    globs: Vec<Vec<String>>,
}

/// What a path names: a module, or an item of it.
#[derive(Clone, Copy)]
pub struct Definition {
    pub module: usize,
    pub is_item: bool,
}

/// Features that are on or off. Code that depends on any other feature is included.
pub type Features = &'static [(&'static str, bool)];

/// All modules of a crate. The first one is its root.
pub struct Modules {
    /// The modules.
    pub all: Vec<Module>,
    features: Features,
}

impl Modules {
    /// Reads a crate from its root file on. Modules that only tests compile are left out.
    pub fn read(root: &Path, features: Features) -> Modules {
        let mut modules = Modules { all: Vec::new(), features };
        modules.add_file(root, None, root.parent().expect("a folder"));
        modules
    }

    /// What a path in a module names; nothing for a path of another crate and for a local name.
    pub fn resolve(&self, module: usize, path: &[String]) -> Vec<Definition> {
        self.resolved(module, path, &mut Vec::new())
    }

    /// `folder` is where the files of the module's own modules are.
    fn add_file(&mut self, file: &Path, parent: Option<usize>, folder: &Path) -> usize {
        let text =
            std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.add(file, parent, folder, parsed.items)
    }

    fn add(&mut self, file: &Path, parent: Option<usize>, folder: &Path, items: Vec<Item>) -> usize {
        let index = self.all.len();
        let (names, globs) = Default::default();
        self.all.push(Module { file: file.to_owned(), items: Vec::new(), parent, names, globs });
        let (left_out, mut items): (Vec<Item>, Vec<Item>) =
            items.into_iter().partition(|item| is_left_out(attributes(item), self.features));
        for name in left_out.iter().filter_map(name) {
            // The name is known, but nothing that it names is compiled.
            self.all[index].names.entry(name).or_default();
        }
        for item in &mut items {
            match item {
                Item::Mod(child) => self.declare(index, folder, child),
                Item::Macro(defined) if has(&defined.attrs, "macro_export") => {
                    let name = defined.ident.as_ref().expect("a name").to_string();
                    self.all[0].names.entry(name).or_default().push(Name::Import(vec!["self".into()]));
                }
                _ => {}
            }
            if let Some(name) = name(item) {
                self.all[index].names.entry(name).or_default().push(Name::Item);
            }
        }
        let mut uses = Uses { leaves: Vec::new(), features: self.features };
        items.iter().for_each(|item| uses.visit_item(item));
        for path in uses.leaves {
            let module = &mut self.all[index];
            match path.name.as_str() {
                "*" => module.globs.push(path.segments),
                _ => module.names.entry(path.name).or_default().push(Name::Import(path.segments)),
            }
        }
        self.all[index].items = items;
        index
    }

    fn declare(&mut self, parent: usize, folder: &Path, child: &mut ItemMod) {
        let name = child.ident.to_string();
        let inside = folder.join(&name);
        let file = self.all[parent].file.clone();
        let added = match child.content.take() {
            Some((_, items)) => vec![self.add(&file, Some(parent), &inside, items)],
            None => {
                let beside = file.parent().expect("a folder");
                // Such a file has its modules beside it.
                let named = paths(&child.attrs).into_iter().map(|path| beside.join(path));
                let named = named.map(|path| (path.clone(), path.parent().expect("a folder").to_owned()));
                let usual = [folder.join(format!("{name}.rs")), inside.join("mod.rs")];
                // A `cfg_attr` may not hold. Otherwise the compiler looks at the named place only.
                let is_usual = !has(&child.attrs, "path");
                let usual = usual.into_iter().filter(|_| is_usual).map(|path| (path, inside.clone()));
                let files: Vec<_> = named.chain(usual).filter(|(file, _)| file.is_file()).collect();
                assert!(!files.is_empty(), "{}: no file for `mod {name}`", file.display());
                let add = |(file, folder): &(PathBuf, PathBuf)| self.add_file(file, Some(parent), folder);
                files.iter().map(add).collect()
            }
        };
        let names = self.all[parent].names.entry(name).or_default();
        names.extend(added.into_iter().map(Name::Module));
    }

    fn resolved(&self, module: usize, path: &[String], seen: &mut Vec<(usize, String)>) -> Vec<Definition> {
        let (first, rest) = path.split_first().expect("a segment");
        let start = match first.as_str() {
            "crate" => vec![Definition { module: 0, is_item: false }],
            "self" | "super" => self.step(Definition { module, is_item: false }, first, seen),
            name => self.look_up(module, name, seen).unwrap_or_default(),
        };
        rest.iter().fold(start, |mut definitions, segment| {
            // A function may have the name of a module; no path goes on behind a function.
            if definitions.iter().any(|definition| !definition.is_item) {
                definitions.retain(|definition| !definition.is_item);
            }
            definitions.into_iter().flat_map(|definition| self.step(definition, segment, seen)).collect()
        })
    }

    fn step(
        &self,
        definition: Definition,
        segment: &str,
        seen: &mut Vec<(usize, String)>,
    ) -> Vec<Definition> {
        match segment {
            _ if definition.is_item => vec![definition],
            "self" => vec![definition],
            "super" => {
                let parent = self.all[definition.module].parent.expect("a parent");
                vec![Definition { module: parent, is_item: false }]
            }
            // A name without a declaration comes out of a macro of the module.
            name => {
                let found = self.look_up(definition.module, name, seen);
                found.unwrap_or_else(|| vec![Definition { module: definition.module, is_item: true }])
            }
        }
    }

    /// `None`: the module has no such name, as far as its text says.
    fn look_up(&self, module: usize, name: &str, seen: &mut Vec<(usize, String)>) -> Option<Vec<Definition>> {
        let key = (module, name.to_owned());
        if seen.contains(&key) {
            return Some(Vec::new());
        }
        seen.push(key);
        let found = self.declared(module, name, seen).or_else(|| self.through_globs(module, name, seen));
        seen.pop();
        found
    }

    fn declared(
        &self,
        module: usize,
        name: &str,
        seen: &mut Vec<(usize, String)>,
    ) -> Option<Vec<Definition>> {
        let names = self.all[module].names.get(name)?;
        let definitions = names.iter().flat_map(|name| match name {
            Name::Module(child) => vec![Definition { module: *child, is_item: false }],
            Name::Item => vec![Definition { module, is_item: true }],
            Name::Import(path) => self.resolved(module, path, seen),
        });
        Some(definitions.collect())
    }

    fn through_globs(
        &self,
        module: usize,
        name: &str,
        seen: &mut Vec<(usize, String)>,
    ) -> Option<Vec<Definition>> {
        let globs = self.all[module].globs.iter();
        let targets: Vec<Vec<Definition>> = globs.map(|path| self.resolved(module, path, seen)).collect();
        let inside = || {
            targets
                .iter()
                .flatten()
                .filter(|definition| !definition.is_item)
                .map(|definition| definition.module)
        };
        let found: Vec<_> =
            inside().filter_map(|target| self.look_up(target, name, seen)).flatten().collect();
        let generates = |module: &usize| {
            let is_call = |item: &Item| matches!(item, Item::Macro(call) if call.ident.is_none());
            self.all[*module].items.iter().any(is_call)
        };
        match found.is_empty() {
            false => Some(found),
            true if generates(&module) => None,
            true => match inside().find(generates) {
                Some(target) => Some(vec![Definition { module: target, is_item: true }]),
                // A glob of another crate may have it.
                None => targets.iter().any(Vec::is_empty).then(Vec::new),
            },
        }
    }
}

/// One name that a `use` brings in.
pub struct Leaf {
    pub segments: Vec<String>,
    pub line: usize,
    name: String,
}

/// The names that a `use` brings in, its groups taken apart.
pub fn leaves(item: &ItemUse) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    if item.leading_colon.is_none() {
        add_leaves(&item.tree, &[], &mut leaves);
    }
    leaves
}

fn add_leaves(tree: &UseTree, before: &[String], leaves: &mut Vec<Leaf>) {
    let with = |ident: &syn::Ident| [before, &[ident.to_string()]].concat();
    let mut add = |segments: Vec<String>, name: String, line| leaves.push(Leaf { segments, name, line });
    match tree {
        UseTree::Path(path) => add_leaves(&path.tree, &with(&path.ident), leaves),
        UseTree::Group(group) => group.items.iter().for_each(|tree| add_leaves(tree, before, leaves)),
        UseTree::Glob(glob) => add(before.to_vec(), "*".into(), glob.star_token.spans[0].start().line),
        UseTree::Rename(rename) => {
            add(with(&rename.ident), rename.rename.to_string(), rename.ident.span().start().line);
        }
        UseTree::Name(name) => {
            let segments = with(&name.ident);
            let named = match name.ident == "self" {
                true => before.last().expect("a module").clone(),
                false => name.ident.to_string(),
            };
            add(segments, named, name.ident.span().start().line);
        }
        #[allow(unreachable_patterns, reason = "the parser may learn another shape")]
        _ => {}
    }
}

/// What the `use` items of a module bring in, also those in its functions.
struct Uses {
    leaves: Vec<Leaf>,
    features: Features,
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Mod(_) => {}
            item if is_left_out(attributes(item), self.features) => {}
            item => syn::visit::visit_item(self, item),
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.leaves.extend(leaves(item));
    }
}

/// Whether a `use` only passes names on. That is no arrow: those who use the name have one to the file that defines it.
pub fn passes_on(item: &ItemUse) -> bool {
    !matches!(item.vis, Visibility::Inherited)
}

fn has(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident(name))
}

/// The files of `#[path]`, also within `cfg_attr`.
fn paths(attributes: &[Attribute]) -> Vec<String> {
    let paths = attributes.iter().flat_map(|attribute| match attribute.path().is_ident("cfg_attr") {
        true => list(&attribute.meta).iter().filter_map(path).collect(),
        false => Vec::from_iter(path(&attribute.meta)),
    });
    paths.collect()
}

fn path(meta: &Meta) -> Option<String> {
    match meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => text(&pair.value),
        _ => None,
    }
}

fn text(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// What is in the parentheses of an attribute.
fn list(meta: &Meta) -> Vec<Meta> {
    let Meta::List(list) = meta else { return Vec::new() };
    let inside = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    inside.map(|inside| inside.into_iter().collect()).unwrap_or_default()
}

/// Whether an item with these attributes is not compiled. Tests and models never are.
pub fn is_left_out(attributes: &[Attribute], features: Features) -> bool {
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    conditions.flat_map(|attribute| list(&attribute.meta)).any(|meta| holds(&meta, features) == Some(false))
}

/// A `cfg` condition; `None`: it may hold or not.
fn holds(meta: &Meta, features: Features) -> Option<bool> {
    let inside: Vec<_> = list(meta).iter().map(|meta| holds(meta, features)).collect();
    let unless_all = |value: bool| match inside.iter().all(|holds| *holds == Some(!value)) {
        true => Some(!value),
        false => inside.contains(&Some(value)).then_some(value),
    };
    let path = meta.path();
    match meta {
        Meta::Path(_) if path.is_ident("test") || path.is_ident("loom") => Some(false),
        Meta::NameValue(pair) if path.is_ident("feature") => {
            let feature = text(&pair.value)?;
            features.iter().find(|(name, _)| *name == feature).map(|(_, is_on)| *is_on)
        }
        _ if path.is_ident("not") => inside[0].map(|holds| !holds),
        _ if path.is_ident("all") => unless_all(false),
        _ if path.is_ident("any") => unless_all(true),
        _ => None,
    }
}

fn name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
