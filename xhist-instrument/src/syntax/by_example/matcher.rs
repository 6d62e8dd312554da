//! Matches the arguments of a call against one rule, as the compiler does: in one pass, without going back.

use super::Miss;
use super::definition::{Kind, Pattern, Times};
use proc_macro2::{Delimiter, Group, TokenTree};
use syn::buffer::Cursor;
use syn::ext::IdentExt as _;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseBuffer, ParseStream, StepCursor};

/// What the variables of a rule stand for.
pub(super) type Found<'p> = Vec<(&'p str, Binding)>;

/// What one variable stands for.
pub(super) enum Binding {
    Tokens(Vec<TokenTree>),
    /// One for each round of the repetition around it.
    Each(Vec<Binding>),
}

/// Matches all arguments.
pub(super) fn arguments<'p>(patterns: &'p [Pattern], input: ParseStream<'_>) -> Result<Found<'p>, Miss> {
    if !may_fit(patterns, input.cursor()) {
        return Err(Miss::Different);
    }
    let mut found = Found::new();
    sequence(patterns, input, &mut found)?;
    if input.is_empty() { Ok(found) } else { Err(Miss::Different) }
}

/// A glance at the tokens and brackets up to the first fragment, in each pair of brackets: most rules do not fit, and
/// matching what comes first may take long.
fn may_fit(patterns: &[Pattern], mut at: Cursor<'_>) -> bool {
    for pattern in patterns {
        let rest = match pattern {
            Pattern::Token(wanted) => {
                at.token_tree().filter(|(token, _)| is_same(token, wanted)).map(|(_, rest)| rest)
            }
            Pattern::Group(delimiter, inner) => {
                let group = at.group(*delimiter).filter(|(content, ..)| may_fit(inner, *content));
                group.map(|(_, _, rest)| rest)
            }
            Pattern::Fragment(..) | Pattern::Repeat { .. } => return true,
        };
        match rest {
            Some(rest) => at = rest,
            None => return false,
        }
    }
    at.eof()
}

fn sequence<'p>(patterns: &'p [Pattern], input: ParseStream<'_>, found: &mut Found<'p>) -> Result<(), Miss> {
    for pattern in patterns {
        match pattern {
            Pattern::Token(wanted) => token(wanted, input)?,
            Pattern::Group(delimiter, inner) => {
                let content = opened(*delimiter, input)?;
                sequence(inner, &content, found)?;
                if !content.is_empty() {
                    return Err(Miss::Different);
                }
            }
            Pattern::Fragment(name, kind) => {
                found.push((name, Binding::Tokens(fragment(*kind, input)?)));
            }
            Pattern::Repeat { what, between, times } => repeat(what, between, *times, input, found)?,
        }
    }
    Ok(())
}

fn repeat<'p>(
    what: &'p [Pattern],
    between: &[TokenTree],
    times: Times,
    input: ParseStream<'_>,
    found: &mut Found<'p>,
) -> Result<(), Miss> {
    if let ([Pattern::Fragment(name, Kind::Tt)], [], Times::Any) = (what, between, times) {
        found.push((name, Binding::Each(all_token_trees(input))));
        return Ok(());
    }
    let mut each: Vec<(&str, Vec<Binding>)> =
        names(what).into_iter().map(|name| (name, Vec::new())).collect();
    let mut rounds = 0;
    let mut round = Found::new();
    loop {
        let ahead = input.fork();
        round.clear();
        let separated = rounds == 0 || between.iter().try_for_each(|wanted| token(wanted, &ahead)).is_ok();
        match separated.then(|| sequence(what, &ahead, &mut round)) {
            Some(Err(Miss::Unsure)) => return Err(Miss::Unsure),
            Some(Ok(())) if ahead.cursor() != input.cursor() => input.advance_to(&ahead),
            _ => break,
        }
        for ((_, each), (_, binding)) in each.iter_mut().zip(round.drain(..)) {
            each.push(binding);
        }
        rounds += 1;
        if times == Times::Once {
            break;
        }
    }
    if rounds == 0 && times == Times::AtLeastOnce {
        return Err(Miss::Different);
    }
    found.extend(each.into_iter().map(|(name, each)| (name, Binding::Each(each))));
    Ok(())
}

/// The variables, in the order in which they are found.
fn names(patterns: &[Pattern]) -> Vec<&str> {
    let mut found = Vec::new();
    for pattern in patterns {
        match pattern {
            Pattern::Fragment(name, _) => found.push(name.as_str()),
            Pattern::Group(_, inner) | Pattern::Repeat { what: inner, .. } => found.extend(names(inner)),
            Pattern::Token(_) => {}
        }
    }
    found
}

/// A fragment that an outer macro has matched is no tokens any more.
fn is_finished(input: ParseStream<'_>) -> bool {
    matches!(input.cursor().token_tree(), Some((TokenTree::Group(group), _)) if group.delimiter() == Delimiter::None)
}

fn token(wanted: &TokenTree, input: ParseStream<'_>) -> Result<(), Miss> {
    let next = input.step(|cursor| match cursor.token_tree() {
        Some((token, rest)) if is_same(&token, wanted) => Ok(((), rest)),
        _ => Err(cursor.error("another token")),
    });
    next.map_err(|_| Miss::Different)
}

fn is_same(a: &TokenTree, b: &TokenTree) -> bool {
    match (a, b) {
        (TokenTree::Ident(a), TokenTree::Ident(b)) => a == b,
        (TokenTree::Punct(a), TokenTree::Punct(b)) => a.as_char() == b.as_char(),
        (TokenTree::Literal(a), TokenTree::Literal(b)) => a.to_string() == b.to_string(),
        _ => false,
    }
}

fn opened<'a>(delimiter: Delimiter, input: &ParseBuffer<'a>) -> Result<ParseBuffer<'a>, Miss> {
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
        return Err(Miss::Different);
    }
    open(delimiter, input).map_err(|_| Miss::Different)
}

fn fragment(kind: Kind, input: ParseStream<'_>) -> Result<Vec<TokenTree>, Miss> {
    let ahead = input.fork();
    let parsed = match kind {
        Kind::Stmt if input.peek(syn::Token![let]) => return Err(Miss::Unsure),
        Kind::Ident | Kind::Lifetime if is_finished(input) => return Err(Miss::Different),
        Kind::Tt => return input.step(one_token_tree).map_err(|_| Miss::Different),
        Kind::Ident => ahead.call(syn::Ident::parse_any).map(|ident| ident != "_"),
        Kind::Lifetime => ahead.parse::<syn::Lifetime>().map(|_| true),
        Kind::Literal => literal(&ahead).map(|()| true),
        // What stands in the braces is the compiler's to judge.
        Kind::Block => ahead.step(|cursor| match cursor.group(Delimiter::Brace) {
            Some((_, _, rest)) => Ok((true, rest)),
            None => Err(cursor.error("no block")),
        }),
        Kind::Expr => ahead.parse::<syn::Expr>().map(|_| true),
        Kind::Stmt => statement(&ahead).map(|()| true),
        Kind::Item => ahead.parse::<syn::Item>().map(|_| true),
        Kind::Meta => ahead.parse::<syn::Meta>().map(|_| true),
        Kind::Pat => ahead.call(syn::Pat::parse_multi_with_leading_vert).map(|_| true),
        Kind::PatParam => ahead.call(syn::Pat::parse_single).map(|_| true),
        Kind::Path => ahead.parse::<syn::Path>().map(|_| true),
        Kind::Ty => ahead.parse::<syn::Type>().map(|_| true),
        Kind::Vis => ahead.parse::<syn::Visibility>().map(|_| true),
    };
    if !parsed.unwrap_or(false) {
        return Err(Miss::Different);
    }
    let tokens = between(input.cursor(), ahead.cursor())?;
    input.advance_to(&ahead);
    Ok(match kind {
        Kind::Ident | Kind::Lifetime | Kind::Tt | Kind::Vis => tokens,
        // From here on it is what it was parsed as.
        _ => vec![TokenTree::Group(Group::new(Delimiter::None, tokens.into_iter().collect()))],
    })
}

/// All tokens from one place to another on the same level.
fn between(mut at: Cursor<'_>, end: Cursor<'_>) -> Result<Vec<TokenTree>, Miss> {
    let mut tokens = Vec::new();
    while at != end {
        let (token, next) = at.token_tree().ok_or(Miss::Unsure)?;
        tokens.push(token);
        at = next;
    }
    Ok(tokens)
}

/// `$($t:tt)*`: everything that is left. Macros that eat their arguments token by token match little else.
fn all_token_trees(input: ParseStream<'_>) -> Vec<Binding> {
    std::iter::from_fn(|| input.step(one_token_tree).ok()).map(Binding::Tokens).collect()
}

fn one_token_tree<'c>(cursor: StepCursor<'c, '_>) -> syn::Result<(Vec<TokenTree>, Cursor<'c>)> {
    token_tree(*cursor).ok_or_else(|| cursor.error("no token"))
}

/// A group, a word, a literal, or one operator or lifetime of several marks; and what is behind it.
fn token_tree(at: Cursor<'_>) -> Option<(Vec<TokenTree>, Cursor<'_>)> {
    let (token, mut rest) = at.token_tree()?;
    let mut operator = String::new();
    let mut tokens = vec![token];
    while let Some(TokenTree::Punct(punct)) = tokens.last() {
        operator.push(punct.as_char());
        let Some((next, behind)) = rest.token_tree() else { break };
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
        rest = behind;
    }
    Some((tokens, rest))
}

/// Operators of several marks, and what they start with.
const OPERATORS: [&str; 24] = [
    "::", "->", "=>", "..", "...", "..=", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "<<=", ">>=", "+=",
    "-=", "*=", "/=", "%=", "^=", "&=", "|=",
];

/// A statement without its semicolon.
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
