//! Names that several types of one crate have.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Ident, Item};

use crate::imports::{BUILDS, Features, Modules, attributes, is_left_out};

/// Type names that several types of a crate have, with the files that define them. Only types of one build count:
/// where one replaces the other, as without a feature, they may share a name.
pub fn shared_type_names(checkout: &Path, name: &str) -> BTreeMap<String, BTreeSet<PathBuf>> {
    let mut builds: Vec<Features> =
        BUILDS.iter().filter(|(crate_name, _)| *crate_name == name).map(|(_, features)| *features).collect();
    if builds.is_empty() {
        builds.push(&[]);
    }
    let mut shared = BTreeMap::new();
    for features in builds {
        let mut definitions: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for root in roots(&checkout.join(name)) {
            for module in Modules::read(&root, features).all {
                let mut types = Types { features, found: Vec::new() };
                module.items.iter().for_each(|item| types.visit_item(item));
                let file = module.file.strip_prefix(checkout).expect("below the checkout");
                for name in types.found {
                    definitions.entry(name).or_default().push(file.to_owned());
                }
            }
        }
        for (name, files) in definitions.into_iter().filter(|(_, files)| files.len() > 1) {
            shared.entry(name).or_insert_with(BTreeSet::new).extend(files);
        }
    }
    shared
}

/// The files from which a crate's library, its programs and its tests are compiled.
fn roots(folder: &Path) -> Vec<PathBuf> {
    let programs = std::fs::read_dir(folder.join("src/bin")).into_iter().flatten().flatten();
    let programs = programs.map(|entry| entry.path()).filter(|path| path.is_file());
    let roots = ["src/lib.rs", "src/main.rs", "it/main.rs"].map(|root| folder.join(root)).into_iter();
    roots.filter(|root| root.is_file()).chain(programs).collect()
}

/// Names of the types that items define, those inside functions as well.
struct Types {
    features: Features,
    found: Vec<String>,
}

impl Types {
    fn add(&mut self, name: &Ident) {
        self.found.push(name.to_string());
    }
}

impl<'ast> Visit<'ast> for Types {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_left_out(attributes(item), self.features) {
            return;
        }
        match item {
            // A module has its own entry.
            Item::Mod(_) => {}
            Item::Struct(item) => self.add(&item.ident),
            Item::Enum(item) => self.add(&item.ident),
            Item::Union(item) => self.add(&item.ident),
            Item::Trait(item) => self.add(&item.ident),
            Item::Type(item) => self.add(&item.ident),
            _ => {}
        }
        visit::visit_item(self, item);
    }
}
