//! Finds, without parsing, the macros that a text defines, where their names are in scope, and what it imports.
//! (The Rust Reference, "Macros By Example", "Scoping, Exporting, and Importing".)

use super::lexer::TokenKind;
use super::tokens::{TokenContext, Tokens};
use std::collections::HashSet;
use std::ops::Range;

/// A `macro_rules!` definition.
#[derive(Debug, PartialEq)]
pub(crate) struct MacroSource {
    pub name: String,
    /// The text between the outermost brackets.
    pub rules: String,
    /// It has `#[macro_export]`.
    pub exported: bool,
    /// Bytes where the name certainly means this macro, or a later one of the text. Empty if a `cfg` or another macro
    /// decides whether the macro is defined.
    pub scope: Range<usize>,
}

/// One name, or all names, that a `use` imports.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Import {
    /// The first segment of the path; the name itself if the path has only one segment.
    pub root: String,
    /// The path starts with a module that is declared in the same scope.
    pub is_module: bool,
    /// The segments between the first and the last.
    pub path: Vec<String>,
    /// The segment before the `*`, or the imported name.
    pub name: String,
    pub is_renamed: bool,
}

/// `mod name;`
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ModuleDeclaration {
    pub name: String,
    /// Offset of the keyword.
    pub at: usize,
    /// Inline modules around it, outermost first.
    pub inside: Vec<String>,
    /// Values of its `#[path]` attributes.
    pub paths: Vec<String>,
    /// Bytes where the macros of its file are in scope; empty without `#[macro_use]`, or with a `cfg`.
    pub scope: Range<usize>,
}

/// The macros of a text: definitions, imports and calls.
#[derive(Debug, Default)]
pub(crate) struct MacroScope {
    pub definitions: Vec<MacroSource>,
    /// Macros that the rules of other macros define; `$` represents any name.
    pub nested: Vec<String>,
    pub names: Vec<Import>,
    pub globs: Vec<Import>,
    /// `#[macro_use] extern crate`: the crate, and the macro or `*`.
    pub macro_use_crates: Vec<(String, String)>,
    pub enums: Vec<String>,
    pub modules: Vec<ModuleDeclaration>,
    /// Length of the text.
    pub len: usize,
    /// Called macros, and whether the call is in item position, where its expansion may define macros.
    pub calls: Vec<(String, bool)>,
}

impl MacroScope {
    /// Scans a text once.
    pub fn new(text: &str) -> Self {
        let tokens = Tokens::new(text.as_bytes(), 0);
        let scope = Self { len: text.len(), ..Self::default() };
        let mut reader = ScopeReader { tokens, text, modules: HashSet::new(), scope };
        for at in 1..reader.tokens.len() {
            if reader.is(at - 1, b"mod") {
                reader.modules.insert((reader.tokens.list[at].outer, reader.name(at)));
            }
        }
        for at in 0..reader.tokens.len() {
            if reader.tokens.list[at].kind == TokenKind::Word {
                reader.word(at);
            }
        }
        reader.scope
    }
}

struct ScopeReader<'t> {
    tokens: Tokens<'t>,
    text: &'t str,
    /// Declared modules, each with the bracket around it.
    modules: HashSet<(Option<usize>, String)>,
    scope: MacroScope,
}

impl<'t> ScopeReader<'t> {
    fn word(&mut self, at: usize) {
        let context = self.tokens.list[at].context;
        match self.bytes(at) {
            b"macro_rules" if self.is(at + 1, b"!") => self.definition(at, context),
            _ if context == TokenContext::Rules => {}
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

    /// An identifier, without `r#`.
    fn name(&self, at: usize) -> String {
        let at = if self.is(at, b"r") && self.is(at + 1, b"#") { at + 2 } else { at };
        String::from_utf8_lossy(self.bytes(at)).into_owned()
    }

    fn definition(&mut self, at: usize, context: TokenContext) {
        if context == TokenContext::Rules {
            self.scope.nested.push(if self.is(at + 2, b"$") { "$".to_owned() } else { self.name(at + 2) });
            return;
        }
        let Some((open, close)) = (at + 2..at + 6)
            .find(|&open| {
                matches!(self.tokens.list.get(open).map(|token| token.kind), Some(TokenKind::Open(_)))
            })
            .and_then(|open| Some((open, self.tokens.list[open].pair?)))
        else {
            return;
        };
        let attributes = self.attributes(at);
        let inside = self.tokens.list[open].range.end..self.tokens.list[close].range.start;
        let certain = context == TokenContext::Code && !attributes.iter().any(|attribute| attribute.is_cfg());
        let start = self.tokens.list[close].range.end;
        let scope = if certain { start..self.scope_end(at) } else { 0..0 };
        self.scope.definitions.push(MacroSource {
            name: self.name(at + 2),
            rules: self.text[inside].to_owned(),
            exported: attributes.iter().any(|attribute| attribute.has("macro_export")),
            scope,
        });
    }

    fn module(&mut self, at: usize) {
        let attributes = self.attributes(at);
        let is_certain = self.tokens.list[at].context == TokenContext::Code
            && !attributes.iter().any(AttributeWords::is_cfg);
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
        let module = ModuleDeclaration {
            name: self.name(at + 1),
            at: start,
            inside,
            paths: attributes.into_iter().filter_map(|attribute| attribute.path).collect(),
            scope: if reaches { start..self.scope_end(at) } else { 0..0 },
        };
        self.scope.modules.push(module);
    }

    /// Offset where the scope of a token ends. The scope of a `#[macro_use]` module extends to its parent's end.
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

    /// The attributes before an item or its visibility.
    fn attributes(&self, at: usize) -> Vec<AttributeWords> {
        let mut found = Vec::new();
        let mut next = self.tokens.code_before(at);
        while let Some(end) = next {
            match (self.bytes(end), self.tokens.list[end].pair) {
                (b"]", Some(open)) if open > 0 && self.is(open - 1, b"#") => {
                    let words = (open..end).filter(|&at| self.tokens.list[at].kind == TokenKind::Word);
                    let path = (open..end).find(|&at| self.is(at, b"path") && self.is(at + 1, b"="));
                    let path = path.map(|at| self.name(at + 2).trim_matches('"').to_owned());
                    found.push(AttributeWords { words: words.map(|at| self.name(at)).collect(), path });
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
        self.tokens.list.get(at).is_some_and(|token| matches!(token.kind, TokenKind::Open(_)))
    }

    /// Whether this token, or the path that it ends, is in item position.
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
            self.scope.macro_use_crates.extend(names.into_iter().map(|name| (krate.clone(), name)));
        }
    }

    /// Reads a `use` tree after the path `front`, starting at this token; returns the token after the tree.
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
                _ if self.tokens.list.get(at).is_some_and(|token| token.kind == TokenKind::Word) => {
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
        // In `use a::*` and `use a as b`, the root is the last segment.
        let root = path.first().cloned().unwrap_or_else(|| last.clone());
        let is_module = self.modules.contains(&(self.tokens.list[keyword].outer, root.clone()));
        let path = path.into_iter().skip(1).collect();
        Import { root, is_module, path, name: renamed.unwrap_or(last), is_renamed }
    }
}

/// The words of an attribute, and the value of `path`.
struct AttributeWords {
    words: Vec<String>,
    path: Option<String>,
}

impl AttributeWords {
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
        let found = MacroScope::new(text).definitions;
        let shown: Vec<_> = found.iter().map(|a| (&*a.name, &*a.rules, a.exported)).collect();
        assert_eq!(shown, [("a", " (x) => { \"}\" }; ", true), ("b", "() => ();", false)]);
        assert!(MacroScope::new("macro_rules! a { (x").definitions.is_empty());
        assert_eq!(
            MacroScope::new("macro_rules! a { () => { macro_rules! b {} macro_rules! $c {} } }").nested,
            ["b", "$"]
        );
    }

    #[test]
    fn names_are_in_scope_until_its_end() {
        let scope = |text: &str| {
            let definition = MacroScope::new(text).definitions.remove(0);
            text[definition.scope].to_owned()
        };
        assert_eq!(scope("macro_rules! a {} x"), " x");
        assert_eq!(scope("mod m { macro_rules! a {} x } y"), " x ");
        assert_eq!(scope("#[macro_use] pub mod m { macro_rules! a {} x } y"), " x } y");
        assert_eq!(scope("#[cfg(b)] #[macro_use] mod m { macro_rules! a {} x } y"), " x ");
        assert_eq!(scope("fn f() { { macro_rules! a {} x } y }"), " x ");
        assert_eq!(scope("#[cfg(b)]\n#[allow(c)] macro_rules! a {} x"), "");
        assert_eq!(scope("cfg_if! { if #[cfg(b)] { macro_rules! a {} x } }"), "");
    }

    #[test]
    fn imports_are_found_in_every_position() {
        let scope = MacroScope::new(
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
    fn macro_use_crates_and_calls_are_found() {
        let scope = MacroScope::new(
            "#[macro_use] extern crate a; #[macro_use(b, c)] extern crate d as e; extern crate f;
             #[macro_use] mod g; h! {} mod i { j::k!(); } fn l() { m!(); !(n) }",
        );
        let macro_use_crates: Vec<_> = scope.macro_use_crates.iter().map(|(a, b)| (&**a, &**b)).collect();
        assert_eq!(macro_use_crates, [("a", "*"), ("d", "b"), ("d", "c")]);
        let calls: Vec<_> = scope.calls.iter().map(|(name, item)| (&**name, *item)).collect();
        assert_eq!((calls, scope.modules.len()), (vec![("h", true), ("k", true), ("m", false)], 1));
        assert!(!scope.modules[0].scope.is_empty());
    }
}
