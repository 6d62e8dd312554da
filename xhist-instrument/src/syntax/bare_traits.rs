//! Trait objects without `dyn`, which editions 2015 and 2018 allow: `Box<Fn(u8) -> u8>`. The parser takes those without
//! brackets for other types, and refuses the ones with brackets.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

/// Parses a file with `dyn` in front of such trait objects. `None` if it has none, or does not parse for another reason.
pub(super) fn parse(text: &str) -> Option<syn::File> {
    let mut has_any = false;
    let tokens = with_dyn(text.parse().ok()?, &mut has_any);
    has_any.then(|| syn::parse2(tokens).ok()).flatten()
}

fn with_dyn(tokens: TokenStream, has_any: &mut bool) -> TokenStream {
    let mut done: Vec<TokenTree> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_trait = matches!(&token, TokenTree::Ident(name) if ["Fn", "FnMut", "FnOnce"].iter().any(|other| name == other))
            && matches!(tokens.peek(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
        if is_trait && let Some(start) = start_of_object(&done) {
            done.insert(start, TokenTree::Ident(Ident::new("dyn", Span::call_site())));
            *has_any = true;
        }
        done.push(match token {
            TokenTree::Group(group) => {
                let mut with = Group::new(group.delimiter(), with_dyn(group.stream(), has_any));
                with.set_span(group.span());
                TokenTree::Group(with)
            }
            other => other,
        });
    }
    done.into_iter().collect()
}

/// Where a trait object begins whose last name follows these tokens. `None` if the name is that of a bound.
fn start_of_object(before: &[TokenTree]) -> Option<usize> {
    let is_punct = |at: usize, wanted| matches!(before.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == wanted);
    let is_ident = |at: usize| matches!(before.get(at), Some(TokenTree::Ident(_)));
    let mut start = before.len();
    // `std::ops::`
    while start >= 2 && is_punct(start - 1, ':') && is_punct(start - 2, ':') {
        start -= 2;
        start -= usize::from(start > 0 && is_ident(start - 1));
    }
    // `for<'a>`
    if start > 0
        && is_punct(start - 1, '>')
        && let Some(open) = (0..start).rev().find(|at| is_punct(*at, '<'))
        && matches!(before.get(open.wrapping_sub(1)), Some(TokenTree::Ident(name)) if name == "for")
    {
        start = open - 1;
    }
    match before.get(start.wrapping_sub(1)) {
        Some(TokenTree::Punct(punct)) => (!matches!(punct.as_char(), ':' | '+' | '?' | '.')).then_some(start),
        // `&'a`
        Some(TokenTree::Ident(_)) if start > 1 && is_punct(start - 2, '\'') => Some(start),
        // `&mut`, `*const`, `as`, `impl A for`; a bound has `dyn` or `impl` there.
        Some(TokenTree::Ident(name)) => {
            ["mut", "const", "as", "for"].iter().any(|other| name == other).then_some(start)
        }
        _ => Some(start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trait_objects_without_dyn_parse() {
        for text in [
            "type A = Fn(&u8) + Send + Sync;",
            "struct A { f: Box<Fn(i32) -> i32>, g: Box<FnMut(&str) + Send>, h: &'static Fn(u8) }",
            "fn f(a: &Fn(u8) -> u8, b: &mut FnMut(), c: *const std::ops::Fn()) -> Box<::std::ops::FnOnce(u8)> { g() }",
            "fn f(a: Box<for<'a> Fn(&'a u8) -> &'a u8>, b: (u8, Box<Fn(Box<Fn()>)>)) {}",
            "impl A for Fn(u8) -> u8 {}",
            "fn f<F: Fn(u8), G>(f: F, g: impl Fn(), h: Box<dyn Fn()>, i: Box<Fn()>) where G: Send + Fn() {}",
        ] {
            let is_parsed = syn::parse_str::<syn::File>(text).is_ok() || parse(text).is_some();
            assert!(is_parsed, "{text}");
        }
        assert!(parse("fn f(a: Box<Fn()>) { ) }").is_none() && parse("fn f() {}").is_none());
    }
}
