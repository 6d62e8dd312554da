//! Notes the `const fn` of a file, and the names that const contexts and macros call.

use super::token_scan::unraw;
use crate::site::constness::{ConstFn, ConstMacro, ConstUse, Constness, MacroArguments, Owner};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ItemImpl, Macro, Path, Signature, Type, UseTree};

/// Macros of the standard library whose arguments are ordinary code.
const ORDINARY: [&str; 22] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "matches",
    "panic",
    "print",
    "println",
    "todo",
    "try",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// What the names of vendor functions for x86 begin with. The compiler makes constants of some of their arguments, which is not
/// seen in the call: `_mm_shuffle_epi32(x, f())`.
const INTRINSIC: &str = "_mm";

/// Attributes of the compiler that hold no code.
const PLAIN: [&str; 11] = [
    "allow",
    "cfg",
    "cold",
    "deny",
    "deprecated",
    "derive",
    "expect",
    "inline",
    "must_use",
    "track_caller",
    "warn",
];

/// What a file says about its `const fn`.
pub(super) fn note(file: &syn::File, start: usize) -> Constness {
    let mut notes = Notes {
        found: Constness::default(),
        start,
        owner: None,
        function: None,
        is_const: false,
        in_example: false,
    };
    notes.visit_file(file);
    let Constness { functions, uses, aliases, renames, macros, arguments } = &mut notes.found;
    functions.sort_by_key(|function| function.at);
    let of_macros = macros.iter_mut().map(|known| &mut known.calls);
    let of_arguments = arguments.iter_mut().map(|arguments| &mut arguments.calls);
    let of_functions = functions.iter_mut().map(|function| &mut function.calls);
    for list in of_functions.chain(of_macros).chain(of_arguments).chain([uses]) {
        list.sort_unstable();
        list.dedup();
    }
    aliases.sort_unstable();
    aliases.dedup();
    renames.sort_unstable();
    notes.found
}

struct Notes {
    found: Constness,
    /// Offset of the parsed text.
    start: usize,
    /// The type of the impl around; `None` outside of one, and for a type without a name.
    owner: Option<String>,
    /// Index of the function with the keyword around.
    function: Option<usize>,
    /// The code is in a const context.
    is_const: bool,
    /// The next line of documentation may continue a constant of an example.
    in_example: bool,
}

impl Notes {
    /// Notes that the code around calls this name.
    fn call(&mut self, owner: Owner, name: String) {
        let used = ConstUse { owner, name };
        if self.is_const {
            self.found.uses.push(used);
        } else if let Some(function) = self.function {
            self.found.functions[function].calls.push(used);
        }
    }

    fn in_const(&mut self, work: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.is_const, true);
        work(self);
        self.is_const = outer;
    }

    /// Runs `work` on a function with this signature.
    fn function(&mut self, signature: &Signature, attributes: &[Attribute], work: impl FnOnce(&mut Self)) {
        let is_own = |attribute: &Attribute| {
            attribute.path().segments.last().is_some_and(|name| name.ident.to_string().starts_with("rustc_"))
        };
        let keyword = signature.constness.as_ref().filter(|_| !attributes.iter().any(is_own));
        let outer = (self.is_const, self.function);
        (self.is_const, self.function) = (false, None);
        match keyword {
            Some(keyword) => {
                self.function = Some(self.found.functions.len());
                self.found.functions.push(ConstFn {
                    at: self.start + keyword.span.byte_range().start,
                    owner: self.owner.clone(),
                    name: unraw(&signature.ident),
                    calls: Vec::new(),
                });
            }
            // What stays const is a const context.
            None => self.is_const = signature.constness.is_some(),
        }
        work(self);
        (self.is_const, self.function) = outer;
    }

    /// The path of a function, or what may be one.
    fn path(&mut self, path: &Path, is_qualified: bool) {
        let Some(last) = path.segments.last() else { return };
        let before = path.segments.iter().rev().nth(1);
        let owner = match before.map(|segment| unraw(&segment.ident)) {
            _ if is_qualified => Owner::Unknown,
            None => Owner::Free,
            Some(name) => self.named(name),
        };
        self.call(owner, unraw(&last.ident));
    }

    /// The owner with this name: types have capitals.
    fn named(&self, name: String) -> Owner {
        match name.as_str() {
            "Self" => self.owner.clone().map_or(Owner::Unknown, Owner::Type),
            _ if name.starts_with(char::is_uppercase) => Owner::Type(name),
            _ => Owner::Free,
        }
    }

    /// Tokens that may become code in a const context. In a definition of a macro, the names are written out; elsewhere a
    /// name may become part of any path. Returns the names of a definition that are a constant's only where the macro is.
    fn tokens(&mut self, tokens: TokenStream, is_definition: bool) -> Vec<ConstUse> {
        let mut found = Vec::new();
        each_name(tokens, !is_definition, &mut |tokens, index, is_const| {
            let TokenTree::Ident(name) = &tokens[index] else { return };
            let before = |count: usize| index.checked_sub(count);
            let mark = |at: Option<usize>| match at.map(|at| &tokens[at]) {
                Some(TokenTree::Punct(mark)) => mark.as_char(),
                _ => ' ',
            };
            let owner = match (mark(before(1)), mark(before(2)), before(3).map(|at| &tokens[at])) {
                (':', ':', Some(TokenTree::Ident(owner))) if mark(before(4)) != '$' => {
                    match self.named(unraw(owner)) {
                        Owner::Type(name) if owner == "Self" => Owner::Type(name),
                        owner => owner,
                    }
                }
                (':', ':', _) | ('.', ..) => Owner::Unknown,
                _ if is_definition => Owner::Free,
                _ => Owner::Unknown,
            };
            let uses = if is_const { &mut self.found.uses } else { &mut found };
            uses.push(ConstUse { owner, name: unraw(name) });
        });
        found
    }

    /// The macros that tokens call. Those in a constant among them become uses, the others are returned.
    fn macros_in(&mut self, tokens: TokenStream, is_const: bool) -> Vec<ConstUse> {
        let mut found = Vec::new();
        each_macro(tokens, is_const, &mut |name, is_const| {
            let uses = if is_const { &mut self.found.uses } else { &mut found };
            uses.push(ConstUse { owner: Owner::Macro, name });
        });
        found
    }

    /// Notes a call of a macro, and those in its arguments.
    fn macro_call(&mut self, node: &Macro) {
        if let Some(last) = node.path.segments.last() {
            self.call(Owner::Macro, unraw(&last.ident));
        }
        for used in self.macros_in(node.tokens.clone(), self.is_const) {
            self.call(used.owner, used.name);
        }
    }

    /// Examples in a doc comment that have constants: each is compiled as a program of its own. A constant goes on to a line
    /// with a semicolon, or to the end of its paragraph.
    fn examples(&mut self, text: &str) {
        self.in_example |= text.contains("const ") || text.contains("static ");
        if !self.in_example {
            return;
        }
        self.in_example = !text.contains([';', '`']) && !text.trim().is_empty();
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        for (at, _) in text.match_indices('!') {
            let name = &text[text[..at].trim_end_matches(is_word).len()..at];
            if !name.is_empty() {
                self.found.uses.push(ConstUse { owner: Owner::Macro, name: name.to_owned() });
            }
        }
        for (at, _) in text.match_indices('(') {
            let before = &text[..at];
            let path = before.trim_end_matches(is_word);
            let name = &before[path.len()..];
            let owner = path.strip_suffix("::").map(|owner| &owner[owner.trim_end_matches(is_word).len()..]);
            let owner = match owner {
                Some(owner) if owner.starts_with(char::is_uppercase) => Owner::Type(owner.to_owned()),
                Some("") => Owner::Unknown,
                _ if path.ends_with('.') => Owner::Unknown,
                _ => Owner::Free,
            };
            if !name.is_empty() {
                self.found.uses.push(ConstUse { owner, name: name.to_owned() });
            }
        }
    }
}

/// The macros that get the arguments of a call, without those of the standard library: its own, and those that the arguments
/// call. A path into another crate is the name of no macro of the build.
fn macros_of(mac: &Macro) -> Vec<String> {
    let Some(last) = mac.path.segments.last() else { return Vec::new() };
    let mut inside = mac.path.segments.iter().take(mac.path.segments.len() - 1);
    let is_own = inside.all(|segment| ["crate", "self", "super"].iter().any(|root| segment.ident == root));
    let name = if is_own { unraw(&last.ident) } else { String::new() };
    let mut macros = vec![name];
    each_macro(mac.tokens.clone(), false, &mut |name, _| macros.push(name));
    macros.retain(|name| !ORDINARY.contains(&name.as_str()));
    macros
}

/// Whether the rules of a macro put what they are given into a constant.
fn has_variable_in_constant(tokens: TokenStream) -> bool {
    let mut found = false;
    each_name(tokens, false, &mut |tokens, index, is_const| {
        found |= is_const
            && index > 0
            && is_mark(&tokens[index - 1], '$')
            && !matches!(&tokens[index], TokenTree::Ident(name) if name == "crate");
    });
    found
}

/// Calls `work` for each macro that tokens call, with whether that is in a constant among them.
fn each_macro(tokens: TokenStream, is_const: bool, work: &mut impl FnMut(String, bool)) {
    each_name(tokens, is_const, &mut |tokens, index, is_const| {
        if let (TokenTree::Ident(name), Some(next)) = (&tokens[index], tokens.get(index + 1))
            && is_mark(next, '!')
        {
            work(unraw(name), is_const);
        }
    });
}

/// Calls `work` for each name in tokens: with the tokens around, its index, and whether it is in a constant among them. A
/// constant goes from a keyword to the end of its item or block; what has a `;` in square brackets is an array with its length.
fn each_name(tokens: TokenStream, is_const: bool, work: &mut impl FnMut(&[TokenTree], usize, bool)) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut in_constant = is_const;
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                let is_called = index > 0 && is_mark(&tokens[index - 1], '!');
                let is_array = group.delimiter() == Delimiter::Bracket
                    && !is_called
                    && group.stream().into_iter().any(|token| is_mark(&token, ';'));
                each_name(group.stream(), in_constant || is_array, work);
                in_constant &= is_const || group.delimiter() != Delimiter::Brace;
            }
            TokenTree::Ident(word) if ["const", "static", "enum"].iter().any(|keyword| word == keyword) => {
                in_constant = true;
            }
            TokenTree::Ident(_) => work(&tokens, index, in_constant),
            TokenTree::Punct(mark) if mark.as_char() == ';' => in_constant = is_const,
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

/// Whether tokens have a const context in them.
fn mentions_const(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "const" || word == "static",
        TokenTree::Group(group) => mentions_const(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

impl<'ast> Visit<'ast> for Notes {
    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        let owner = self.owner.take();
        self.function(&node.sig, &node.attrs, |notes| visit::visit_item_fn(notes, node));
        self.owner = owner;
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.function(&node.sig, &node.attrs, |notes| visit::visit_impl_item_fn(notes, node));
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        self.function(&node.sig, &node.attrs, |notes| visit::visit_trait_item_fn(notes, node));
    }

    fn visit_item_impl(&mut self, node: &'ast ItemImpl) {
        let name = match &*node.self_ty {
            Type::Path(path) => path.path.segments.last().map(|name| unraw(&name.ident)),
            _ => None,
        };
        let outer = std::mem::replace(&mut self.owner, name);
        visit::visit_item_impl(self, node);
        self.owner = outer;
    }

    fn visit_item_type(&mut self, node: &'ast syn::ItemType) {
        self.found.aliases.push(unraw(&node.ident));
        visit::visit_item_type(self, node);
    }

    fn visit_impl_item_type(&mut self, node: &'ast syn::ImplItemType) {
        self.found.aliases.push(unraw(&node.ident));
        visit::visit_impl_item_type(self, node);
    }

    fn visit_type_param(&mut self, node: &'ast syn::TypeParam) {
        self.found.aliases.push(unraw(&node.ident));
        visit::visit_type_param(self, node);
    }

    fn visit_use_tree(&mut self, node: &'ast UseTree) {
        if let UseTree::Rename(rename) = node {
            let (new, old) = (unraw(&rename.rename), unraw(&rename.ident));
            self.found.aliases.push(new.clone());
            self.found.renames.push((new, old));
        }
        visit::visit_use_tree(self, node);
    }

    // Const contexts.

    fn visit_item_const(&mut self, node: &'ast syn::ItemConst) {
        self.in_const(|notes| visit::visit_item_const(notes, node));
    }

    fn visit_item_static(&mut self, node: &'ast syn::ItemStatic) {
        self.in_const(|notes| visit::visit_item_static(notes, node));
    }

    fn visit_impl_item_const(&mut self, node: &'ast syn::ImplItemConst) {
        self.in_const(|notes| visit::visit_impl_item_const(notes, node));
    }

    fn visit_trait_item_const(&mut self, node: &'ast syn::TraitItemConst) {
        self.in_const(|notes| visit::visit_trait_item_const(notes, node));
    }

    fn visit_type(&mut self, node: &'ast Type) {
        self.in_const(|notes| visit::visit_type(notes, node));
    }

    fn visit_generic_argument(&mut self, node: &'ast syn::GenericArgument) {
        self.in_const(|notes| visit::visit_generic_argument(notes, node));
    }

    fn visit_const_param(&mut self, node: &'ast syn::ConstParam) {
        self.in_const(|notes| visit::visit_const_param(notes, node));
    }

    fn visit_field(&mut self, node: &'ast syn::Field) {
        self.in_const(|notes| visit::visit_field(notes, node));
    }

    fn visit_variant(&mut self, node: &'ast syn::Variant) {
        self.in_const(|notes| visit::visit_variant(notes, node));
    }

    fn visit_expr_const(&mut self, node: &'ast syn::ExprConst) {
        self.in_const(|notes| visit::visit_expr_const(notes, node));
    }

    fn visit_expr_repeat(&mut self, node: &'ast syn::ExprRepeat) {
        // The value may have to be const, when its type cannot be copied.
        self.in_const(|notes| visit::visit_expr_repeat(notes, node));
    }

    fn visit_expr_call(&mut self, node: &'ast syn::ExprCall) {
        let name = match &*node.func {
            Expr::Path(path) => path.path.segments.last().map(|name| unraw(&name.ident)),
            _ => None,
        };
        match name.is_some_and(|name| name.starts_with(INTRINSIC)) {
            true => self.in_const(|notes| visit::visit_expr_call(notes, node)),
            false => visit::visit_expr_call(self, node),
        }
    }

    // Calls.

    fn visit_expr(&mut self, node: &'ast Expr) {
        match node {
            Expr::Path(path) => self.path(&path.path, path.qself.is_some()),
            Expr::MethodCall(call) => self.call(Owner::Unknown, unraw(&call.method)),
            _ => {}
        }
        visit::visit_expr(self, node);
    }

    fn visit_item_macro(&mut self, node: &'ast syn::ItemMacro) {
        if let Some(name) = &node.ident {
            let tokens = &node.mac.tokens;
            let mut calls = self.macros_in(tokens.clone(), false);
            let names = calls.iter().map(|used| used.name.clone());
            let passes_on = names.filter(|name| !ORDINARY.contains(&name.as_str())).collect();
            calls.extend(self.tokens(tokens.clone(), true));
            let is_plain = !has_variable_in_constant(tokens.clone());
            self.found.macros.push(ConstMacro { name: unraw(name), calls, passes_on, is_plain });
        }
        visit::visit_item_macro(self, node);
    }

    fn visit_macro(&mut self, node: &'ast Macro) {
        if node.path.is_ident("macro_rules") {
            return;
        }
        self.macro_call(node);
        let outer = self.found.uses.len();
        self.tokens(node.tokens.clone(), false);
        if self.is_const || mentions_const(node.tokens.clone()) {
            return;
        }
        let calls: Vec<_> = self.found.uses.drain(outer..).collect();
        if self.function.is_some() {
            // A function that stays const calls what its macros call.
            calls.iter().for_each(|used| self.call(used.owner.clone(), used.name.clone()));
        }
        let macros = macros_of(node);
        if !macros.is_empty() && !calls.is_empty() {
            self.found.arguments.push(MacroArguments { macros, calls });
        }
    }

    fn visit_attribute(&mut self, node: &'ast Attribute) {
        match &node.meta {
            syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => {
                if let Expr::Lit(text) = &pair.value
                    && let syn::Lit::Str(text) = &text.lit
                {
                    self.examples(&text.value());
                }
            }
            syn::Meta::List(list) if !PLAIN.iter().any(|name| list.path.is_ident(name)) => {
                self.tokens(list.tokens.clone(), false);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::site::constness::removable;
    use crate::{Constness, Options, analyze};
    use std::collections::HashSet;

    fn noted(text: &str) -> Constness {
        analyze(text.as_bytes(), &Options::default()).expect("it parses").constness().clone()
    }

    /// The names of the functions that lose the keyword.
    fn freed(texts: &[&str], kept: &[&str]) -> Vec<String> {
        let noted: Vec<Constness> = texts.iter().map(|text| noted(text)).collect();
        let files: Vec<_> = noted.iter().collect();
        let kept: HashSet<String> = kept.iter().map(|name| (*name).to_owned()).collect();
        let offsets = removable(&files, &kept).keywords;
        let mut names = Vec::new();
        for (text, offsets) in texts.iter().zip(offsets) {
            for at in offsets {
                let name = text[at..].split("fn ").nth(1).expect("a function");
                names.push(name.split(['(', '<']).next().unwrap_or_default().to_owned());
            }
        }
        names
    }

    #[track_caller]
    fn assert_freed(text: &str, names: &[&str]) {
        assert_eq!(freed(&[text], &[]), names, "{text}");
    }

    #[test]
    fn a_function_without_a_const_caller_is_freed() {
        assert_freed("const fn f() {} fn main() { f(); }", &["f"]);
        assert_freed("struct A; impl A { pub const unsafe fn new() {} } fn g() { A::new() }", &["new"]);
        assert_freed("mod m { pub(crate) const fn f() {} } const fn g() { m::f() }", &["f", "g"]);
        assert_freed("#[rustc_const_stable] const fn f() {}", &[]);
    }

    #[test]
    fn what_follows_a_constant_in_an_example_is_ordinary() {
        for text in
            ["/// const X: u8 = 1;\n/// f();\nstruct S;", "/// A const fn\n///\n/// calls f().\nstruct S;"]
        {
            assert_eq!(freed(&["const fn f() -> u8 { 1 }", text], &[]), ["f"], "{text}");
        }
    }

    #[test]
    fn each_const_context_keeps_what_it_calls() {
        for context in [
            "const X: u8 = f();",
            "static X: u8 = m::f();",
            "type X = [u8; f()];",
            "fn g() { let x = [0; f()]; }",
            "fn g() { let x = [f(); 2]; }",
            "enum E { A = f() }",
            "fn g() { h::<{ f() }>(); }",
            "struct S<const N: u8 = { f() }>;",
            "fn g() { const { f() } }",
            "fn g() { match 1 { const { f() } => {} _ => {} } }",
            "trait T { const X: u8 = f(); }",
            "impl T for u8 { const X: u8 = f(); }",
            "fn g() { static X: u8 = f(); }",
            "thread_local! { static X: u8 = const { f() } }",
            "macro_rules! m { () => { const X: u8 = $crate::f(); } }",
            "fn g() { other!(f) }",
            "fn g() { println!(\"{}\", const { f() }) }",
            "const X: u8 = if true { f() } else { 0 };",
            "const X: u8 = assert!(f());",
            "#[attribute(default = f())] struct S;",
            "/// `const X: u8 = f();`\nstruct S;",
            "/// const X: u8 =\n///     f();\nstruct S;",
            "/// static X: A = A {\n///     a: 1,\n///     b: f(),\n/// };\nstruct S;",
            "use m::f as h; const X: u8 = h();",
            "const X: fn() = f;",
            "fn g() { arch::_mm_shuffle_epi32(x, f()) }",
        ] {
            assert_freed(&format!("const fn f() -> u8 {{ 0 }} const fn other() {{}} {context}"), &["other"]);
        }
    }

    #[test]
    fn a_type_before_the_name_decides() {
        let types = "struct A; struct B; impl A { const fn new() {} } impl B { const fn new() {} } ";
        let in_order = |text: &str| {
            let text = format!("{types}{text}");
            let offsets = removable(&[&noted(&text)], &HashSet::new()).keywords.remove(0);
            offsets.iter().map(|at| *at < text.find("impl B").expect("it")).collect::<Vec<bool>>()
        };
        assert_eq!(in_order("fn f() { A::new() }"), [true, false]);
        assert_eq!(in_order("const X: A = A::new();"), [false]);
        assert_eq!(in_order("const X: A = m::A::<u8>::new();"), [false]);
        assert_eq!(in_order("impl B { const X: B = Self::new(); }"), [true]);
        assert_eq!(in_order("const X: u8 = C::new();"), [true, false]);
        assert_eq!(in_order("type C = A; const X: u8 = C::new();"), [false; 0]);
        assert_eq!(in_order("const X: A = <A>::new();"), [false; 0]);
        assert_eq!(in_order("const X: u8 = x.new();"), [false; 0]);
        assert_eq!(in_order("const X: u8 = new();"), [true, false]);
        assert_eq!(in_order("m! { static X: A = A::new(); }"), [false]);
        assert_eq!(in_order("macro_rules! m { ($t:ty) => { const X: u8 = $t::new(); } }"), [false; 0]);
    }

    #[test]
    fn a_rule_keeps_what_it_calls_in_a_constant_or_where_a_constant_calls_it() {
        let freed_with = |text: &str| freed(&["const fn f() -> u8 { 0 }", text], &[]);
        for text in [
            "macro_rules! m { () => { $crate::f() } } fn g() { m!() }",
            "macro_rules! m { ($n:ident) => { fn $n() -> u8 { f() } } } m!(g);",
            "macro_rules! m { () => { { const X: u8 = 1; f() } } }",
            "macro_rules! m { () => { f() } } macro_rules! n { () => { m!() } } fn g() { n!() }",
            "macro_rules! m { () => { vec![f(); 2] } }",
        ] {
            assert_eq!(freed_with(text), ["f"], "{text}");
        }
        for text in [
            "macro_rules! m { () => { $crate::f() } } const X: u8 = m!();",
            "macro_rules! m { ($n:ident) => { const fn $n() -> u8 { f() } } } m!(g);",
            "macro_rules! m { ($n:ident) => { enum $n { A = f() } } } m!(g);",
            "macro_rules! m { () => { [0; f()] } }",
            "macro_rules! m { () => { f() } } macro_rules! n { () => { m!() } } static X: u8 = n!();",
            "macro_rules! m { () => { f() } } macro_rules! n { ($n:ident) => { const $n: u8 = m!(); } }",
            "macro_rules! m { () => { f() } } fn g() -> [u8; m!()] { h() }",
            "macro_rules! m { () => { f() } }\n/// const X: u8 = m!();\nstruct S;",
        ] {
            assert_eq!(freed_with(text), [""; 0], "{text}");
        }
        assert_eq!(freed(&["const fn f() {}", "macro_rules! m { () => { f() } }"], &["m!"]), [""; 0]);
    }

    #[test]
    fn an_argument_is_a_constants_where_the_rules_put_it_into_one() {
        let freed_with = |text: &str| freed(&["const fn f() -> u8 { 0 }", text], &[]);
        for text in [
            "macro_rules! m { ($e:expr) => { assert!($e) } } fn g() { m!(f()) }",
            "macro_rules! m { ($e:expr) => { const X: u8 = 1; $e } } fn g() { crate::m!(a.f()) }",
            "macro_rules! m { ($e:expr) => { n!($e) } } macro_rules! n { ($e:expr) => { m!($e) } } fn g() { m!(n!(f())) }",
            "macro_rules! m { ($e:expr) => { $e } } const fn g() { m!(f()) }",
        ] {
            assert!(freed_with(text).contains(&"f".to_owned()), "{text}");
        }
        for text in [
            "macro_rules! m { ($e:expr) => { const X: u8 = $e; } } fn g() { m!(f()) }",
            "macro_rules! m { ($e:expr) => { [0; $e] } } fn g() { m!(f()) }",
            "macro_rules! m { ($($t:tt)*) => { n!($($t)*) } } macro_rules! n { ($e:expr) => { const X: u8 = $e; } } fn g() { m!(f()) }",
            "macro_rules! m { ($e:expr) => { other!($e) } } fn g() { m!(f()) }",
            "macro_rules! m { ($e:expr) => { $e } } fn g() { m!(other!(f())) }",
            "macro_rules! m { ($e:expr) => { $e } } fn g() { other::m!(f()) }",
            "macro_rules! m { ($e:expr) => { $e } } macro_rules! m { ($e:expr) => { const { $e } } } fn g() { m!(f()) }",
            "macro_rules! m { ($i:item) => { $i } } m!(const X: u8 = f(););",
            "macro_rules! m { ($e:expr) => { $e } } const X: u8 = m!(f());",
            "macro_rules! m { ($e:expr) => { $e } } const fn g() -> u8 { m!(f()) } const X: u8 = g();",
        ] {
            assert_eq!(freed_with(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn what_a_const_function_calls_stays_const_with_it() {
        let text = "const fn a() { b(); println!(\"{}\", d()) } const fn b() { c() } const fn c() {} const fn d() {} const fn e() {}";
        assert_freed(text, &["a", "b", "c", "d", "e"]);
        assert_freed(&format!("{text} const X: () = a();"), &["e"]);
        assert_freed(&format!("{text} const X: () = b();"), &["a", "d", "e"]);
        assert_eq!(freed(&[text], &["b"]), ["a", "d", "e"]);
        assert_eq!(freed(&[text, "const X: () = a();"], &[]), ["e"]);
        let nested = "const fn a() { fn g() { b() } } const fn b() {} const X: () = a();";
        assert_freed(nested, &["b"]);
    }

    #[test]
    fn statements_of_freed_functions_are_recorded() {
        let text = "\u{feff}const fn f() -> u8 { 1 }\npub const unsafe fn g() {}\n";
        let keywords = removable(&[&noted(text)], &HashSet::new()).keywords.remove(0);
        let options = Options::default();
        let analysis =
            crate::analyze_freed(text.as_bytes(), &keywords, &HashSet::new(), &options, &Default::default())
                .expect("it parses");
        let numbers = crate::Numbers { ids: vec![1], first: 1, values: 1 };
        let result = crate::instrument(text.as_bytes(), &analysis, &numbers, &options).expect("a text");
        let result = String::from_utf8(result).expect("a text");
        let wanted =
            "\u{feff}      fn f() -> u8 { ::xhist_rt::e(0x1_0001_0201);1 }\npub       unsafe fn g() {}\n";
        assert_eq!(result, wanted);
        let wrong =
            crate::analyze_freed(text.as_bytes(), &[0], &HashSet::new(), &options, &Default::default());
        assert!(wrong.is_err(), "another word");
    }
}
