//! Macro calls and definitions. Arguments are tokens, not code, except where they are known to be expressions.

use super::super::tokens::{self, Scan};
use super::Walker;
use crate::site::Reason;
use proc_macro2::{Delimiter, Group, TokenStream};
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::visit::Visit as _;
use syn::{Expr, ItemMacro, Macro, Token};

/// Macros of the standard library whose arguments are plain expressions that are neither printed nor matched.
const EXPRESSIONS: [&str; 12] = [
    "assert_eq",
    "assert_ne",
    "debug_assert_eq",
    "debug_assert_ne",
    "eprint",
    "eprintln",
    "format",
    "print",
    "println",
    "vec",
    "write",
    "writeln",
];

impl Walker<'_> {
    pub(super) fn macro_call(&mut self, mac: &Macro) {
        let arguments = is_known(mac).then(|| expressions(mac.tokens.clone())).flatten();
        if let Some(arguments) = arguments {
            arguments.iter().for_each(|argument| self.visit_expr(argument));
            return;
        }
        let mut scan = Scan::default();
        if let Some(segment) = mac.path.segments.last() {
            scan.include(&segment.ident, &Group::new(Delimiter::None, mac.tokens.clone()));
        }
        // The outermost bracket belongs to the call, also when it is a brace: its `;` may end statements.
        let hidden =
            self.scan(scan, mac.tokens.clone(), matches!(mac.delimiter, syn::MacroDelimiter::Brace(_)));
        self.hide(mac, hidden, Reason::MacroArguments);
    }

    pub(super) fn macro_definition(&mut self, item: &ItemMacro) {
        let hidden = self.scan(Scan::default(), item.mac.tokens.clone(), false);
        self.hide(&item.mac, hidden, Reason::MacroDefinition);
    }

    fn hide(&mut self, mac: &Macro, statements: u32, reason: Reason) {
        if let (1.., Some(segment)) = (statements, mac.path.segments.first()) {
            self.skip(self.bytes(segment.ident.span()).start, reason, statements);
        }
    }

    /// Notes the files that tokens lead to; returns how many statements they may hold.
    pub(super) fn scan(&mut self, mut scan: Scan, tokens: TokenStream, in_braces: bool) -> u32 {
        let mut inside = std::mem::take(&mut self.inside);
        if in_braces {
            scan.braced(tokens, &mut inside);
        } else {
            scan.run(tokens, &mut inside);
        }
        self.inside = inside;
        let statements = scan.statements;
        let (code, found) = (self.code, &mut self.found);
        tokens::add(scan, &mut found.modules, &mut found.includes, |at| code.lines.line(at + code.start));
        statements
    }

    /// Syntax that the parser hands on as tokens.
    pub(super) fn unknown(&mut self, tokens: &TokenStream) {
        let Some(first) = tokens.clone().into_iter().next() else { return };
        let hidden = self.scan(Scan::default(), tokens.clone(), false);
        if hidden > 0 {
            self.skip(self.bytes(first.span()).start, Reason::UnknownSyntax, hidden);
        }
    }
}

/// `println!` or `std::println!`, but not `log::println!`.
fn is_known(mac: &Macro) -> bool {
    let mut segments = mac.path.segments.iter();
    let Some(name) = segments.next_back() else { return false };
    EXPRESSIONS.iter().any(|known| name.ident == known)
        && segments.all(|segment| ["std", "core", "alloc"].iter().any(|krate| segment.ident == krate))
}

/// `a, b, c` or `a; n`, or nothing when the tokens are something else.
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
