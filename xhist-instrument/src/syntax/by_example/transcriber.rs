//! Writes the body of a rule, with the matched fragments in it.

use super::definition::Piece;
use super::matcher::{Binding, Found};
use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

/// The expansion; nothing when it is longer than the budget, or repeats what has no number of times.
pub(super) fn tokens(pieces: &[Piece], found: &Found, budget: &mut usize) -> Option<TokenStream> {
    let mut out = TokenStream::new();
    for piece in pieces {
        match piece {
            Piece::Token(token) => out.extend([token.clone()]),
            Piece::Group(delimiter, inner) => {
                let group = Group::new(*delimiter, tokens(inner, found, budget)?);
                out.extend([TokenTree::Group(group)]);
            }
            Piece::Variable(name) if name == "crate" => {
                out.extend([TokenTree::Ident(Ident::new("crate", Span::call_site()))]);
            }
            Piece::Variable(name) => match found.get(name) {
                Some(Binding::Tokens(tokens)) => {
                    for token in tokens.clone() {
                        *budget = budget.checked_sub(1)?;
                        out.extend([token]);
                    }
                }
                Some(Binding::Each(_)) => return None,
                // It belongs to a definition inside this one.
                None => {
                    out.extend([TokenTree::Punct(Punct::new('$', Spacing::Alone))]);
                    out.extend([TokenTree::Ident(Ident::new(name, Span::call_site()))]);
                }
            },
            Piece::Repeat { what, between } => repeat(what, between, found, budget, &mut out)?,
        }
        *budget = budget.checked_sub(1)?;
    }
    Some(out)
}

fn repeat(
    what: &[Piece],
    between: &[TokenTree],
    found: &Found,
    budget: &mut usize,
    out: &mut TokenStream,
) -> Option<()> {
    let mut used = Vec::new();
    names(what, &mut used);
    let repeated = |name: &&String| matches!(found.get(*name), Some(Binding::Each(_)));
    let repeated: Vec<&String> = used.into_iter().filter(repeated).collect();
    let times = |name: &String| match found.get(name) {
        Some(Binding::Each(each)) => each.len(),
        _ => 0,
    };
    let rounds = times(repeated.first()?);
    if repeated.iter().any(|name| times(name) != rounds) {
        return None;
    }
    for round in 0..rounds {
        let mut inside = found.clone();
        for name in &repeated {
            if let Some(Binding::Each(each)) = found.get(*name) {
                inside.insert((*name).clone(), each[round].clone());
            }
        }
        if round > 0 {
            out.extend(between.iter().cloned());
        }
        out.extend(tokens(what, &inside, budget)?);
    }
    Some(())
}

fn names<'p>(pieces: &'p [Piece], into: &mut Vec<&'p String>) {
    for piece in pieces {
        match piece {
            Piece::Variable(name) => into.push(name),
            Piece::Group(_, inner) | Piece::Repeat { what: inner, .. } => names(inner, into),
            Piece::Token(_) => {}
        }
    }
}
