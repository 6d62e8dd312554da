//! Matches the arguments of a call against one rule, as the compiler does: in one pass, without backtracking.

use super::definition::{FragmentKind, MatcherPart, RepeatCount};
use super::mismatch::Mismatch;
use proc_macro2::{Delimiter, Group, TokenTree};
use syn::buffer::Cursor;
use syn::ext::IdentExt as _;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseBuffer, ParseStream, StepCursor};

/// The values of the variables of a rule.
pub(super) type Bindings<'p> = Vec<(&'p str, Binding)>;

/// The value of one variable.
pub(super) enum Binding {
    Tokens(Vec<TokenTree>),
    /// One value per repetition.
    Each(Vec<Binding>),
}

/// Matches all arguments.
pub(super) fn arguments<'p>(
    patterns: &'p [MatcherPart],
    input: ParseStream<'_>,
) -> Result<Bindings<'p>, Mismatch> {
    if !may_fit(patterns, input.cursor()) {
        return Err(Mismatch::Different);
    }
    let mut found = Bindings::new();
    sequence(patterns, input, &mut found)?;
    if input.is_empty() { Ok(found) } else { Err(Mismatch::Different) }
}

/// A fast check of the tokens before the first fragment, at each level: most rules do not match, and full matching is
/// slow.
fn may_fit(patterns: &[MatcherPart], mut at: Cursor<'_>) -> bool {
    for pattern in patterns {
        let rest = match pattern {
            MatcherPart::Token(wanted) => {
                at.token_tree().filter(|(token, _)| is_same(token, wanted)).map(|(_, rest)| rest)
            }
            MatcherPart::Group(delimiter, inner) => {
                let group = at.group(*delimiter).filter(|(content, ..)| may_fit(inner, *content));
                group.map(|(_, _, rest)| rest)
            }
            MatcherPart::Fragment(..) | MatcherPart::Repeat { .. } => return true,
        };
        match rest {
            Some(rest) => at = rest,
            None => return false,
        }
    }
    at.eof()
}

fn sequence<'p>(
    patterns: &'p [MatcherPart],
    input: ParseStream<'_>,
    found: &mut Bindings<'p>,
) -> Result<(), Mismatch> {
    for pattern in patterns {
        match pattern {
            MatcherPart::Token(wanted) => token(wanted, input)?,
            MatcherPart::Group(delimiter, inner) => {
                let content = opened(*delimiter, input)?;
                sequence(inner, &content, found)?;
                if !content.is_empty() {
                    return Err(Mismatch::Different);
                }
            }
            MatcherPart::Fragment(name, kind) => {
                found.push((name, Binding::Tokens(fragment(*kind, input)?)));
            }
            MatcherPart::Repeat { what, between, times } => repeat(what, between, *times, input, found)?,
        }
    }
    Ok(())
}

fn repeat<'p>(
    what: &'p [MatcherPart],
    between: &[TokenTree],
    times: RepeatCount,
    input: ParseStream<'_>,
    found: &mut Bindings<'p>,
) -> Result<(), Mismatch> {
    if let ([MatcherPart::Fragment(name, FragmentKind::Tt)], [], RepeatCount::Any) = (what, between, times) {
        found.push((name, Binding::Each(all_token_trees(input))));
        return Ok(());
    }
    let mut each: Vec<(&str, Vec<Binding>)> =
        names(what).into_iter().map(|name| (name, Vec::new())).collect();
    let mut rounds = 0;
    let mut round = Bindings::new();
    loop {
        let ahead = input.fork();
        round.clear();
        let separated = rounds == 0 || between.iter().try_for_each(|wanted| token(wanted, &ahead)).is_ok();
        match separated.then(|| sequence(what, &ahead, &mut round)) {
            Some(Err(Mismatch::Unsupported)) => return Err(Mismatch::Unsupported),
            Some(Ok(())) if ahead.cursor() != input.cursor() => input.advance_to(&ahead),
            _ => break,
        }
        for ((_, each), (_, binding)) in each.iter_mut().zip(round.drain(..)) {
            each.push(binding);
        }
        rounds += 1;
        if times == RepeatCount::Once {
            break;
        }
    }
    if rounds == 0 && times == RepeatCount::AtLeastOnce {
        return Err(Mismatch::Different);
    }
    found.extend(each.into_iter().map(|(name, each)| (name, Binding::Each(each))));
    Ok(())
}

/// The variables, in the order in which they are matched.
fn names(patterns: &[MatcherPart]) -> Vec<&str> {
    let mut found = Vec::new();
    for pattern in patterns {
        match pattern {
            MatcherPart::Fragment(name, _) => found.push(name.as_str()),
            MatcherPart::Group(_, inner) | MatcherPart::Repeat { what: inner, .. } => {
                found.extend(names(inner))
            }
            MatcherPart::Token(_) => {}
        }
    }
    found
}

/// Whether a fragment comes next: the rules of another macro matched it, so it is no longer plain tokens.
fn is_finished(input: ParseStream<'_>) -> bool {
    matches!(input.cursor().token_tree(), Some((TokenTree::Group(group), _)) if group.delimiter() == Delimiter::None)
}

fn token(wanted: &TokenTree, input: ParseStream<'_>) -> Result<(), Mismatch> {
    let next = input.step(|cursor| match cursor.token_tree() {
        Some((token, rest)) if is_same(&token, wanted) => Ok(((), rest)),
        _ => Err(cursor.error("another token")),
    });
    next.map_err(|_| Mismatch::Different)
}

fn is_same(a: &TokenTree, b: &TokenTree) -> bool {
    match (a, b) {
        (TokenTree::Ident(a), TokenTree::Ident(b)) => a == b,
        (TokenTree::Punct(a), TokenTree::Punct(b)) => a.as_char() == b.as_char(),
        (TokenTree::Literal(a), TokenTree::Literal(b)) => a.to_string() == b.to_string(),
        _ => false,
    }
}

fn opened<'a>(delimiter: Delimiter, input: &ParseBuffer<'a>) -> Result<ParseBuffer<'a>, Mismatch> {
    fn open<'a>(delimiter: Delimiter, input: &ParseBuffer<'a>) -> syn::Result<ParseBuffer<'a>> {
        let content;
        match delimiter {
            Delimiter::Brace => _ = syn::braced!(content in input),
            Delimiter::Bracket => _ = syn::bracketed!(content in input),
            _ => _ = syn::parenthesized!(content in input),
        }
        Ok(content)
    }
    if is_finished(input) {
        return Err(Mismatch::Different);
    }
    open(delimiter, input).map_err(|_| Mismatch::Different)
}

fn fragment(kind: FragmentKind, input: ParseStream<'_>) -> Result<Vec<TokenTree>, Mismatch> {
    let ahead = input.fork();
    let parsed = match kind {
        FragmentKind::Stmt if input.peek(syn::Token![let]) => return Err(Mismatch::Unsupported),
        FragmentKind::Ident | FragmentKind::Lifetime if is_finished(input) => {
            return Err(Mismatch::Different);
        }
        FragmentKind::Tt => return input.step(one_token_tree).map_err(|_| Mismatch::Different),
        FragmentKind::Ident => ahead.call(syn::Ident::parse_any).map(|ident| ident != "_"),
        FragmentKind::Lifetime => ahead.parse::<syn::Lifetime>().map(|_| true),
        FragmentKind::Literal => literal(&ahead).map(|()| true),
        // The compiler checks the content of the braces.
        FragmentKind::Block => ahead.step(|cursor| match cursor.group(Delimiter::Brace) {
            Some((_, _, rest)) => Ok((true, rest)),
            None => Err(cursor.error("no block")),
        }),
        FragmentKind::Expr => ahead.parse::<syn::Expr>().map(|_| true),
        FragmentKind::Stmt => statement(&ahead).map(|()| true),
        FragmentKind::Item => ahead.parse::<syn::Item>().map(|_| true),
        FragmentKind::Meta => ahead.parse::<syn::Meta>().map(|_| true),
        FragmentKind::Pat => ahead.call(syn::Pat::parse_multi_with_leading_vert).map(|_| true),
        FragmentKind::PatParam => ahead.call(syn::Pat::parse_single).map(|_| true),
        FragmentKind::Path => ahead.parse::<syn::Path>().map(|_| true),
        FragmentKind::Ty => ahead.parse::<syn::Type>().map(|_| true),
        FragmentKind::Vis => ahead.parse::<syn::Visibility>().map(|_| true),
    };
    if !parsed.unwrap_or(false) {
        return Err(Mismatch::Different);
    }
    let tokens = between(input.cursor(), ahead.cursor())?;
    input.advance_to(&ahead);
    Ok(match kind {
        FragmentKind::Ident | FragmentKind::Lifetime | FragmentKind::Tt | FragmentKind::Vis => tokens,
        // The fragment keeps the syntax that it was matched as.
        _ => vec![TokenTree::Group(Group::new(Delimiter::None, tokens.into_iter().collect()))],
    })
}

/// The tokens between two positions on the same level.
fn between(mut at: Cursor<'_>, end: Cursor<'_>) -> Result<Vec<TokenTree>, Mismatch> {
    let mut tokens = Vec::new();
    while at != end {
        let (token, next) = at.token_tree().ok_or(Mismatch::Unsupported)?;
        tokens.push(token);
        at = next;
    }
    Ok(tokens)
}

/// `$($t:tt)*` matches all remaining tokens. Macros that process their arguments token by token use little else.
fn all_token_trees(input: ParseStream<'_>) -> Vec<Binding> {
    std::iter::from_fn(|| input.step(one_token_tree).ok()).map(Binding::Tokens).collect()
}

fn one_token_tree<'c>(cursor: StepCursor<'c, '_>) -> syn::Result<(Vec<TokenTree>, Cursor<'c>)> {
    token_tree(*cursor).ok_or_else(|| cursor.error("no token"))
}

/// Splits off one token tree: a group, a word, a literal, or an operator or lifetime of several marks.
fn token_tree(at: Cursor<'_>) -> Option<(Vec<TokenTree>, Cursor<'_>)> {
    let (token, mut rest) = at.token_tree()?;
    let mut operator = String::new();
    let mut tokens = vec![token];
    while let Some(TokenTree::Punct(punct)) = tokens.last() {
        operator.push(punct.as_char());
        let Some((next, after)) = rest.token_tree() else { break };
        let goes_on = match &next {
            TokenTree::Ident(_) => operator == "'",
            TokenTree::Punct(next) => {
                punct.spacing() == proc_macro2::Spacing::Joint
                    && OPERATORS.contains(&format!("{operator}{}", next.as_char()).as_str())
            }
            _ => false,
        };
        if !goes_on {
            break;
        }
        tokens.push(next);
        rest = after;
    }
    Some((tokens, rest))
}

/// Operators of several marks, and their prefixes.
const OPERATORS: [&str; 24] = [
    "::", "->", "=>", "..", "...", "..=", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "<<=", ">>=", "+=",
    "-=", "*=", "/=", "%=", "^=", "&=", "|=",
];

/// Parses a statement without its semicolon.
fn statement(input: ParseStream<'_>) -> syn::Result<()> {
    let item = input.fork();
    if item.parse::<syn::Item>().is_ok() {
        input.advance_to(&item);
        return Ok(());
    }
    input.parse::<syn::Expr>().map(drop)
}

fn literal(input: ParseStream<'_>) -> syn::Result<()> {
    input.parse::<Option<syn::Token![-]>>()?;
    input.parse::<syn::Lit>().map(drop)
}
