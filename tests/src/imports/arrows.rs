//! Which file of a crate uses which other one, and where: the arrows of the import graph, and their circles.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ImplItem, Item, ItemUse, Stmt, Visibility};

use super::modules::{Features, Modules, attributes, is_left_out, leaves, passes_on};

/// From a file to the files that it uses, with the lines that use them.
#[derive(Default)]
pub struct Arrows(pub BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<(usize, String)>>>);

impl Arrows {
    /// Reads those of a crate with these features, from its root file on.
    pub fn read(root: &Path, features: Features) -> Arrows {
        let modules = Modules::read(root, features);
        let mut arrows = Arrows::default();
        for (index, module) in modules.all.iter().enumerate() {
            arrows.0.entry(module.file.clone()).or_default();
            let mut paths = Paths { found: Vec::new(), features };
            module.items.iter().for_each(|item| paths.visit_item(item));
            for (line, path) in paths.found {
                let definitions =
                    modules.resolve(index, &path).into_iter().filter(|definition| definition.is_item);
                for target in definitions.map(|definition| &modules.all[definition.module].file) {
                    if *target != module.file {
                        let from = arrows.0.entry(module.file.clone()).or_default();
                        from.entry(target.clone()).or_default().insert((line, path.join("::")));
                    }
                }
            }
        }
        arrows
    }

    /// Files that reach each other, the strongly connected components of more than one file.
    pub fn circles(&self) -> Vec<BTreeSet<PathBuf>> {
        let reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
            self.0.keys().map(|file| (file, self.reached(file))).collect();
        let circle = |file: &PathBuf| -> BTreeSet<PathBuf> {
            let there = reached[file].iter().filter(|other| reached[**other].contains(file));
            there.map(|file| (*file).clone()).collect()
        };
        let circles: BTreeSet<_> = self.0.keys().map(circle).filter(|circle| !circle.is_empty()).collect();
        circles.into_iter().collect()
    }

    /// The number of files on the longest path, where files that reach each other count as one.
    pub fn floors(&self) -> usize {
        let circles = self.circles();
        let circle_of = |file: &Path| circles.iter().position(|circle| circle.contains(file));
        // A file's floor is known once those of the files that it uses are.
        let mut floors: BTreeMap<&Path, usize> = BTreeMap::new();
        while floors.len() < self.0.len() {
            for file in self.0.keys().filter(|file| !floors.contains_key(file.as_path())).collect::<Vec<_>>()
            {
                let own: Vec<&PathBuf> = match circle_of(file) {
                    Some(circle) => circles[circle].iter().collect(),
                    None => vec![file],
                };
                let below =
                    own.iter().flat_map(|file| self.0[*file].keys()).filter(|file| !own.contains(file));
                let below: Option<Vec<usize>> =
                    below.map(|file| floors.get(file.as_path()).copied()).collect();
                if let Some(below) = below {
                    let floor = below.into_iter().max().unwrap_or(0) + 1;
                    floors.extend(own.into_iter().map(|file| (file.as_path(), floor)));
                }
            }
        }
        floors.into_values().max().unwrap_or(0)
    }

    fn reached<'a>(&'a self, from: &'a Path) -> BTreeSet<&'a PathBuf> {
        let mut reached = BTreeSet::new();
        let mut ahead: Vec<&Path> = vec![from];
        while let Some(file) = ahead.pop() {
            let targets = self.0.get(file).into_iter().flat_map(BTreeMap::keys);
            ahead.extend(targets.filter(|target| reached.insert(*target)).map(PathBuf::as_path));
        }
        reached
    }
}

/// The paths in the code of a module, each with its line.
struct Paths {
    found: Vec<(usize, Vec<String>)>,
    features: Features,
}

impl Paths {
    /// Paths in the tokens of a macro: names joined by `::`, but no fields and no methods.
    fn scan(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut line, mut colons, mut is_field) = (0, 0, false);
        for token in tokens {
            if let TokenTree::Ident(ident) = &token {
                if colons != 2 {
                    self.push(line, &mut path);
                    line = ident.span().start().line;
                }
                if !is_field && (colons == 2) != path.is_empty() {
                    path.push(ident.to_string());
                }
            }
            if let TokenTree::Group(group) = &token {
                self.scan(group.stream());
            }
            let punct = match &token {
                TokenTree::Punct(punct) => punct.as_char(),
                _ => ' ',
            };
            colons = if punct == ':' { colons + 1 } else { 0 };
            is_field = punct == '.';
            if punct != ' ' && punct != ':' {
                self.push(line, &mut path);
            }
        }
        self.push(line, &mut path);
    }

    fn push(&mut self, line: usize, path: &mut Vec<String>) {
        if !path.is_empty() {
            self.found.push((line, std::mem::take(path)));
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Mod(_) => {}
            item if is_left_out(attributes(item), self.features) => {}
            item => visit::visit_item(self, item),
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let attributes: &[Attribute] = match statement {
            Stmt::Local(local) => &local.attrs,
            Stmt::Macro(call) => &call.attrs,
            Stmt::Expr(Expr::Call(call), _) => &call.attrs,
            Stmt::Expr(Expr::If(condition), _) => &condition.attrs,
            _ => &[],
        };
        if !is_left_out(attributes, self.features) {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes: &[Attribute] = match item {
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Const(item) => &item.attrs,
            _ => &[],
        };
        if !is_left_out(attributes, self.features) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if !passes_on(item) {
            self.found.extend(leaves(item).into_iter().map(|leaf| (leaf.line, leaf.segments)));
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.found.push((path.segments[0].ident.span().start().line, names));
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.scan(call.tokens.clone());
    }

    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}
