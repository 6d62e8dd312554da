//! Which macros a text defines and where their names reach, and what it brings into scope by other ways, without parsing.
//! (The Rust Reference, "Macros By Example", "Scoping, Exporting, and Importing".)

use super::lexer::Kind;
use super::tokens::{Place, Tokens};
use std::collections::HashSet;
use std::ops::Range;

/// A `macro_rules!` definition.
#[derive(Debug, PartialEq)]
pub(crate) struct Definition {
    pub name: String,
    /// What stands between the outermost brackets.
    pub rules: String,
    /// Other crates may import it.
    pub exported: bool,
    /// Bytes of the text where the name certainly means it, or one that is defined there later. Empty where a `cfg` or a
    /// macro decides whether it is defined at all.
    pub reach: Range<usize>,
}

/// A name, or all names, that a `use` brings.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Import {
    /// What the path starts with; empty when there is nothing but the name.
    pub root: String,
    /// The path starts with a module that is declared beside the `use`.
    pub is_module: bool,
    /// What stands between.
    pub path: Vec<String>,
    /// What stands in front of the `*`, or the name that is brought.
    pub name: String,
    pub is_renamed: bool,
}

/// `mod name;`
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Module {
    pub name: String,
    /// Where it stands.
    pub at: usize,
    /// Inline modules around it, outermost first.
    pub inside: Vec<String>,
    /// Values of its `#[path]` attributes.
    pub paths: Vec<String>,
    /// Bytes of the text where the macros of its file are known; empty without `#[macro_use]`, or with a `cfg`.
    pub reach: Range<usize>,
}

/// What a text says about macros.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub definitions: Vec<Definition>,
    /// Macros that are defined by the rules of others; `$` stands for any name.
    pub nested: Vec<String>,
    pub names: Vec<Import>,
    pub globs: Vec<Import>,
    /// `#[macro_use] extern crate`: the crate, and the macro, or `*`.
    pub preludes: Vec<(String, String)>,
    pub enums: Vec<String>,
    pub modules: Vec<Module>,
    /// Bytes of the text.
    pub len: usize,
    /// Macros that are called, and whether where items stand: what they become may define others.
    pub calls: Vec<(String, bool)>,
}

impl Scope {
    /// Goes over a text once.
    pub fn new(text: &str) -> Self {
        let tokens = Tokens::new(text.as_bytes(), 0);
        let scope = Self { len: text.len(), ..Self::default() };
        let mut reader = Reader { tokens, text, modules: HashSet::new(), scope };
        for at in 1..reader.tokens.len() {
            if reader.is(at - 1, b"mod") {
                reader.modules.insert((reader.tokens.list[at].outer, reader.name(at)));
            }
        }
        for at in 0..reader.tokens.len() {
            if reader.tokens.list[at].kind == Kind::Word {
                reader.word(at);
            }
        }
        reader.scope
    }
}

struct Reader<'t> {
    tokens: Tokens<'t>,
    text: &'t str,
    /// Modules, and the brackets they stand in.
    modules: HashSet<(Option<usize>, String)>,
    scope: Scope,
}

impl<'t> Reader<'t> {
    fn word(&mut self, at: usize) {
        let place = self.tokens.list[at].place;
        match self.bytes(at) {
            b"macro_rules" if self.is(at + 1, b"!") => self.definition(at, place),
            _ if place == Place::Rules => {}
            b"use" if !self.is(at + 1, b"<") => {
                self.tree(at + 1, &[], at);
            }
            b"extern" if self.is(at + 1, b"crate") => self.extern_crate(at),
            b"enum" => self.scope.enums.push(self.name(at + 1)),
            b"mod" if self.is(at + 2, b";") => self.module(at),
            _ if self.is(at + 1, b"!") && self.opens(at + 2) => {
                let call = (self.name(at), self.is_among_items(at));
                self.scope.calls.push(call);
            }
            _ => {}
        }
    }

    fn bytes(&self, at: usize) -> &'t [u8] {
        self.tokens.bytes(at)
    }

    fn is(&self, at: usize, text: &[u8]) -> bool {
        self.bytes(at) == text
    }

    /// A word without `r#`.
    fn name(&self, at: usize) -> String {
        let at = if self.is(at, b"r") && self.is(at + 1, b"#") { at + 2 } else { at };
        String::from_utf8_lossy(self.bytes(at)).into_owned()
    }

    fn definition(&mut self, at: usize, place: Place) {
        if place == Place::Rules {
            self.scope.nested.push(if self.is(at + 2, b"$") { "$".to_owned() } else { self.name(at + 2) });
            return;
        }
        let Some((open, close)) = (at + 2..at + 6)
            .find(|&open| matches!(self.tokens.list.get(open).map(|token| token.kind), Some(Kind::Open(_))))
            .and_then(|open| Some((open, self.tokens.list[open].pair?)))
        else {
            return;
        };
        let attributes = self.attributes(at);
        let inside = self.tokens.list[open].range.end..self.tokens.list[close].range.start;
        let certain = place == Place::Code && !attributes.iter().any(|attribute| attribute.is_cfg());
        let start = self.tokens.list[close].range.end;
        let reach = if certain { start..self.scope_end(at) } else { 0..0 };
        self.scope.definitions.push(Definition {
            name: self.name(at + 2),
            rules: self.text[inside].to_owned(),
            exported: attributes.iter().any(|attribute| attribute.has("macro_export")),
            reach,
        });
    }

    fn module(&mut self, at: usize) {
        let attributes = self.attributes(at);
        let is_certain =
            self.tokens.list[at].place == Place::Code && !attributes.iter().any(Attribute::is_cfg);
        let start = self.tokens.list[at].range.start;
        let reaches = is_certain && attributes.iter().any(|attribute| attribute.has("macro_use"));
        let mut inside = Vec::new();
        let mut around = self.around(at);
        while let Some((open, _)) = around {
            if open >= 2 && self.is(open - 2, b"mod") {
                inside.insert(0, self.name(open - 1));
            }
            around = self.around(open);
        }
        let module = Module {
            name: self.name(at + 1),
            at: start,
            inside,
            paths: attributes.into_iter().filter_map(|attribute| attribute.path).collect(),
            reach: if reaches { start..self.scope_end(at) } else { 0..0 },
        };
        self.scope.modules.push(module);
    }

    /// Where the braces around a token end, or those around a `#[macro_use]` module.
    fn scope_end(&self, at: usize) -> usize {
        let mut inside = at;
        loop {
            let Some((open, close)) = self.around(inside) else { return self.text.len() };
            let module = open.checked_sub(2).filter(|module| self.is(*module, b"mod"));
            let attributes = module.map(|module| self.attributes(module)).unwrap_or_default();
            let reaches_out = attributes.iter().any(|attribute| attribute.has("macro_use"))
                && !attributes.iter().any(|attribute| attribute.is_cfg());
            if !reaches_out {
                return self.tokens.list[close].range.start;
            }
            inside = open;
        }
    }

    fn around(&self, at: usize) -> Option<(usize, usize)> {
        self.tokens.around(at)
    }

    /// The words of each attribute in front of an item, whose visibility may stand between.
    fn attributes(&self, at: usize) -> Vec<Attribute> {
        let mut found = Vec::new();
        let mut next = self.tokens.code_before(at);
        while let Some(end) = next {
            match (self.bytes(end), self.tokens.list[end].pair) {
                (b"]", Some(open)) if open > 0 && self.is(open - 1, b"#") => {
                    let words = (open..end).filter(|&at| self.tokens.list[at].kind == Kind::Word);
                    let path = (open..end).find(|&at| self.is(at, b"path") && self.is(at + 1, b"="));
                    let path = path.map(|at| self.name(at + 2).trim_matches('"').to_owned());
                    found.push(Attribute { words: words.map(|at| self.name(at)).collect(), path });
                    next = self.tokens.code_before(open - 1);
                }
                (b"pub", _) => next = self.tokens.code_before(end),
                (b")", Some(open)) if open > 0 && self.is(open - 1, b"pub") => {
                    next = self.tokens.code_before(open - 1);
                }
                _ => break,
            }
        }
        found
    }

    fn opens(&self, at: usize) -> bool {
        self.tokens.list.get(at).is_some_and(|token| matches!(token.kind, Kind::Open(_)))
    }

    /// Whether what starts at this token, or at the path that it ends, stands among items.
    fn is_among_items(&self, at: usize) -> bool {
        match self.around(at) {
            None => true,
            Some((open, _)) => open >= 2 && self.is(open, b"{") && self.is(open - 2, b"mod"),
        }
    }

    /// `#[macro_use] extern crate a as b;`
    fn extern_crate(&mut self, at: usize) {
        let krate = self.name(at + 2);
        let is_renamed = self.is(at + 3, b"as");
        let name = if is_renamed { self.name(at + 4) } else { krate.clone() };
        let import = Import { root: krate.clone(), is_module: false, path: Vec::new(), name, is_renamed };
        self.scope.names.push(import);
        for attribute in self.attributes(at) {
            if !attribute.has("macro_use") {
                continue;
            }
            let listed: Vec<String> =
                attribute.words.into_iter().filter(|word| word != "macro_use").collect();
            let all = listed.is_empty() || listed.iter().any(|word| word == "cfg_attr");
            let names = if all { vec!["*".to_owned()] } else { listed };
            self.scope.preludes.extend(names.into_iter().map(|name| (krate.clone(), name)));
        }
    }

    /// The tree of a `use` at this token, behind this path; gives the token behind it.
    fn tree(&mut self, mut at: usize, front: &[String], keyword: usize) -> usize {
        let mut path = front.to_vec();
        loop {
            at = self.tokens.code_from(at).unwrap_or(self.tokens.len());
            match self.bytes(at) {
                b":" => at += 1,
                b"*" => {
                    let import = self.import(path, keyword, None);
                    self.scope.globs.push(import);
                    return at + 1;
                }
                b"{" => {
                    let close = self.tokens.list[at].pair.unwrap_or(self.tokens.len());
                    at += 1;
                    while at < close {
                        let next = self.tree(at, &path, keyword);
                        at = if self.is(next, b",") { next + 1 } else { next.max(at + 1) };
                    }
                    return close + 1;
                }
                b"as" => {
                    let import = self.import(path, keyword, Some(self.name(at + 1)));
                    self.scope.names.push(import);
                    return at + 2;
                }
                _ if self.tokens.list.get(at).is_some_and(|token| token.kind == Kind::Word) => {
                    path.push(self.name(at));
                    at += if self.is(at, b"r") && self.is(at + 1, b"#") { 3 } else { 1 };
                }
                _ => {
                    if path.len() > front.len() {
                        let import = self.import(path, keyword, None);
                        self.scope.names.push(import);
                    }
                    return at;
                }
            }
        }
    }

    fn import(&self, mut path: Vec<String>, keyword: usize, renamed: Option<String>) -> Import {
        let is_renamed = renamed.is_some();
        let last = path.pop().unwrap_or_default();
        // `use a::*` and `use a as b` start with what they end with.
        let root = path.first().cloned().unwrap_or_else(|| last.clone());
        let is_module = self.modules.contains(&(self.tokens.list[keyword].outer, root.clone()));
        let path = path.into_iter().skip(1).collect();
        Import { root, is_module, path, name: renamed.unwrap_or(last), is_renamed }
    }
}

/// The words of an attribute, and the value of a `path`.
struct Attribute {
    words: Vec<String>,
    path: Option<String>,
}

impl Attribute {
    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|other| other == word)
    }

    fn is_cfg(&self) -> bool {
        self.has("cfg") || self.has("cfg_attr")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_found_with_their_rules() {
        let text = "// macro_rules! no { }\n#[macro_export]\nmacro_rules! a { (x) => { \"}\" }; }\nfn f() {}\nmacro_rules! b(() => (););";
        let found = Scope::new(text).definitions;
        let shown: Vec<_> = found.iter().map(|a| (&*a.name, &*a.rules, a.exported)).collect();
        assert_eq!(shown, [("a", " (x) => { \"}\" }; ", true), ("b", "() => ();", false)]);
        assert!(Scope::new("macro_rules! a { (x").definitions.is_empty());
        assert_eq!(
            Scope::new("macro_rules! a { () => { macro_rules! b {} macro_rules! $c {} } }").nested,
            ["b", "$"]
        );
    }

    #[test]
    fn names_reach_to_the_end_of_their_scope() {
        let reach = |text: &str| {
            let definition = Scope::new(text).definitions.remove(0);
            text[definition.reach].to_owned()
        };
        assert_eq!(reach("macro_rules! a {} x"), " x");
        assert_eq!(reach("mod m { macro_rules! a {} x } y"), " x ");
        assert_eq!(reach("#[macro_use] pub mod m { macro_rules! a {} x } y"), " x } y");
        assert_eq!(reach("#[cfg(b)] #[macro_use] mod m { macro_rules! a {} x } y"), " x ");
        assert_eq!(reach("fn f() { { macro_rules! a {} x } y }"), " x ");
        assert_eq!(reach("#[cfg(b)]\n#[allow(c)] macro_rules! a {} x"), "");
        assert_eq!(reach("cfg_if! { if #[cfg(b)] { macro_rules! a {} x } }"), "");
    }

    #[test]
    fn imports_are_found_wherever_they_stand() {
        let scope = Scope::new(
            "use a::b::*; use ::c::{d, e::{self, f as g}, h::*}; fn f() { use crate::i; m! { use j::*; } }
             mod k; pub(crate) use k::l; use n as o; fn p() -> impl X + use<'_> {}",
        );
        let shown = |imports: &[Import]| -> Vec<String> {
            imports
                .iter()
                .map(|a| format!("{}>{}{}", a.root, a.name, if a.is_renamed { "!" } else { "" }))
                .collect()
        };
        assert_eq!(shown(&scope.globs), ["a>b", "c>h", "j>j"]);
        assert_eq!(shown(&scope.names), ["c>d", "c>self", "c>g!", "crate>i", "k>l", "n>o!"]);
        assert!(scope.names[4].is_module && !scope.names[0].is_module);
    }

    #[test]
    fn preludes_and_calls_are_found() {
        let scope = Scope::new(
            "#[macro_use] extern crate a; #[macro_use(b, c)] extern crate d as e; extern crate f;
             #[macro_use] mod g; h! {} mod i { j::k!(); } fn l() { m!(); !(n) }",
        );
        let preludes: Vec<_> = scope.preludes.iter().map(|(a, b)| (&**a, &**b)).collect();
        assert_eq!(preludes, [("a", "*"), ("d", "b"), ("d", "c")]);
        let calls: Vec<_> = scope.calls.iter().map(|(name, item)| (&**name, *item)).collect();
        assert_eq!((calls, scope.modules.len()), (vec![("h", true), ("k", true), ("m", false)], 1));
        assert!(!scope.modules[0].reach.is_empty());
    }
}
