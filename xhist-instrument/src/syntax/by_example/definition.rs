//! Rules of a `macro_rules!` definition, taken apart. (The Rust Reference, "Macros By Example".)

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// `(matcher) => {body}`.
pub(super) struct Rule {
    pub matcher: Vec<Pattern>,
    pub body: Vec<Piece>,
}

/// Part of a matcher.
pub(super) enum Pattern {
    Token(TokenTree),
    Group(Delimiter, Vec<Pattern>),
    Fragment(String, Kind),
    Repeat { what: Vec<Pattern>, between: Vec<TokenTree>, times: Times },
}

/// Part of a body.
pub(super) enum Piece {
    Token(TokenTree),
    Group(Delimiter, Vec<Piece>),
    Variable(String),
    Repeat { what: Vec<Piece>, between: Vec<TokenTree> },
}

/// What a fragment is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
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

/// How often a part may stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Times {
    Any,
    Once,
    AtLeastOnce,
}

impl Kind {
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

/// All rules, or nothing when one of them is not understood.
pub(super) fn rules(tokens: TokenStream) -> Option<Vec<Rule>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = tokens.as_slice();
    let mut rules = Vec::new();
    while let [TokenTree::Group(matcher), equals, greater, TokenTree::Group(body), more @ ..] = rest {
        if !is(equals, '=') || !is(greater, '>') {
            return None;
        }
        rules.push(Rule { matcher: patterns(matcher.stream())?, body: pieces(body.stream())? });
        rest = match more {
            [end, more @ ..] if is(end, ';') => more,
            _ => more,
        };
    }
    (rest.is_empty() && !rules.is_empty()).then_some(rules)
}

fn is(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

fn patterns(tokens: TokenStream) -> Option<Vec<Pattern>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = tokens.as_slice();
    let mut patterns = Vec::new();
    while let [token, more @ ..] = rest {
        rest = more;
        patterns.push(match (token, more) {
            (dollar, [TokenTree::Group(what), more @ ..]) if is(dollar, '$') => {
                let (between, times, more) = repetition(more)?;
                rest = more;
                Pattern::Repeat { what: patterns_of_group(what)?, between, times }
            }
            (dollar, [TokenTree::Ident(name), colon, TokenTree::Ident(kind), more @ ..])
                if is(dollar, '$') && is(colon, ':') =>
            {
                rest = more;
                Pattern::Fragment(name.to_string(), Kind::named(&kind.to_string())?)
            }
            (dollar, _) if is(dollar, '$') => return None,
            (TokenTree::Group(group), _) => Pattern::Group(group.delimiter(), patterns_of_group(group)?),
            (token, _) => Pattern::Token(token.clone()),
        });
    }
    Some(patterns)
}

fn patterns_of_group(group: &proc_macro2::Group) -> Option<Vec<Pattern>> {
    patterns(group.stream())
}

fn pieces(tokens: TokenStream) -> Option<Vec<Piece>> {
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
                Piece::Repeat { what: pieces(what.stream())?, between }
            }
            // `${count(..)}` and `$$` are not stable.
            (dollar, [TokenTree::Group(_), ..]) if is(dollar, '$') => return None,
            (dollar, [TokenTree::Ident(name), more @ ..]) if is(dollar, '$') => {
                rest = more;
                Piece::Variable(name.to_string())
            }
            (TokenTree::Group(group), _) => Piece::Group(group.delimiter(), pieces(group.stream())?),
            (token, _) => {
                let mut token = token.clone();
                // It stands nowhere in the arguments.
                token.set_span(Span::call_site());
                Piece::Token(token)
            }
        });
    }
    Some(pieces_found)
}

/// What follows `$(..)`: a separator or none, and the operator.
fn repetition(tokens: &[TokenTree]) -> Option<(Vec<TokenTree>, Times, &[TokenTree])> {
    let (at, times) = tokens.iter().take(4).enumerate().find_map(|(at, token)| match token {
        TokenTree::Punct(punct) => match punct.as_char() {
            '*' => Some((at, Times::Any)),
            '+' => Some((at, Times::AtLeastOnce)),
            '?' => Some((at, Times::Once)),
            _ => None,
        },
        _ => None,
    })?;
    let mut between = tokens[..at].to_vec();
    between.iter_mut().for_each(|token| token.set_span(Span::call_site()));
    Some((between, times, &tokens[at + 1..]))
}
