//! Compares two token streams of which one has inserted calls.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use qs_core::inserted::{self, CallForm};

/// Whether the second stream is the first plus inserted calls. Spacing is ignored: a call may separate two marks.
pub(super) fn differ_by_calls(plain: &TokenStream, with_calls: &TokenStream) -> bool {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    dissolve(plain, &mut a);
    dissolve(with_calls, &mut b);
    let mut b = b.as_slice();
    let mut a = a.into_iter();
    loop {
        while let Some((inserted, after)) = split_call(b)
            && !matches!(inserted, InsertedKind::Recording(CallForm::Block | CallForm::Parens))
        {
            b = after;
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

/// The tokens of one level. Groups of fragments and blocks that wrap an expression with a call are dissolved.
fn dissolve(tokens: &TokenStream, into: &mut Vec<TokenTree>) {
    for token in tokens.clone() {
        let TokenTree::Group(group) = &token else {
            into.push(token);
            continue;
        };
        if group.delimiter() == Delimiter::None {
            dissolve(&group.stream(), into);
        } else if let Some(wrapped) = wrapped(group) {
            dissolve(&wrapped, into);
        } else {
            into.push(token);
        }
    }
}

/// The expression in `{::xhist_rt::a(..);EXPR}` or `{::xhist_rt::p(..);(EXPR)}`, with triggers around the call.
fn wrapped(group: &Group) -> Option<TokenStream> {
    if group.delimiter() != Delimiter::Brace {
        return None;
    }
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let mut rest = tokens.as_slice();
    while let Some((InsertedKind::Start, after)) = split_call(rest) {
        rest = after;
    }
    let (InsertedKind::Recording(form), mut rest) = split_call(rest)? else { return None };
    if form == CallForm::Block {
        return Some(rest.iter().cloned().collect());
    }
    if form != CallForm::Parens {
        return None;
    }
    while let Some((InsertedKind::Stop, after)) = split_call(rest) {
        rest = after;
    }
    match rest {
        [TokenTree::Group(parens)] => Some(parens.stream()),
        _ => None,
    }
}

/// The purpose of an inserted call.
enum InsertedKind {
    Recording(CallForm),
    Start,
    Stop,
}

/// Splits off the call that the tokens start with, `::xhist_rt::s(..);` or `::xhist_rt::stop_at(..);`, along with
/// its attributes.
fn split_call(tokens: &[TokenTree]) -> Option<(InsertedKind, &[TokenTree])> {
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
    let kind = match (name.as_str(), inserted::recording(name.as_bytes())) {
        (_, Some(recording)) => InsertedKind::Recording(recording.form),
        ("start_at", None) => InsertedKind::Start,
        ("stop_at", None) => InsertedKind::Stop,
        _ => return None,
    };
    match more {
        [TokenTree::Group(_), TokenTree::Punct(_), more @ ..] => Some((kind, more)),
        _ => None,
    }
}
