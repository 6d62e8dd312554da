//! Transcribes the body of a rule with the matched fragments.

use super::definition::BodyPart;
use super::matcher::{Binding, Bindings};
use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

/// The expansion; `None` if it exceeds the budget, or if the number of repetitions is unknown.
pub(super) fn tokens(pieces: &[BodyPart], found: &Bindings<'_>, budget: &mut usize) -> Option<TokenStream> {
    let mut out = TokenStream::new();
    Transcriber { found, rounds: Vec::new(), budget }.write(pieces, &mut out)?;
    Some(out)
}

struct Transcriber<'a> {
    found: &'a Bindings<'a>,
    /// The current iteration of each repetition around this position.
    rounds: Vec<usize>,
    budget: &'a mut usize,
}

impl<'a> Transcriber<'a> {
    fn write(&mut self, pieces: &[BodyPart], out: &mut TokenStream) -> Option<()> {
        for piece in pieces {
            match piece {
                BodyPart::Token(token) => out.extend([token.clone()]),
                BodyPart::Group(delimiter, inner) => {
                    let mut inside = TokenStream::new();
                    self.write(inner, &mut inside)?;
                    out.extend([TokenTree::Group(Group::new(*delimiter, inside))]);
                }
                BodyPart::Variable(name) if name == "crate" => {
                    out.extend([TokenTree::Ident(Ident::new("crate", Span::call_site()))]);
                }
                BodyPart::Variable(name) => match self.binding(name) {
                    Some(Binding::Tokens(tokens)) => {
                        *self.budget = self.budget.checked_sub(tokens.len())?;
                        out.extend(tokens.iter().cloned());
                    }
                    Some(Binding::Each(_)) => return None,
                    // A variable of a macro definition inside the body.
                    None => {
                        out.extend([TokenTree::Punct(Punct::new('$', Spacing::Alone))]);
                        out.extend([TokenTree::Ident(Ident::new(name, Span::call_site()))]);
                    }
                },
                BodyPart::Repeat { what, between } => self.repeat(what, between, out)?,
            }
            *self.budget = self.budget.checked_sub(1)?;
        }
        Some(())
    }

    /// The value of a variable in the current iterations.
    fn binding(&self, name: &str) -> Option<&'a Binding> {
        let (_, binding) = self.found.iter().find(|(known, _)| *known == name)?;
        let in_round = |binding: &'a Binding, &round: &usize| match binding {
            Binding::Each(each) => each.get(round),
            Binding::Tokens(_) => Some(binding),
        };
        self.rounds.iter().try_fold(binding, in_round)
    }

    fn repeat(&mut self, what: &[BodyPart], between: &[TokenTree], out: &mut TokenStream) -> Option<()> {
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

fn names<'p>(pieces: &'p [BodyPart], into: &mut Vec<&'p String>) {
    for piece in pieces {
        match piece {
            BodyPart::Variable(name) => into.push(name),
            BodyPart::Group(_, inner) | BodyPart::Repeat { what: inner, .. } => names(inner, into),
            BodyPart::Token(_) => {}
        }
    }
}
