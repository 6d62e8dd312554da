//! Writes the body of a rule, with the matched fragments in it.

use super::definition::Piece;
use super::matcher::{Binding, Found};
use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

/// The expansion; nothing when it is longer than the budget, or repeats what has no number of times.
pub(super) fn tokens(pieces: &[Piece], found: &Found<'_>, budget: &mut usize) -> Option<TokenStream> {
    let mut out = TokenStream::new();
    Transcriber { found, rounds: Vec::new(), budget }.write(pieces, &mut out)?;
    Some(out)
}

struct Transcriber<'a> {
    found: &'a Found<'a>,
    /// Which round it is in each of the repetitions around the current place.
    rounds: Vec<usize>,
    budget: &'a mut usize,
}

impl<'a> Transcriber<'a> {
    fn write(&mut self, pieces: &[Piece], out: &mut TokenStream) -> Option<()> {
        for piece in pieces {
            match piece {
                Piece::Token(token) => out.extend([token.clone()]),
                Piece::Group(delimiter, inner) => {
                    let mut inside = TokenStream::new();
                    self.write(inner, &mut inside)?;
                    out.extend([TokenTree::Group(Group::new(*delimiter, inside))]);
                }
                Piece::Variable(name) if name == "crate" => {
                    out.extend([TokenTree::Ident(Ident::new("crate", Span::call_site()))]);
                }
                Piece::Variable(name) => match self.binding(name) {
                    Some(Binding::Tokens(tokens)) => {
                        *self.budget = self.budget.checked_sub(tokens.len())?;
                        out.extend(tokens.iter().cloned());
                    }
                    Some(Binding::Each(_)) => return None,
                    // It belongs to a definition inside this one.
                    None => {
                        out.extend([TokenTree::Punct(Punct::new('$', Spacing::Alone))]);
                        out.extend([TokenTree::Ident(Ident::new(name, Span::call_site()))]);
                    }
                },
                Piece::Repeat { what, between } => self.repeat(what, between, out)?,
            }
            *self.budget = self.budget.checked_sub(1)?;
        }
        Some(())
    }

    /// What a variable stands for in the current rounds, as far as it is repeated in them.
    fn binding(&self, name: &str) -> Option<&'a Binding> {
        let (_, binding) = self.found.iter().find(|(known, _)| *known == name)?;
        let in_round = |binding: &'a Binding, &round: &usize| match binding {
            Binding::Each(each) => each.get(round),
            Binding::Tokens(_) => Some(binding),
        };
        self.rounds.iter().try_fold(binding, in_round)
    }

    fn repeat(&mut self, what: &[Piece], between: &[TokenTree], out: &mut TokenStream) -> Option<()> {
        let mut used = Vec::new();
        names(what, &mut used);
        let mut times = used.into_iter().filter_map(|name| match self.binding(name) {
            Some(Binding::Each(each)) => Some(each.len()),
            _ => None,
        });
        let rounds = times.next()?;
        if times.any(|times| times != rounds) {
            return None;
        }
        for round in 0..rounds {
            if round > 0 {
                out.extend(between.iter().cloned());
            }
            self.rounds.push(round);
            self.write(what, out)?;
            self.rounds.pop();
        }
        Some(())
    }
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
