//! The macros of a program, by name: they tell which arguments of a call are plain code. A name means one of them only when
//! nothing else can have brought a foreign macro of that name into scope.

mod tree;

use crate::text::{Import, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use tree::{File, Reaching, Tree};

/// Macros that every crate has without asking.
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

/// Macros of other crates that are known to define none.
const HARMLESS: [&str; 6] = ["cfg_if", "lazy_static", "proptest", "quickcheck", "writeln", "macro_rules"];

/// Crates that bring no macro by a name of the standard library, or one that takes its arguments as that does.
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

/// What a path may start with and still lead to the program itself.
const OWN_ROOTS: [&str; 3] = ["crate", "self", "super"];
/// Crates whose macros are all known.
const STANDARD_ROOTS: [&str; 3] = ["std", "core", "alloc"];

/// Definitions found in any number of texts, and what brings others into scope there.
#[derive(Clone, Debug, Default)]
pub struct Macros {
    by_name: BTreeMap<Box<str>, BTreeSet<Box<str>>>,
    /// Those that other crates may import.
    exported: BTreeSet<Box<str>>,
    nested: BTreeSet<String>,
    names: BTreeSet<Import>,
    globs: BTreeSet<Import>,
    preludes: BTreeSet<(String, String)>,
    enums: BTreeSet<String>,
    item_calls: BTreeSet<String>,
    crates: BTreeSet<String>,
    files: Vec<File>,
    /// Made of the files when somebody asks.
    tree: OnceLock<Tree>,
}

impl Macros {
    /// Adds the definitions of one source text, and what it brings into scope. What is not Rust adds nothing.
    pub fn add(&mut self, text: &[u8]) {
        if let Ok(text) = str::from_utf8(text) {
            self.add_scope(Scope::new(text));
        }
    }

    /// The same for the text of a file: where its macros are known depends on the modules that lead there.
    pub fn add_file(&mut self, path: &Path, text: &[u8]) {
        let Ok(text) = str::from_utf8(text) else { return };
        let scope = Scope::new(text);
        let mut file = File::new(path, text, &scope);
        self.tree = OnceLock::new();
        let of_text = OfText::new(scope);
        self.add_all(&of_text.own);
        file.of_text = Arc::new(of_text);
        self.files.push(file);
    }

    /// Adds the name of a crate of the program.
    pub fn add_crate(&mut self, name: &str) {
        self.crates.insert(name.replace('-', "_"));
    }

    fn add_scope(&mut self, scope: Scope) {
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
        self.preludes.extend(scope.preludes);
        self.enums.extend(scope.enums);
        self.item_calls.extend(scope.calls.into_iter().filter(|(_, item)| *item).map(|(name, _)| name));
    }

    /// Together with those of another collection.
    #[must_use]
    pub fn merged(mut self, other: Macros) -> Macros {
        self.add_all(&other);
        self.crates.extend(other.crates);
        self.files.extend(other.files);
        self.tree = OnceLock::new();
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
        self.preludes.extend(other.preludes.iter().cloned());
        self.enums.extend(other.enums.iter().cloned());
        self.item_calls.extend(other.item_calls.iter().cloned());
    }

    /// Whether the program has a macro of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// The rules of every macro of this name, as text.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &str> {
        self.by_name.get(name).into_iter().flatten().map(|rules| &**rules)
    }
}

fn is_standard(name: &str) -> bool {
    STANDARD.contains(&name) || HARMLESS.contains(&name)
}

/// What one text says about macros.
#[derive(Debug, Default)]
struct OfText {
    own: Macros,
    /// Its definitions, and where they reach.
    reaches: Vec<(String, Range<usize>)>,
    calls: BTreeSet<String>,
    takes_macros: bool,
}

impl OfText {
    fn new(scope: Scope) -> Self {
        let reaches =
            scope.definitions.iter().map(|found| (found.name.clone(), found.reach.clone())).collect();
        let calls = scope.calls.iter().map(|(name, _)| name.clone()).collect();
        let takes_macros = scope.modules.iter().any(|module| !module.reach.is_empty());
        let mut own = Macros::default();
        own.add_scope(scope);
        Self { own, reaches, calls, takes_macros }
    }
}

/// What one file says about macros, in a program.
pub(crate) struct OfFile<'p> {
    program: &'p Macros,
    text: Arc<OfText>,
    /// What reaches into it from other files.
    reaching: Reaching,
}

/// Macros that a name may mean.
pub(crate) struct Meant<'m> {
    pub rules: Vec<&'m str>,
    /// The rest of the program may still say that it means another.
    pub is_assumed: bool,
}

impl<'p> OfFile<'p> {
    pub fn new(text: &str, program: &'p Macros) -> Self {
        let tree = program.tree.get_or_init(|| Tree::new(&program.files));
        match tree.of(tree::fingerprint(text)) {
            Some((file, reaching)) => {
                Self { program, text: program.files[file].of_text.clone(), reaching: reaching.clone() }
            }
            None => {
                let text = Arc::new(OfText::new(Scope::new(text)));
                Self { program, text, reaching: Reaching::default() }
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

    /// Whether a name of the standard library may mean a macro of another crate: one that is imported by it, or that a
    /// `#[macro_use]` crate brings. Over a `*` the compiler finds it ambiguous.
    pub fn replaces(&self, name: &str) -> bool {
        let is_standard =
            |import: &Import| !import.is_renamed && STANDARD_ROOTS.contains(&import.root.as_str());
        let mut imports = self.text.own.names.iter().filter(|import| import.name == name);
        let of_crate = |(krate, macros): &(String, String)| {
            macros == name
                || macros == "*" && !HARMLESS_CRATES.contains(&krate.as_str()) && !self.is_own(krate)
        };
        imports.any(|import| self.is_taken(import) && !is_standard(import))
            || self.all().iter().any(|macros| macros.preludes.iter().any(of_crate))
    }

    /// The macros that a call of this name at this byte may mean; none when that may be one of another crate.
    pub fn meant(&self, name: &str, at: usize) -> Option<Meant<'_>> {
        let in_text = |(defined, reach): &(String, Range<usize>)| defined == name && reach.contains(&at);
        if self.text.reaches.iter().any(in_text) {
            // What is defined in the text comes first: the compiler refuses what would be brought over it.
            let rules =
                if self.text.takes_macros { self.rules(name) } else { self.text.own.named(name).collect() };
            return Some(Meant { rules, is_assumed: false });
        }
        if self.reaching.start.contains(name) || self.reaching.inside.iter().any(in_text) {
            return Some(Meant { rules: self.rules(name), is_assumed: true });
        }
        let takes = self.text.own.globs.iter().any(|glob| !STANDARD_ROOTS.contains(&glob.root.as_str()))
            || self.text.own.names.iter().any(|import| import.name == name);
        let is_safe = self.is_safe(name)
            && self.text.calls.iter().all(|called| self.is_known(called))
            && !(takes && self.program_has_foreign_globs());
        is_safe.then(|| Meant { rules: self.rules(name), is_assumed: true })
    }

    /// The same for `crate::name`, and for longer paths that lead to the program itself.
    pub fn meant_by_path(&self, path: &[String], name: &str) -> Option<Meant<'_>> {
        let is_exported = self.all().iter().any(|macros| macros.exported.contains(name));
        // Exported macros are items of the root, and no other one may have the name there.
        let is_root =
            matches!(path, [root] if root == "crate") && is_exported && self.program.crates.len() < 2;
        let is_safe = is_root
            || self.is_safe(name)
                && !path.iter().any(|part| self.is_foreign_name(part))
                && !self.program_has_foreign_globs();
        is_safe.then(|| Meant { rules: self.rules(name), is_assumed: true })
    }

    /// Whether nothing in the program brings a foreign macro of this name, as far as names tell.
    fn is_safe(&self, name: &str) -> bool {
        let of_prelude = |(krate, macros): &(String, String)| {
            (macros == "*" || macros == name)
                && !STANDARD_ROOTS.contains(&krate.as_str())
                && !self.is_own(krate)
        };
        !STANDARD.contains(&name)
            && self.all().iter().all(|macros| {
                !macros.names.iter().any(|import| import.name == name && self.is_taken(import))
                    && !macros.preludes.iter().any(of_prelude)
                    && !macros.nested.iter().any(|nested| nested == name || nested == "$")
                    && macros.item_calls.iter().all(|called| self.is_known(called))
            })
    }

    /// All rules of the name, each once.
    fn rules(&self, name: &str) -> Vec<&str> {
        let rules: BTreeSet<&str> = self.all().iter().flat_map(|macros| macros.named(name)).collect();
        rules.into_iter().collect()
    }

    /// Whether what a call becomes brings no macro that nobody here knows. A file that is included may.
    fn is_known(&self, called: &str) -> bool {
        called != "include" && (is_standard(called) || self.has(called))
    }

    fn is_own(&self, krate: &str) -> bool {
        self.program.crates.contains(krate)
    }

    /// Whether an import brings something that the program does not define under this name.
    fn is_taken(&self, import: &Import) -> bool {
        import.is_renamed
            || !self.is_own_root(import) && (import.root != import.name || !import.path.is_empty())
            || import.path.iter().any(|part| self.is_foreign_name(part))
    }

    /// Whether some `use` or `extern crate` of the program gives this name to something of another crate, or anew.
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
