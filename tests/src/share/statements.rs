//! Where statements begin in a text, found by parsing it, without the rewriter's own idea of a statement.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, Local, Macro, Meta, Stmt, Token};

/// A line and a column, both from 1. A column counts bytes, as in profiles.
pub(super) type StatementStart = (usize, usize);

/// The statements of a file.
#[derive(Debug, Default)]
pub(super) struct Statements {
    /// Where they begin.
    pub starts: BTreeSet<StatementStart>,
    /// Modules in other files that are compiled for tests only.
    pub test_modules: Vec<String>,
}

impl Statements {
    /// Of this text; `None` when it does not parse.
    pub fn of(text: &str) -> Option<Statements> {
        let file = syn::parse_file(text).ok()?;
        let mut finder = Finder { lines: text.lines().collect(), found: Statements::default() };
        if !is_for_tests(&file.attrs) {
            finder.visit_file(&file);
        }
        Some(finder.found)
    }
}

struct Finder<'t> {
    lines: Vec<&'t str>,
    found: Statements,
}

impl Finder<'_> {
    fn add(&mut self, span: Span) {
        let start = span.start();
        let before = self.lines.get(start.line.saturating_sub(1)).copied().unwrap_or_default();
        let bytes: usize = before.chars().take(start.column).map(char::len_utf8).sum();
        self.found.starts.insert((start.line, bytes + 1));
    }

    /// An expression that is entered without a statement: an arm or a closure without a block.
    fn entered(&mut self, expr: &Expr) {
        if !is_block(expr) {
            self.add(first_of(expr));
        }
    }

    /// The arguments of a call, which are tokens, as expressions or items. Statements may be in braces only: `a; n` is a
    /// value and its count.
    fn tokens(&mut self, tokens: TokenStream) {
        if let Ok(file) = syn::parse2::<syn::File>(tokens.clone()) {
            return self.visit_file(&file);
        }
        let commas = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone());
        if let Ok(list) = commas {
            return list.iter().for_each(|expr| self.visit_expr(expr));
        }
        let semicolons = Punctuated::<Expr, Token![;]>::parse_terminated.parse2(tokens.clone());
        if let Ok(list) = semicolons {
            return list.iter().for_each(|expr| self.visit_expr(expr));
        }
        self.groups(tokens);
    }

    /// The same of tokens that may be statements.
    fn braced(&mut self, tokens: TokenStream) {
        if let Ok(file) = syn::parse2::<syn::File>(tokens.clone()) {
            return self.visit_file(&file);
        }
        let inner = Group::new(Delimiter::Brace, tokens.clone());
        let methods =
            "impl Rule".parse::<TokenStream>().into_iter().flatten().chain([TokenTree::Group(inner)]);
        if let Ok(items) = syn::parse2::<syn::ItemImpl>(methods.collect()) {
            return self.visit_item_impl(&items);
        }
        if let Ok(statements) = Block::parse_within.parse2(tokens.clone()) {
            return statements.iter().for_each(|statement| self.visit_stmt(statement));
        }
        self.groups(tokens);
    }

    /// What is in the brackets of tokens that do not parse as a whole.
    fn groups(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    self.braced(group.stream());
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = attributes_of(item);
        if !attributes.is_some_and(is_for_tests) {
            return visit::visit_item(self, item);
        }
        if let syn::Item::Mod(module) = item
            && module.content.is_none()
        {
            self.found.test_modules.push(module.ident.to_string());
        }
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let is_test = matches!(item, syn::ImplItem::Fn(function) if is_for_tests(&function.attrs));
        if !is_test {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        // The region around code that was not compiled covers it as well.
        if is_conditional(statement) {
            return;
        }
        match statement {
            Stmt::Local(Local { init: Some(_), let_token, .. }) => self.add(let_token.span),
            Stmt::Expr(expr, _) if !is_block(expr) => self.add(first_of(expr)),
            Stmt::Macro(call) if !call.mac.path.is_ident("macro_rules") => self.add(call.mac.path.span()),
            _ => {}
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.entered(&arm.body);
        visit::visit_arm(self, arm);
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        self.entered(&closure.body);
        visit::visit_expr_closure(self, closure);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        match call.path.is_ident("macro_rules") {
            true => rules(&call.tokens).into_iter().for_each(|body| self.braced(body)),
            false if matches!(call.delimiter, syn::MacroDelimiter::Brace(_)) => {
                self.braced(call.tokens.clone())
            }
            false => self.tokens(call.tokens.clone()),
        }
    }
}

/// The bodies of the rules of a macro, with names in place of their variables.
fn rules(tokens: &TokenStream) -> Vec<TokenStream> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let bodies = tokens.windows(3).filter_map(|window| match window {
        [TokenTree::Punct(equals), TokenTree::Punct(arrow), TokenTree::Group(body)]
            if equals.as_char() == '=' && arrow.as_char() == '>' =>
        {
            Some(without_variables(body.stream()))
        }
        _ => None,
    });
    bodies.collect()
}

/// `$name` as `name`, and `$( .. ) , *` as what is between its brackets.
fn without_variables(tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut result = Vec::new();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '$' => {
                let Some(TokenTree::Group(round)) = tokens.peek() else { continue };
                result.extend(without_variables(round.stream()));
                tokens.next();
                let is_end = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if "*+?".contains(mark.as_char()));
                // What is between two rounds is before the sign of repetition.
                if let Some(separator) = tokens.next_if(|token| !is_end(token)) {
                    result.push(separator);
                }
                tokens.next();
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), without_variables(group.stream()));
                inner.set_span(group.span());
                result.push(TokenTree::Group(inner));
            }
            token => result.push(token),
        }
    }
    result.into_iter().collect()
}

/// A block executes nothing of its own: the statements in it count.
fn is_block(expr: &Expr) -> bool {
    matches!(expr, Expr::Block(_) | Expr::Unsafe(_) | Expr::Const(_) | Expr::Async(_))
}

/// The span of its first token that is not of an attribute.
fn first_of(expr: &Expr) -> Span {
    let mut tokens = expr.to_token_stream().into_iter();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(hash) if hash.as_char() == '#' => _ = tokens.next(),
            token => return token.span(),
        }
    }
    expr.span()
}

/// Whether a statement is under `cfg`.
fn is_conditional(statement: &Stmt) -> bool {
    if let Stmt::Macro(call) = statement
        && call.mac.path.segments.last().is_some_and(|last| last.ident == "cfg_if")
    {
        return true;
    }
    let mut tokens = statement.to_token_stream().into_iter();
    while let (Some(TokenTree::Punct(hash)), Some(TokenTree::Group(attribute))) =
        (tokens.next(), tokens.next())
        && hash.as_char() == '#'
    {
        let name = attribute.stream().into_iter().next();
        if matches!(name, Some(TokenTree::Ident(name)) if name == "cfg") {
            return true;
        }
    }
    false
}

fn attributes_of(item: &syn::Item) -> Option<&[Attribute]> {
    Some(match item {
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        _ => return None,
    })
}

/// `#[test]` and `#[cfg(test)]`, also with more in its brackets.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.segments.last().is_some_and(|last| last.ident == "test"),
        Meta::List(list) if list.path.is_ident("cfg") => requires_test(list.tokens.clone()),
        _ => false,
    })
}

/// `test`, or `all(test, ..)`.
fn requires_test(tokens: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    match tokens.as_slice() {
        [TokenTree::Ident(word)] => word == "test",
        [TokenTree::Ident(word), TokenTree::Group(group)] if word == "all" => {
            let parts: Vec<TokenTree> = group.stream().into_iter().collect();
            parts
                .split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ','))
                .any(|part| requires_test(part.iter().cloned().collect()))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::Statements;

    /// Lines on which a statement begins.
    fn lines(text: &str) -> Vec<usize> {
        let mut lines: Vec<usize> =
            Statements::of(text).expect("it parses").starts.into_iter().map(|(line, _)| line).collect();
        lines.dedup();
        lines
    }

    #[test]
    fn a_statement_begins_on_its_first_line() {
        let text = "fn f(\n    x: u8,\n) -> u8 {\n    let y;\n    let z = g(\n        x,\n    );\n    unsafe {\n        h();\n    }\n    \
            if x {\n        1\n    } else {\n        2\n    }\n}\n";
        assert_eq!(lines(text), [5, 9, 11, 12, 14]);
    }

    #[test]
    fn arms_and_closures_without_a_block_count() {
        let text = "fn f() {\n    match a {\n        b => c,\n        d =>\n            e,\n        f => {}\n    }\n    \
            g\n        .map(|h|\n            h + 1)\n        .map(|i| {\n            i\n        })\n}";
        assert_eq!(lines(text), [2, 3, 5, 8, 10, 12]);
    }

    #[test]
    fn what_is_compiled_for_tests_or_under_a_condition_in_a_body_does_not_count() {
        let text = "#[cfg(test)]\nmod tests {\n    fn f() { g() }\n}\n#[cfg(all(test, a))]\nmod other;\n#[test]\nfn t() { g() }\n\
            fn f() {\n    #[cfg(a)]\n    {\n        g()\n    }\n    #[cfg(b)]\n    g();\n    #[allow(c)]\n    g();\n    \
            cfg_if! { if #[cfg(d)] {\n        g()\n    } }\n}\n#[cfg(a)]\nfn h() { g() }";
        assert_eq!(lines(text), [17, 23]);
        assert_eq!(Statements::of(text).expect("it parses").test_modules, ["other"]);
    }

    #[test]
    fn macros_are_read_as_what_they_hold() {
        let text = "macro_rules! m {\n    ($($t:ty, $f:ident);*) => { $(\n        impl A for $t {\n            fn $f() {\n                \
            $crate::g()\n            }\n        }\n    )* };\n    () => {{\n        let x = 1;\n        x\n    }};\n}\n\
            fn f() {\n    println!(\"{}\",\n        g(|| {\n            1\n        }));\n}\nn! {\n    fn g() {\n        h()\n    }\n}";
        assert_eq!(lines(text), [5, 10, 11, 15, 17, 22]);
    }

    #[test]
    fn a_value_and_its_count_are_no_statements() {
        let text = "fn f() {\n    g(\n        vec![\n            h; 3]);\n    i![a;\n        b; c => {\n            d();\n        }];\n}";
        assert_eq!(lines(text), [2, 5, 7]);
    }

    #[test]
    fn columns_count_bytes() {
        let starts = Statements::of("fn f() { let \u{e4} = 1; g() }").expect("it parses").starts;
        assert_eq!(starts.into_iter().collect::<Vec<_>>(), [(1, 10), (1, 22)]);
    }
}
