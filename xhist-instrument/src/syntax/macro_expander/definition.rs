//! Parses the rules of a `macro_rules!` definition. (The Rust Reference, "Macros By Example".)

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// `(matcher) => {body}`.
pub(super) struct MacroRule {
    pub matcher: Vec<MatcherPart>,
    pub body: Vec<BodyPart>,
}

/// Part of a matcher.
pub(super) enum MatcherPart {
    Token(TokenTree),
    Group(Delimiter, Vec<MatcherPart>),
    Fragment(String, FragmentKind),
    Repeat { what: Vec<MatcherPart>, between: Vec<TokenTree>, times: RepeatCount },
}

/// Part of a body.
pub(super) enum BodyPart {
    Token(TokenTree),
    Group(Delimiter, Vec<BodyPart>),
    Variable(String),
    Repeat { what: Vec<BodyPart>, between: Vec<TokenTree> },
}

/// The kind of a fragment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FragmentKind {
    Block,
    Expr,
    Ident,
    Item,
    Lifetime,
    Literal,
    Meta,
    Pat,
    PatParam,
    Path,
    Stmt,
    Tt,
    Ty,
    Vis,
}

/// How often a repetition matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RepeatCount {
    Any,
    Once,
    AtLeastOnce,
}

impl FragmentKind {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "block" => Self::Block,
            "expr" | "expr_2021" => Self::Expr,
            "ident" => Self::Ident,
            "item" => Self::Item,
            "lifetime" => Self::Lifetime,
            "literal" => Self::Literal,
            "meta" => Self::Meta,
            "pat" => Self::Pat,
            "pat_param" => Self::PatParam,
            "path" => Self::Path,
            "stmt" => Self::Stmt,
            "tt" => Self::Tt,
            "ty" => Self::Ty,
            "vis" => Self::Vis,
            _ => return None,
        })
    }
}

/// Parses all rules; `None` if one of them is not supported.
pub(super) fn rules(tokens: TokenStream) -> Option<Vec<MacroRule>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = tokens.as_slice();
    let mut rules = Vec::new();
    while let [TokenTree::Group(matcher), equals, greater, TokenTree::Group(body), more @ ..] = rest {
        if !is(equals, '=') || !is(greater, '>') {
            return None;
        }
        rules.push(MacroRule { matcher: patterns(matcher.stream())?, body: pieces(body.stream())? });
        rest = match more {
            [end, more @ ..] if is(end, ';') => more,
            _ => more,
        };
    }
    (rest.is_empty() && !rules.is_empty()).then_some(rules)
}

pub(super) fn is(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

pub(super) fn patterns(tokens: TokenStream) -> Option<Vec<MatcherPart>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = tokens.as_slice();
    let mut patterns = Vec::new();
    while let [token, more @ ..] = rest {
        rest = more;
        patterns.push(match (token, more) {
            (dollar, [TokenTree::Group(what), more @ ..]) if is(dollar, '$') => {
                let (between, times, more) = repetition(more)?;
                rest = more;
                MatcherPart::Repeat { what: patterns_of_group(what)?, between, times }
            }
            (dollar, [TokenTree::Ident(name), colon, TokenTree::Ident(kind), more @ ..])
                if is(dollar, '$') && is(colon, ':') =>
            {
                rest = more;
                MatcherPart::Fragment(name.to_string(), FragmentKind::named(&kind.to_string())?)
            }
            (dollar, _) if is(dollar, '$') => return None,
            (TokenTree::Group(group), _) => MatcherPart::Group(group.delimiter(), patterns_of_group(group)?),
            (token, _) => MatcherPart::Token(token.clone()),
        });
    }
    Some(patterns)
}

fn patterns_of_group(group: &proc_macro2::Group) -> Option<Vec<MatcherPart>> {
    patterns(group.stream())
}

fn pieces(tokens: TokenStream) -> Option<Vec<BodyPart>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = tokens.as_slice();
    let mut pieces_found = Vec::new();
    while let [token, more @ ..] = rest {
        rest = more;
        pieces_found.push(match (token, more) {
            (dollar, [TokenTree::Group(what), more @ ..])
                if is(dollar, '$') && what.delimiter() == Delimiter::Parenthesis =>
            {
                let (between, _, more) = repetition(more)?;
                rest = more;
                BodyPart::Repeat { what: pieces(what.stream())?, between }
            }
            // `${count(..)}` and `$$` are unstable.
            (dollar, [TokenTree::Group(_), ..]) if is(dollar, '$') => return None,
            (dollar, [TokenTree::Ident(name), more @ ..]) if is(dollar, '$') => {
                rest = more;
                BodyPart::Variable(name.to_string())
            }
            (TokenTree::Group(group), _) => BodyPart::Group(group.delimiter(), pieces(group.stream())?),
            (token, _) => {
                let mut token = token.clone();
                // The token has no position in the arguments.
                token.set_span(Span::call_site());
                BodyPart::Token(token)
            }
        });
    }
    Some(pieces_found)
}

/// Parses what follows `$(..)`: an optional separator, and the operator.
pub(super) fn repetition(tokens: &[TokenTree]) -> Option<(Vec<TokenTree>, RepeatCount, &[TokenTree])> {
    let (at, times) = tokens.iter().take(4).enumerate().find_map(|(at, token)| match token {
        TokenTree::Punct(punct) => match punct.as_char() {
            '*' => Some((at, RepeatCount::Any)),
            '+' => Some((at, RepeatCount::AtLeastOnce)),
            '?' => Some((at, RepeatCount::Once)),
            _ => None,
        },
        _ => None,
    })?;
    let mut between = tokens[..at].to_vec();
    between.iter_mut().for_each(|token| token.set_span(Span::call_site()));
    Some((between, times, &tokens[at + 1..]))
}
