//! Macro calls and definitions. Their arguments are tokens, except where the macro is known to take expressions.

use super::super::token_scan::{self, TokenScan};
use super::Walker;
use super::expansion_state::is_from_source;
use super::parsed_expansion::MacroPosition;
use crate::site::Reason;
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::visit::Visit as _;
use syn::{Expr, ItemMacro, Macro, Path, Token};

/// Macros of the standard library whose arguments are plain expressions, neither stringified nor matched as tokens.
const EXPRESSIONS: [&str; 13] = [
    "assert_eq",
    "assert_ne",
    "debug_assert_eq",
    "debug_assert_ne",
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "print",
    "println",
    "vec",
    "write",
    "writeln",
];

impl Walker<'_> {
    /// Walks a call. `place` is its position, if its expansion may hold statements.
    pub(super) fn macro_call(&mut self, mac: &Macro, place: Option<MacroPosition>) {
        self.note_macro(&mac.path);
        if let Some(arguments) = self.expressions_of(&mac.path, &mac.tokens) {
            if arguments.is_empty() {
                self.checks.pass_tokens(&mac.tokens, true);
                self.note_tokens(&mac.tokens, false);
            }
            self.arguments(|walker| arguments.iter().for_each(|argument| walker.visit_expr(argument)));
            return;
        }
        let is_code = place.is_some_and(|place| self.walk_arguments(mac, place));
        // The scan of the outermost call covers the calls in its expansion.
        let is_scanned = if self.expansions.is_under_way() { is_code } else { self.scan_is_empty(mac) };
        let hidden = if is_scanned { 0 } else { self.scan_call(mac) };
        if !is_code {
            self.checks.pass_tokens(&mac.tokens, false);
            self.note_tokens(&mac.tokens, !is_plain(&mac.path));
            self.opaque(&mac.tokens);
            self.hide(mac, hidden, Reason::MacroArguments);
        }
        self.pass_macro(&mac.path);
    }

    /// The arguments of a call, if the macro is one of [`EXPRESSIONS`].
    pub(super) fn expressions_of(&mut self, path: &Path, tokens: &TokenStream) -> Option<Vec<Expr>> {
        if !takes_expressions(path) {
            return None;
        }
        if !holds_blocks(tokens) {
            return Some(Vec::new());
        }
        // A macro of the same name in the program may stringify or match its arguments.
        if let Some(name) = path.get_ident().map(token_scan::unraw) {
            let macros = self.macros();
            if macros.has(&name) || macros.may_be_replaced(&name) {
                return None;
            }
            self.found.unknown_macros.insert(name);
        }
        expressions(tokens.clone())
    }

    /// A quick look at the text: whether a scan of the arguments would find nothing.
    fn scan_is_empty(&self, mac: &Macro) -> bool {
        let brackets = mac.delimiter.span();
        let text = &self.code.text[self.start_of(brackets.open())..self.end_of(brackets.close())];
        let is_include =
            mac.path.segments.last().is_some_and(|last| last.ident.to_string().starts_with("include"));
        !is_include && !["mod", ";", "include", "{", "|"].iter().any(|word| text.contains(word))
    }

    /// Notes the files that a call names; returns how many statements it may hold.
    fn scan_call(&mut self, mac: &Macro) -> u32 {
        let mut scan = TokenScan::default();
        if let Some(segment) = mac.path.segments.last() {
            scan.include(&segment.ident, &Group::new(Delimiter::None, mac.tokens.clone()));
        }
        // The outer braces belong to the call, but the `;` inside may end statements.
        self.scan(scan, mac.tokens.clone(), matches!(mac.delimiter, syn::MacroDelimiter::Brace(_)))
    }

    pub(super) fn macro_definition(&mut self, item: &ItemMacro) {
        self.scan(TokenScan::default(), item.mac.tokens.clone(), false);
        self.opaque(&item.mac.tokens);
        let (left, reason) = self.rules(item);
        self.hide(&item.mac, left, reason);
    }

    fn hide(&mut self, mac: &Macro, statements: u32, reason: Reason) {
        let Some(segment) = mac.path.segments.first() else { return };
        // A call from the rules of another macro is shown at its arguments.
        let span = if self.is_from_source(segment.ident.span()) {
            Some(segment.ident.span())
        } else {
            first_written(&mac.tokens)
        };
        if let (1.., Some(span)) = (statements, span) {
            self.skip(self.start_of(span), reason, statements);
        }
    }

    /// Notes the files that tokens name; returns how many statements they may hold.
    pub(super) fn scan(&mut self, mut scan: TokenScan, tokens: TokenStream, in_braces: bool) -> u32 {
        let mut inside = std::mem::take(&mut self.inside);
        if in_braces {
            scan.braced(tokens, &mut inside);
        } else {
            scan.tokens(tokens, &mut inside);
        }
        self.inside = inside;
        let statements = scan.statements;
        let (code, found) = (self.code, &mut self.found);
        token_scan::add(scan, &mut found.modules, &mut found.includes, |at| code.lines.line(at + code.start));
        statements
    }

    /// Syntax that the parser keeps as tokens.
    pub(super) fn unknown_syntax(&mut self, tokens: &TokenStream) {
        let Some(first) = tokens.clone().into_iter().next() else { return };
        let hidden = self.scan(TokenScan::default(), tokens.clone(), false);
        self.opaque(tokens);
        if hidden > 0 && self.is_from_source(first.span()) {
            self.skip(self.start_of(first.span()), Reason::UnknownSyntax, hidden);
        }
    }
}

/// Whether the macro evaluates each of its arguments once at most.
fn is_plain(path: &Path) -> bool {
    const ONCE: [&str; 8] =
        ["assert", "debug_assert", "panic", "unreachable", "todo", "unimplemented", "matches", "dbg"];
    path.get_ident().is_some_and(|name| ONCE.iter().any(|known| name == known)) || takes_expressions(path)
}

/// `println!` or `std::println!`, but not `log::println!`.
fn takes_expressions(path: &Path) -> bool {
    let mut segments = path.segments.iter();
    let Some(name) = segments.next_back() else { return false };
    EXPRESSIONS.iter().any(|known| name.ident == known)
        && segments.all(|segment| ["std", "core", "alloc"].iter().any(|krate| segment.ident == krate))
}

/// Whether an expression in the tokens may hold statements or name files: a block, a closure, a macro.
fn holds_blocks(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace || holds_blocks(&group.stream()),
        TokenTree::Punct(punct) => matches!(punct.as_char(), '|' | '!'),
        _ => false,
    })
}

fn first_written(tokens: &TokenStream) -> Option<Span> {
    tokens.clone().into_iter().find_map(|token| match &token {
        token if is_from_source(token.span()) => Some(token.span()),
        TokenTree::Group(group) => first_written(&group.stream()),
        _ => None,
    })
}

/// Parses `a, b, c` or `a; n`.
fn expressions(tokens: TokenStream) -> Option<Vec<Expr>> {
    let parser = |input: ParseStream<'_>| {
        let first = input.parse::<Expr>()?;
        if input.parse::<Option<Token![;]>>()?.is_some() {
            return Ok(vec![first, input.parse()?]);
        }
        let rest = match input.parse::<Option<Token![,]>>()? {
            Some(_) => Punctuated::<Expr, Token![,]>::parse_terminated(input)?,
            None => Punctuated::new(),
        };
        Ok(std::iter::once(first).chain(rest).collect())
    };
    parser.parse2(tokens).ok()
}
