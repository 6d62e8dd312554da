//! Macro calls and definitions. Arguments are tokens, not code, except where they are known to be expressions.

use super::super::tokens::{self, Scan};
use super::Walker;
use super::expansions::{Place, is_written};
use crate::site::Reason;
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::visit::Visit as _;
use syn::{Expr, ItemMacro, Macro, Path, Token};

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
    /// A call; where it stands, if that is a place for statements.
    pub(super) fn macro_call(&mut self, mac: &Macro, place: Option<Place>) {
        if let Some(arguments) = expressions_of(&mac.path, &mac.tokens) {
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
        if !place.is_some_and(|place| self.expanded(mac, place)) {
            self.opaque(&mac.tokens);
            self.hide(mac, hidden, Reason::MacroArguments);
        }
    }

    pub(super) fn macro_definition(&mut self, item: &ItemMacro) {
        let hidden = self.scan(Scan::default(), item.mac.tokens.clone(), false);
        self.opaque(&item.mac.tokens);
        self.hide(&item.mac, hidden, Reason::MacroDefinition);
    }

    fn hide(&mut self, mac: &Macro, statements: u32, reason: Reason) {
        let Some(segment) = mac.path.segments.first() else { return };
        // A call that another macro wrote is shown where its arguments stand.
        let span = if is_written(segment.ident.span()) {
            Some(segment.ident.span())
        } else {
            first_written(&mac.tokens)
        };
        if let (1.., Some(span)) = (statements, span) {
            self.skip(self.bytes(span).start, reason, statements);
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
        self.opaque(tokens);
        if hidden > 0 && is_written(first.span()) {
            self.skip(self.bytes(first.span()).start, Reason::UnknownSyntax, hidden);
        }
    }
}

/// `println!` or `std::println!`, but not `log::println!`.
fn is_known(path: &Path) -> bool {
    let mut segments = path.segments.iter();
    let Some(name) = segments.next_back() else { return false };
    EXPRESSIONS.iter().any(|known| name.ident == known)
        && segments.all(|segment| ["std", "core", "alloc"].iter().any(|krate| segment.ident == krate))
}

/// The arguments of a macro of the standard library that are plain expressions.
pub(super) fn expressions_of(path: &Path, tokens: &TokenStream) -> Option<Vec<Expr>> {
    is_known(path).then(|| expressions(tokens.clone())).flatten()
}

fn first_written(tokens: &TokenStream) -> Option<Span> {
    tokens.clone().into_iter().find_map(|token| match &token {
        token if is_written(token.span()) => Some(token.span()),
        TokenTree::Group(group) => first_written(&group.stream()),
        _ => None,
    })
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

/// The tokens without groups that have no brackets.
pub(super) fn flat(tokens: TokenStream) -> TokenStream {
    let each = |token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => flat(group.stream()),
        TokenTree::Group(group) => {
            TokenTree::Group(Group::new(group.delimiter(), flat(group.stream()))).into()
        }
        token => token.into(),
    };
    tokens.into_iter().flat_map(each).collect()
}

/// The same, and without the calls that this tool inserts.
pub(super) fn without_calls(tokens: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = flat(tokens).into_iter().collect();
    let mut out = TokenStream::new();
    let mut rest = tokens.as_slice();
    while let [token, more @ ..] = rest {
        if let Some(behind) = behind_call(rest, &["s", "c"]) {
            rest = behind;
            continue;
        }
        rest = more;
        let TokenTree::Group(group) = token else {
            out.extend([token.clone()]);
            continue;
        };
        let inside: Vec<TokenTree> = group.stream().into_iter().collect();
        match (behind_call(&inside, &["a"]), behind_call(&inside, &["p"])) {
            (Some(wrapped), _) => out.extend(without_calls(wrapped.iter().cloned().collect())),
            (_, Some([TokenTree::Group(wrapped)])) => out.extend(without_calls(wrapped.stream())),
            _ => {
                let group = Group::new(group.delimiter(), without_calls(group.stream()));
                out.extend([TokenTree::Group(group)]);
            }
        }
    }
    out
}

/// What follows `::xhist_rt::s(..);`, with the attributes that it carries.
fn behind_call<'t>(tokens: &'t [TokenTree], names: &[&str]) -> Option<&'t [TokenTree]> {
    let mut rest = tokens;
    while let [TokenTree::Punct(hash), TokenTree::Group(group), more @ ..] = rest
        && hash.as_char() == '#'
        && group.delimiter() == Delimiter::Bracket
    {
        rest = more;
    }
    match rest {
        [
            _,
            _,
            TokenTree::Ident(krate),
            _,
            _,
            TokenTree::Ident(name),
            TokenTree::Group(_),
            TokenTree::Punct(_),
            more @ ..,
        ] if krate == "xhist_rt" && names.iter().any(|wanted| name == wanted) => Some(more),
        _ => None,
    }
}

/// The same tokens. White space between them does not count: a call may part two marks.
pub(super) fn is_same(a: TokenStream, b: TokenStream) -> bool {
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    loop {
        let same = match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(TokenTree::Group(a)), Some(TokenTree::Group(b))) => {
                a.delimiter() == b.delimiter() && is_same(a.stream(), b.stream())
            }
            (Some(TokenTree::Punct(a)), Some(TokenTree::Punct(b))) => a.as_char() == b.as_char(),
            (Some(a), Some(b)) => a.to_string() == b.to_string(),
            _ => false,
        };
        if !same {
            return false;
        }
    }
}
