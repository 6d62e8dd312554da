//! The macros of a program, by name. Their rules show which arguments of a call are plain code. A name refers to one
//! of them only if nothing else can bring a foreign macro of that name into scope.

mod module_tree;

use crate::text::{Import, MacroScope};
use module_tree::{InheritedMacros, MacroFile, ModuleTree};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Macros that are in scope in every crate.
const STANDARD: [&str; 48] = [
    "addr_of",
    "addr_of_mut",
    "asm",
    "assert",
    "assert_eq",
    "assert_matches",
    "assert_ne",
    "cfg",
    "column",
    "compile_error",
    "concat",
    "concat_bytes",
    "concat_idents",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "env",
    "eprint",
    "eprintln",
    "file",
    "format",
    "format_args",
    "global_asm",
    "include",
    "include_bytes",
    "include_str",
    "is_x86_feature_detected",
    "line",
    "log_syntax",
    "matches",
    "module_path",
    "offset_of",
    "option_env",
    "panic",
    "pin",
    "print",
    "println",
    "ready",
    "stringify",
    "thread_local",
    "todo",
    "trace_macros",
    "try",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
];

/// Macros of other crates that are known not to define macros.
const HARMLESS: [&str; 6] = ["cfg_if", "lazy_static", "proptest", "quickcheck", "writeln", "macro_rules"];

/// Crates whose macros do not share a name with the standard library's, or treat their arguments in the same way.
const HARMLESS_CRATES: [&str; 32] = [
    "std",
    "core",
    "alloc",
    "anyhow",
    "bitflags",
    "cfg_if",
    "clap",
    "criterion",
    "diesel",
    "error_chain",
    "failure",
    "futures",
    "hex_literal",
    "lazy_static",
    "log",
    "maplit",
    "matches",
    "memoffset",
    "nom",
    "pretty_assertions",
    "proptest",
    "quick_error",
    "quickcheck",
    "quote",
    "rocket",
    "rusty_fork",
    "serde",
    "serde_derive",
    "serde_json",
    "slog",
    "static_assertions",
    "tracing",
];

/// First segments of paths that lead to the program itself.
const OWN_ROOTS: [&str; 3] = ["crate", "self", "super"];
/// Crates whose macros are all listed here.
const STANDARD_ROOTS: [&str; 3] = ["std", "core", "alloc"];

/// The macro definitions of any number of texts, and the imports that bring other macros into scope.
#[derive(Clone, Debug, Default)]
pub struct Macros {
    by_name: BTreeMap<Box<str>, BTreeSet<Box<str>>>,
    /// Macros with `#[macro_export]`.
    exported: BTreeSet<Box<str>>,
    nested: BTreeSet<String>,
    names: BTreeSet<Import>,
    globs: BTreeSet<Import>,
    macro_use_crates: BTreeSet<(String, String)>,
    enums: BTreeSet<String>,
    item_calls: BTreeSet<String>,
    crates: BTreeSet<String>,
    /// Macros in whose rules the compiler refuses calls.
    refused: BTreeSet<String>,
    files: Vec<MacroFile>,
    /// The macros of each file.
    texts: Vec<Arc<TextMacros>>,
    /// Built from the files on first use.
    tree: OnceLock<ModuleTree>,
    /// A sum of all names and rules, without `files` and `texts`.
    sum: OnceLock<u64>,
}

impl Macros {
    /// Adds the definitions and imports of a file. Text that is not Rust adds nothing.
    pub fn add_file(&mut self, path: &Path, text: &[u8]) {
        let Ok(text) = str::from_utf8(text) else { return };
        let scope = MacroScope::new(text);
        let file = MacroFile::new(path, text, &scope);
        self.forget();
        let of_text = TextMacros::new(scope);
        self.add_all(&of_text.own);
        self.files.push(file);
        self.texts.push(Arc::new(of_text));
    }

    /// Adds a crate of the program.
    pub fn add_crate(&mut self, name: &str) {
        self.crates.insert(name.replace('-', "_"));
        self.forget();
    }

    /// The rules of this macro stay as they are.
    pub fn refuse(&mut self, name: &str) {
        self.refused.insert(name.to_owned());
        self.forget();
    }

    /// Whether they do.
    pub(crate) fn is_refused(&self, name: &str) -> bool {
        self.refused.contains(name)
    }

    /// Something is added: what was derived no longer holds.
    fn forget(&mut self) {
        (self.tree, self.sum) = (OnceLock::new(), OnceLock::new());
    }

    /// A sum of all that decides what macros mean in this text, but for the text itself. The same program has the same sum
    /// for the same macros, imports and modules.
    pub fn sum_for(&self, text: &[u8]) -> u64 {
        let all = self.sum.get_or_init(|| {
            let mut hash = DefaultHasher::new();
            let Self {
                by_name,
                exported,
                nested,
                names,
                globs,
                macro_use_crates,
                enums,
                item_calls,
                crates,
                refused,
                ..
            } = self;
            (by_name, exported, nested, names, globs).hash(&mut hash);
            (macro_use_crates, enums, item_calls, crates, refused).hash(&mut hash);
            hash.finish()
        });
        let tree = self.tree.get_or_init(|| ModuleTree::new(&self.files));
        let inherited = tree.of(crate::text::fingerprint(text)).map(|(_, inherited)| inherited);
        let mut hash = DefaultHasher::new();
        (all, inherited).hash(&mut hash);
        hash.finish()
    }

    fn add_scope(&mut self, scope: MacroScope) {
        for definition in scope.definitions {
            let name: Box<str> = definition.name.into();
            if definition.exported {
                self.exported.insert(name.clone());
            }
            self.by_name.entry(name).or_default().insert(definition.rules.into());
        }
        self.nested.extend(scope.nested);
        self.names.extend(scope.names);
        self.globs.extend(scope.globs);
        self.macro_use_crates.extend(scope.macro_use_crates);
        self.enums.extend(scope.enums);
        self.item_calls.extend(scope.calls.into_iter().filter(|(_, item)| *item).map(|(name, _)| name));
    }

    /// Merges two collections.
    #[must_use]
    pub fn merged(mut self, other: Macros) -> Macros {
        self.add_all(&other);
        self.crates.extend(other.crates);
        self.files.extend(other.files);
        self.texts.extend(other.texts);
        self.forget();
        self
    }

    fn add_all(&mut self, other: &Macros) {
        for (name, rules) in &other.by_name {
            self.by_name.entry(name.clone()).or_default().extend(rules.iter().cloned());
        }
        self.exported.extend(other.exported.iter().cloned());
        self.nested.extend(other.nested.iter().cloned());
        self.names.extend(other.names.iter().cloned());
        self.globs.extend(other.globs.iter().cloned());
        self.macro_use_crates.extend(other.macro_use_crates.iter().cloned());
        self.enums.extend(other.enums.iter().cloned());
        self.item_calls.extend(other.item_calls.iter().cloned());
    }

    /// Whether the program has a macro of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// The rules of every macro of this name.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &str> {
        self.by_name.get(name).into_iter().flatten().map(|rules| &**rules)
    }
}

fn is_standard(name: &str) -> bool {
    STANDARD.contains(&name) || HARMLESS.contains(&name)
}

/// The macros of one text.
#[derive(Debug, Default)]
struct TextMacros {
    own: Macros,
    /// Its definitions, and the ranges where they are in scope.
    definitions: Vec<(String, Range<usize>)>,
    calls: BTreeSet<String>,
    has_macro_use_modules: bool,
}

impl TextMacros {
    fn new(scope: MacroScope) -> Self {
        let definitions =
            scope.definitions.iter().map(|found| (found.name.clone(), found.scope.clone())).collect();
        let calls = scope.calls.iter().map(|(name, _)| name.clone()).collect();
        let has_macro_use_modules = scope.modules.iter().any(|module| !module.scope.is_empty());
        let mut own = Macros::default();
        own.add_scope(scope);
        Self { own, definitions, calls, has_macro_use_modules }
    }
}

/// The macros of one file, and those of its program.
pub(crate) struct FileMacros<'p> {
    program: &'p Macros,
    text: Arc<TextMacros>,
    /// Macros of other files in scope here.
    inherited: InheritedMacros,
}

/// The macros that a name may refer to.
pub(crate) struct MacroCandidates<'m> {
    pub rules: Vec<&'m str>,
    /// The rest of the program may still show that the name refers to another macro.
    pub is_assumed: bool,
}

impl<'p> FileMacros<'p> {
    pub fn new(text: &str, program: &'p Macros) -> Self {
        let tree = program.tree.get_or_init(|| ModuleTree::new(&program.files));
        match tree.of(crate::text::fingerprint(text.as_bytes())) {
            Some((file, inherited)) => {
                Self { program, text: program.texts[file].clone(), inherited: inherited.clone() }
            }
            None => {
                let text = Arc::new(TextMacros::new(MacroScope::new(text)));
                Self { program, text, inherited: InheritedMacros::default() }
            }
        }
    }

    fn all(&self) -> [&Macros; 2] {
        [&self.text.own, self.program]
    }

    /// Whether the program has a macro of this name.
    pub fn has(&self, name: &str) -> bool {
        self.all().iter().any(|macros| macros.has(name))
    }

    /// Whether a name of the standard library may refer to a macro of another crate, by an import or a `#[macro_use]`
    /// crate. A glob import cannot replace it: the compiler reports the name as ambiguous.
    pub fn may_be_replaced(&self, name: &str) -> bool {
        let is_standard =
            |import: &Import| !import.is_renamed && STANDARD_ROOTS.contains(&import.root.as_str());
        let mut imports = self.text.own.names.iter().filter(|import| import.name == name);
        let of_crate = |(krate, macros): &(String, String)| {
            macros == name
                || macros == "*" && !HARMLESS_CRATES.contains(&krate.as_str()) && !self.is_own(krate)
        };
        imports.any(|import| self.is_foreign(import) && !is_standard(import))
            || self.all().iter().any(|macros| macros.macro_use_crates.iter().any(of_crate))
    }

    /// The macros that a call of this name at this offset may refer to; `None` if one of another crate is possible.
    pub fn candidates(&self, name: &str, at: usize) -> Option<MacroCandidates<'_>> {
        let in_text = |(defined, scope): &(String, Range<usize>)| defined == name && scope.contains(&at);
        if self.text.definitions.iter().any(in_text) {
            // Definitions of the text come first: the compiler refuses imports that would shadow them.
            let rules = if self.text.has_macro_use_modules {
                self.rules(name)
            } else {
                self.text.own.named(name).collect()
            };
            return Some(MacroCandidates { rules, is_assumed: false });
        }
        if self.inherited.everywhere.contains(name) || self.inherited.in_ranges.iter().any(in_text) {
            return Some(MacroCandidates { rules: self.rules(name), is_assumed: true });
        }
        let takes = self.text.own.globs.iter().any(|glob| !STANDARD_ROOTS.contains(&glob.root.as_str()))
            || self.text.own.names.iter().any(|import| import.name == name);
        let is_unambiguous = self.is_unambiguous(name)
            && self.text.calls.iter().all(|called| self.is_known(called))
            && !(takes && self.program_has_foreign_globs());
        is_unambiguous.then(|| MacroCandidates { rules: self.rules(name), is_assumed: true })
    }

    /// Like [`Self::candidates`] for `crate::name`, and for longer paths into the program.
    pub fn candidates_by_path(&self, path: &[String], name: &str) -> Option<MacroCandidates<'_>> {
        let is_exported = self.all().iter().any(|macros| macros.exported.contains(name));
        // Exported macros are items of the crate root, where their names are unique.
        let is_root =
            matches!(path, [root] if root == "crate") && is_exported && self.program.crates.len() < 2;
        let is_unambiguous = is_root
            || self.is_unambiguous(name)
                && !path.iter().any(|part| self.is_foreign_name(part))
                && !self.program_has_foreign_globs();
        is_unambiguous.then(|| MacroCandidates { rules: self.rules(name), is_assumed: true })
    }

    /// Whether, judged by names, nothing in the program imports a foreign macro of this name.
    fn is_unambiguous(&self, name: &str) -> bool {
        let of_macro_use_crate = |(krate, macros): &(String, String)| {
            (macros == "*" || macros == name)
                && !STANDARD_ROOTS.contains(&krate.as_str())
                && !self.is_own(krate)
        };
        !STANDARD.contains(&name)
            && self.all().iter().all(|macros| {
                !macros.names.iter().any(|import| import.name == name && self.is_foreign(import))
                    && !macros.macro_use_crates.iter().any(of_macro_use_crate)
                    && !macros.nested.iter().any(|nested| nested == name || nested == "$")
                    && macros.item_calls.iter().all(|called| self.is_known(called))
            })
    }

    /// The rules of this name, without duplicates.
    fn rules(&self, name: &str) -> Vec<&str> {
        let rules: BTreeSet<&str> = self.all().iter().flat_map(|macros| macros.named(name)).collect();
        rules.into_iter().collect()
    }

    /// Whether the expansion of this call defines only known macros. An included file may define any.
    fn is_known(&self, called: &str) -> bool {
        called != "include" && (is_standard(called) || self.has(called))
    }

    fn is_own(&self, krate: &str) -> bool {
        self.program.crates.contains(krate)
    }

    /// Whether an import brings something that the program does not define under this name.
    fn is_foreign(&self, import: &Import) -> bool {
        import.is_renamed
            || !self.is_own_root(import) && (import.root != import.name || !import.path.is_empty())
            || import.path.iter().any(|part| self.is_foreign_name(part))
    }

    /// Whether some `use` or `extern crate` binds this name to something of another crate, or renames something to
    /// it.
    fn is_foreign_name(&self, name: &str) -> bool {
        let is_foreign = |import: &Import| {
            import.name == name
                && (import.is_renamed
                    || !self.is_own_root(import) && !STANDARD_ROOTS.contains(&import.root.as_str()))
        };
        self.all().iter().any(|macros| macros.names.iter().any(is_foreign))
    }

    fn is_own_root(&self, import: &Import) -> bool {
        import.is_module || OWN_ROOTS.contains(&import.root.as_str()) || self.is_own(&import.root)
    }

    fn is_foreign_glob(&self, glob: &Import) -> bool {
        let is_enum = self.all().iter().any(|macros| macros.enums.contains(&glob.name));
        let is_inside = self.is_own_root(glob)
            && !glob.path.iter().chain([&glob.name]).any(|part| self.is_foreign_name(part));
        !(is_enum || is_inside || STANDARD_ROOTS.contains(&glob.root.as_str()))
    }

    fn program_has_foreign_globs(&self) -> bool {
        self.all().iter().any(|macros| macros.globs.iter().any(|glob| self.is_foreign_glob(glob)))
    }
}
