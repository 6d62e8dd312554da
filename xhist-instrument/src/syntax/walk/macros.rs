//! Macro calls and definitions. Arguments are tokens, not code, except where they are known to be expressions.

use super::super::tokens::{self, Scan};
use super::Walker;
use super::expansions::{Place, is_written};
use crate::shape::{self, Form};
use crate::site::Reason;
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::visit::Visit as _;
use syn::{Expr, ItemMacro, Macro, Path, Token};

/// Macros of the standard library whose arguments are plain expressions that are neither printed nor matched.
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
    /// A call; where it stands, if that is a place for statements.
    pub(super) fn macro_call(&mut self, mac: &Macro, place: Option<Place>) {
        if let Some(arguments) = self.expressions_of(&mac.path, &mac.tokens) {
            if arguments.is_empty() {
                self.checks.saw(&mac.tokens, true);
            }
            self.arguments(|walker| arguments.iter().for_each(|argument| walker.visit_expr(argument)));
            return;
        }
        let is_code = place.is_some_and(|place| self.expanded(mac, place));
        // The outermost call leads to the files that the calls in its expansion lead to.
        let tells_nothing = if self.expansions.is_under_way() { is_code } else { self.tells_nothing(mac) };
        let hidden = if tells_nothing { 0 } else { self.scan_call(mac) };
        if !is_code {
            self.checks.saw(&mac.tokens, false);
            self.opaque(&mac.tokens);
            self.hide(mac, hidden, Reason::MacroArguments);
        }
    }

    /// The arguments of a macro of the standard library that are plain expressions.
    pub(super) fn expressions_of(&mut self, path: &Path, tokens: &TokenStream) -> Option<Vec<Expr>> {
        if !is_known(path) {
            return None;
        }
        if !holds_blocks(tokens) {
            return Some(Vec::new());
        }
        // The program may have one of its own by this name, which may print or match its arguments.
        if let Some(name) = path.get_ident().map(tokens::unraw) {
            let scope = self.scope();
            if scope.has(&name) || scope.replaces(&name) {
                return None;
            }
            self.found.unknown_macros.insert(name);
        }
        expressions(tokens.clone())
    }

    /// Whether a glance at the arguments shows that a scan would find nothing.
    fn tells_nothing(&self, mac: &Macro) -> bool {
        let brackets = mac.delimiter.span();
        let text = &self.code.text[self.start_of(brackets.open())..self.end_of(brackets.close())];
        let is_include =
            mac.path.segments.last().is_some_and(|last| last.ident.to_string().starts_with("include"));
        !is_include && !["mod", ";", "include", "{", "|"].iter().any(|word| text.contains(word))
    }

    /// Notes the files that a call leads to; returns how many statements it may hold.
    fn scan_call(&mut self, mac: &Macro) -> u32 {
        let mut scan = Scan::default();
        if let Some(segment) = mac.path.segments.last() {
            scan.include(&segment.ident, &Group::new(Delimiter::None, mac.tokens.clone()));
        }
        // The outermost bracket belongs to the call, also when it is a brace: its `;` may end statements.
        self.scan(scan, mac.tokens.clone(), matches!(mac.delimiter, syn::MacroDelimiter::Brace(_)))
    }

    pub(super) fn macro_definition(&mut self, item: &ItemMacro) {
        let mut hidden = Scan::default();
        hidden.rules(item.mac.tokens.clone(), &mut Vec::new());
        self.scan(Scan::default(), item.mac.tokens.clone(), false);
        self.opaque(&item.mac.tokens);
        self.hide(&item.mac, hidden.statements, Reason::MacroDefinition);
    }

    fn hide(&mut self, mac: &Macro, statements: u32, reason: Reason) {
        let Some(segment) = mac.path.segments.first() else { return };
        // A call that another macro wrote is shown where its arguments stand.
        let span = if self.is_written(segment.ident.span()) {
            Some(segment.ident.span())
        } else {
            first_written(&mac.tokens)
        };
        if let (1.., Some(span)) = (statements, span) {
            self.skip(self.start_of(span), reason, statements);
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
        if hidden > 0 && self.is_written(first.span()) {
            self.skip(self.start_of(first.span()), Reason::UnknownSyntax, hidden);
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

/// Whether an expression in the tokens may hold statements or lead to files: a block, a closure, a macro.
fn holds_blocks(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace || holds_blocks(&group.stream()),
        TokenTree::Punct(punct) => matches!(punct.as_char(), '|' | '!'),
        _ => false,
    })
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

/// Whether these tokens differ by nothing but calls that this tool inserts. White space does not count: a call may part
/// two marks.
pub(super) fn differ_by_calls(plain: &TokenStream, with_calls: &TokenStream) -> bool {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    level(plain, &mut a);
    level(with_calls, &mut b);
    let mut b = b.as_slice();
    let mut a = a.into_iter();
    loop {
        while let Some((inserted, behind)) = behind_call(b)
            && !matches!(inserted, Inserted::Recording(Form::Block | Form::Parens))
        {
            b = behind;
        }
        let (plain, with_calls) = match (a.next(), b.split_first()) {
            (None, None) => return true,
            (Some(plain), Some((with_calls, rest))) => {
                b = rest;
                (plain, with_calls)
            }
            _ => return false,
        };
        let same = match (&plain, with_calls) {
            (TokenTree::Group(a), TokenTree::Group(b)) => {
                a.delimiter() == b.delimiter() && differ_by_calls(&a.stream(), &b.stream())
            }
            (TokenTree::Punct(a), TokenTree::Punct(b)) => a.as_char() == b.as_char(),
            (TokenTree::Ident(a), TokenTree::Ident(b)) => a == b,
            (TokenTree::Literal(a), TokenTree::Literal(b)) => a.to_string() == b.to_string(),
            _ => false,
        };
        if !same {
            return false;
        }
    }
}

/// The tokens of one level, without brackets that nobody sees: groups of fragments, and those that wrap an expression
/// with a call.
fn level(tokens: &TokenStream, into: &mut Vec<TokenTree>) {
    for token in tokens.clone() {
        let TokenTree::Group(group) = &token else {
            into.push(token);
            continue;
        };
        if group.delimiter() == Delimiter::None {
            level(&group.stream(), into);
        } else if let Some(wrapped) = wrapped(group) {
            level(&wrapped, into);
        } else {
            into.push(token);
        }
    }
}

/// The expression in `{::xhist_rt::a::<..>();EXPR}` or `{::xhist_rt::p::<..>();(EXPR)}`, with triggers around the call.
fn wrapped(group: &Group) -> Option<TokenStream> {
    if group.delimiter() != Delimiter::Brace {
        return None;
    }
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let mut rest = tokens.as_slice();
    while let Some((Inserted::Start, behind)) = behind_call(rest) {
        rest = behind;
    }
    let (Inserted::Recording(form), mut rest) = behind_call(rest)? else { return None };
    if form == Form::Block {
        return Some(rest.iter().cloned().collect());
    }
    if form != Form::Parens {
        return None;
    }
    while let Some((Inserted::Stop, behind)) = behind_call(rest) {
        rest = behind;
    }
    match rest {
        [TokenTree::Group(parens)] => Some(parens.stream()),
        _ => None,
    }
}

/// What an inserted call is.
enum Inserted {
    Recording(Form),
    Start,
    Stop,
}

/// The call at the start of these tokens, `::xhist_rt::s::<..>();` or `::xhist_rt::stop_at(..);`, with the attributes that it
/// carries, and what follows it.
fn behind_call(tokens: &[TokenTree]) -> Option<(Inserted, &[TokenTree])> {
    let mut rest = tokens;
    while let [TokenTree::Punct(hash), TokenTree::Group(group), more @ ..] = rest
        && hash.as_char() == '#'
        && group.delimiter() == Delimiter::Bracket
    {
        rest = more;
    }
    let [_, _, TokenTree::Ident(krate), _, _, TokenTree::Ident(name), more @ ..] = rest else { return None };
    if krate != "xhist_rt" {
        return None;
    }
    let name = name.to_string();
    let (inserted, rest) = match (name.as_str(), shape::recording(name.as_bytes())) {
        (_, Some(recording)) => {
            let is_end = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == '>');
            let end = more.iter().take(MOST_OF_CONST).position(is_end)?;
            (Inserted::Recording(recording.form), &more[end + 1..])
        }
        ("start_at", None) => (Inserted::Start, more),
        ("stop_at", None) => (Inserted::Stop, more),
        _ => return None,
    };
    match rest {
        [TokenTree::Group(_), TokenTree::Punct(_), more @ ..] => Some((inserted, more)),
        _ => None,
    }
}

/// Tokens of `::<F,L,W>`.
const MOST_OF_CONST: usize = 9;
