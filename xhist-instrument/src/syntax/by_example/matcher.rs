//! Matches the arguments of a call against one rule, as the compiler does: in one pass, without going back.

use super::Miss;
use super::definition::{Kind, Pattern, Times};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::rc::Rc;
use syn::buffer::Cursor;
use syn::ext::IdentExt as _;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseBuffer, ParseStream};

/// What the variables of a rule stand for.
pub(super) type Found = BTreeMap<String, Binding>;

/// What one variable stands for.
#[derive(Clone)]
pub(super) enum Binding {
    Tokens(TokenStream),
    /// One for each round of the repetition around it.
    Each(Rc<[Binding]>),
}

/// Matches all arguments.
pub(super) fn arguments(patterns: &[Pattern], input: ParseStream<'_>) -> Result<Found, Miss> {
    let mut found = Found::new();
    sequence(patterns, input, &mut found)?;
    if input.is_empty() { Ok(found) } else { Err(Miss::Different) }
}

fn sequence(patterns: &[Pattern], input: ParseStream<'_>, found: &mut Found) -> Result<(), Miss> {
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
                found.insert(name.clone(), Binding::Tokens(fragment(*kind, input)?));
            }
            Pattern::Repeat { what, between, times } => repeat(what, between, *times, input, found)?,
        }
    }
    Ok(())
}

fn repeat(
    what: &[Pattern],
    between: &[TokenTree],
    times: Times,
    input: ParseStream<'_>,
    found: &mut Found,
) -> Result<(), Miss> {
    let mut rounds: Vec<Found> = Vec::new();
    loop {
        let ahead = input.fork();
        let mut round = Found::new();
        let separated =
            rounds.is_empty() || between.iter().try_for_each(|wanted| token(wanted, &ahead)).is_ok();
        match separated.then(|| sequence(what, &ahead, &mut round)) {
            Some(Err(Miss::Unsure)) => return Err(Miss::Unsure),
            Some(Ok(())) if ahead.cursor() != input.cursor() => input.advance_to(&ahead),
            _ => break,
        }
        rounds.push(round);
        if times == Times::Once {
            break;
        }
    }
    if rounds.is_empty() && times == Times::AtLeastOnce {
        return Err(Miss::Different);
    }
    for name in names(what) {
        let each: Rc<[Binding]> = rounds.iter_mut().filter_map(|round| round.remove(name)).collect();
        found.insert(name.clone(), Binding::Each(each));
    }
    Ok(())
}

fn names(patterns: &[Pattern]) -> Vec<&String> {
    let mut found = Vec::new();
    for pattern in patterns {
        match pattern {
            Pattern::Fragment(name, _) => found.push(name),
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

fn fragment(kind: Kind, input: ParseStream<'_>) -> Result<TokenStream, Miss> {
    let ahead = input.fork();
    let parsed = match kind {
        Kind::Stmt if input.peek(syn::Token![let]) => return Err(Miss::Unsure),
        Kind::Ident | Kind::Lifetime if is_finished(input) => return Err(Miss::Different),
        Kind::Ident => ahead.call(syn::Ident::parse_any).map(|ident| ident != "_"),
        Kind::Lifetime => ahead.parse::<syn::Lifetime>().map(|_| true),
        Kind::Tt => token_tree(&ahead).map(|()| true),
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
        _ => TokenTree::Group(Group::new(Delimiter::None, tokens)).into(),
    })
}

/// All tokens from one place to another on the same level.
fn between(mut at: Cursor<'_>, end: Cursor<'_>) -> Result<TokenStream, Miss> {
    let mut tokens = TokenStream::new();
    while at != end {
        let (token, next) = at.token_tree().ok_or(Miss::Unsure)?;
        tokens.extend([token]);
        at = next;
    }
    Ok(tokens)
}

/// A group, a word, a literal, or one operator or lifetime of several marks.
fn token_tree(input: ParseStream<'_>) -> syn::Result<()> {
    input.step(|cursor| {
        let (mut token, mut rest) = cursor.token_tree().ok_or_else(|| cursor.error("no token"))?;
        let mut operator = String::new();
        while let TokenTree::Punct(punct) = &token {
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
            (token, rest) = (next, behind);
        }
        Ok(((), rest))
    })
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
