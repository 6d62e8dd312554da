//! The bodies of rules as code that parses: each variable becomes a name, and a repetition is written once. Tokens of the
//! rules keep their places.

use super::definition::{FragmentKind, MatcherPart};
use super::definition::{is, patterns, repetition};
use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use std::collections::HashMap;
use std::ops::Range;

/// The body of one rule.
pub(in super::super) struct Outline {
    pub tokens: TokenStream,
    pub repetitions: Vec<Repetition>,
}

/// `$( .. )`: the spans of its brackets, and what separates two rounds.
pub(in super::super) struct Repetition {
    pub brackets: Range<Span>,
    pub separator: String,
}

/// The bodies of all rules of a definition, with their outlines. A rule that is not understood has none.
pub(in super::super) fn outlines(rules: TokenStream) -> Vec<(Group, Option<Outline>)> {
    let tokens: Vec<TokenTree> = rules.into_iter().collect();
    let mut rest = tokens.as_slice();
    let mut found = Vec::new();
    while let [TokenTree::Group(matcher), equals, greater, TokenTree::Group(body), more @ ..] = rest
        && is(equals, '=')
        && is(greater, '>')
    {
        let outline = patterns(matcher.stream()).and_then(|matcher| outline(&matcher, body));
        found.push((body.clone(), outline));
        rest = match more {
            [end, more @ ..] if is(end, ';') => more,
            _ => more,
        };
    }
    found
}

fn outline(matcher: &[MatcherPart], body: &Group) -> Option<Outline> {
    let mut kinds = HashMap::new();
    add_kinds(matcher, &mut kinds);
    let mut writer = OutlineWriter { kinds: &kinds, repetitions: Vec::new() };
    let tokens = writer.code(body.stream())?;
    Some(Outline { tokens, repetitions: writer.repetitions })
}

fn add_kinds<'m>(matcher: &'m [MatcherPart], kinds: &mut HashMap<&'m str, FragmentKind>) {
    for part in matcher {
        match part {
            MatcherPart::Fragment(name, kind) => drop(kinds.insert(name, *kind)),
            MatcherPart::Group(_, inner) | MatcherPart::Repeat { what: inner, .. } => add_kinds(inner, kinds),
            MatcherPart::Token(_) => {}
        }
    }
}

struct OutlineWriter<'m> {
    kinds: &'m HashMap<&'m str, FragmentKind>,
    repetitions: Vec<Repetition>,
}

impl OutlineWriter<'_> {
    fn code(&mut self, tokens: TokenStream) -> Option<TokenStream> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = tokens.as_slice();
        let mut out: Vec<TokenTree> = Vec::new();
        while let [token, more @ ..] = rest {
            rest = more;
            match (token, more) {
                // A macro of its own, with variables of its own.
                (TokenTree::Ident(word), [bang, name @ ..]) if word == "macro_rules" && is(bang, '!') => {
                    let end = name.iter().position(|token| matches!(token, TokenTree::Group(_)))?;
                    let [name @ .., TokenTree::Group(rules)] = &name[..=end] else { return None };
                    out.extend([token.clone(), bang.clone()]);
                    out.extend(self.code(name.iter().cloned().collect())?);
                    out.push(TokenTree::Group(rules.clone()));
                    rest = &more[1 + end + 1..];
                }
                (dollar, [TokenTree::Group(what), more @ ..]) if is(dollar, '$') => {
                    if what.delimiter() != Delimiter::Parenthesis {
                        return None;
                    }
                    let (between, _, more) = repetition(more)?;
                    let separator = between.iter().map(ToString::to_string).collect();
                    let brackets = what.span_open()..what.span_close();
                    self.repetitions.push(Repetition { brackets, separator });
                    out.extend(self.code(what.stream())?);
                    rest = more;
                }
                (dollar, [TokenTree::Ident(name), more @ ..]) if is(dollar, '$') => {
                    let whole = dollar.span().join(name.span())?;
                    out.extend(self.variable(name, whole)?);
                    rest = more;
                }
                (dollar, _) if is(dollar, '$') => return None,
                (TokenTree::Group(group), _) => {
                    let mut inside = Group::new(group.delimiter(), self.code(group.stream())?);
                    inside.set_span(group.span());
                    out.push(TokenTree::Group(inside));
                }
                (token, _) => out.push(token.clone()),
            }
        }
        Some(out.into_iter().collect())
    }

    /// What takes the place of a variable. One that may be anything has no place, so that no statement begins or ends with
    /// it.
    fn variable(&self, name: &Ident, whole: Span) -> Option<TokenStream> {
        let nowhere = Span::call_site();
        let text = name.to_string();
        if text == "crate" {
            return Some(TokenTree::Ident(Ident::new("crate", whole)).into());
        }
        let named = |span: Span| {
            let name = match text.as_str() {
                "self" | "Self" | "super" | "_" => Ident::new("_it", span),
                name => syn::parse_str::<Ident>(name)
                    .map_or_else(|_| Ident::new_raw(name, span), |_| Ident::new(name, span)),
            };
            TokenStream::from(TokenTree::Ident(name))
        };
        Some(match self.kinds.get(text.trim_start_matches("r#"))? {
            FragmentKind::Expr
            | FragmentKind::Ident
            | FragmentKind::Literal
            | FragmentKind::Pat
            | FragmentKind::PatParam
            | FragmentKind::Path => named(whole),
            // Types have capitals.
            FragmentKind::Ty => {
                let mut letters = text.chars();
                let first = letters.next()?.to_uppercase().collect::<String>();
                syn::parse_str::<Ident>(&(first + letters.as_str())).map_or_else(
                    |_| named(whole),
                    |mut name| {
                        name.set_span(whole);
                        TokenTree::Ident(name).into()
                    },
                )
            }
            FragmentKind::Meta | FragmentKind::Stmt | FragmentKind::Tt => named(nowhere),
            FragmentKind::Block => TokenTree::Group(Group::new(Delimiter::Brace, TokenStream::new())).into(),
            FragmentKind::Item => [
                TokenTree::Ident(Ident::new("struct", nowhere)),
                TokenTree::Ident(Ident::new("Item", nowhere)),
                TokenTree::Punct(Punct::new(';', Spacing::Alone)),
            ]
            .into_iter()
            .collect(),
            FragmentKind::Lifetime => [
                TokenTree::Punct(Punct::new('\'', Spacing::Joint)),
                TokenTree::Ident(Ident::new("it", nowhere)),
            ]
            .into_iter()
            .collect(),
            FragmentKind::Vis => TokenStream::new(),
        })
    }
}
