//! Syntax of older editions that the parser refuses, as it is written today:
//!
//! - trait objects without `dyn`, with brackets: `Box<Fn(u8) -> u8>`; those without brackets pass for other types
//! - parameters of trait methods that are only a type: `fn f(u8);`
//! - `async`, `await`, `dyn` and `try` as names
//!
//! What is added has no place in the text, and a name keeps its own.

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

/// Parses a file of an older edition. `None` if it has nothing of this, or does not parse for another reason.
pub(super) fn parse(text: &str) -> Option<syn::File> {
    let mut has_any = false;
    let tokens = renewed(text.parse().ok()?, &mut has_any);
    has_any.then(|| syn::parse2(tokens).ok()).flatten()
}

fn renewed(tokens: TokenStream, has_any: &mut bool) -> TokenStream {
    let mut done: Vec<TokenTree> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    // Behind `trait`, until its braces.
    let mut in_trait = false;
    while let Some(token) = tokens.next() {
        let next = tokens.peek();
        let token = match token {
            TokenTree::Group(group) => {
                let is_trait = in_trait && group.delimiter() == Delimiter::Brace;
                in_trait &= !is_trait;
                let mut inner = renewed(group.stream(), has_any);
                if is_trait {
                    inner = with_patterns(inner, has_any);
                }
                let mut renewed = Group::new(group.delimiter(), inner);
                renewed.set_span(group.span());
                TokenTree::Group(renewed)
            }
            TokenTree::Ident(name) if is_name(&name, done.last(), next) => {
                *has_any = true;
                TokenTree::Ident(Ident::new_raw(&name.to_string(), name.span()))
            }
            TokenTree::Ident(name) => {
                in_trait |= name == "trait";
                if is_callable(&name, next)
                    && let Some(start) = start_of_object(&done)
                {
                    done.insert(start, TokenTree::Ident(Ident::new("dyn", Span::call_site())));
                    *has_any = true;
                }
                TokenTree::Ident(name)
            }
            TokenTree::Punct(mark) => {
                in_trait &= mark.as_char() != ';';
                TokenTree::Punct(mark)
            }
            other => other,
        };
        done.push(token);
    }
    done.into_iter().collect()
}

/// Whether a word that is a keyword today is a name between these tokens.
fn is_name(word: &Ident, before: Option<&TokenTree>, next: Option<&TokenTree>) -> bool {
    let is_mark = |token: Option<&TokenTree>, marks: &str| matches!(token, Some(TokenTree::Punct(mark)) if marks.contains(mark.as_char()));
    let is_word = |words: &[&str]| matches!(next, Some(TokenTree::Ident(next)) if words.iter().any(|word| next == word));
    let is_brace = matches!(next, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace);
    match word.to_string().as_str() {
        "async" => !is_brace && !is_word(&["fn", "move", "unsafe", "extern"]) && !is_mark(next, "|"),
        "await" => !is_mark(before, "."),
        "dyn" => match next {
            None => true,
            Some(TokenTree::Punct(mark)) if mark.as_char() == ':' => mark.spacing() == Spacing::Alone,
            Some(TokenTree::Punct(mark)) => !"'?<".contains(mark.as_char()),
            Some(TokenTree::Group(_)) => matches!(before, Some(TokenTree::Ident(word)) if word == "fn"),
            Some(_) => false,
        },
        // `try!(..)` is a macro of the standard library, which the parser knows.
        "try" => !is_brace && !is_mark(next, "!"),
        _ => false,
    }
}

/// Adds `_:` to the parameters of methods that are only a type.
fn with_patterns(body: TokenStream, has_any: &mut bool) -> TokenStream {
    let mut done: Vec<TokenTree> = Vec::new();
    // Behind `fn`, until the brackets.
    let mut is_head = false;
    for token in body {
        let token = match token {
            TokenTree::Group(group) if is_head && group.delimiter() == Delimiter::Parenthesis => {
                is_head = false;
                let mut parameters = Group::new(group.delimiter(), named_parameters(group.stream(), has_any));
                parameters.set_span(group.span());
                TokenTree::Group(parameters)
            }
            TokenTree::Ident(word) => {
                is_head |= word == "fn" && is_item_start(done.last());
                TokenTree::Ident(word)
            }
            other => other,
        };
        done.push(token);
    }
    done.into_iter().collect()
}

/// Whether `fn` behind this token declares a method. In types it follows a mark: `A<fn()>`, `-> fn()`.
fn is_item_start(before: Option<&TokenTree>) -> bool {
    !matches!(before, Some(TokenTree::Punct(mark)) if mark.as_char() != ';')
}

fn named_parameters(tokens: TokenStream, has_any: &mut bool) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let (mut done, mut start, mut angles) = (Vec::new(), 0, 0);
    for at in 0..=tokens.len() {
        match tokens.get(at) {
            Some(TokenTree::Punct(mark)) if mark.as_char() == '<' => angles += 1,
            Some(TokenTree::Punct(mark)) if mark.as_char() == '>' && !is_arrow(&tokens[..at]) => angles -= 1,
            Some(TokenTree::Punct(mark)) if mark.as_char() == ',' && angles == 0 => {}
            Some(_) => continue,
            None => {}
        }
        let is_end = tokens
            .get(at)
            .is_none_or(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ','));
        if !is_end || angles != 0 {
            continue;
        }
        let parameter = &tokens[start..at];
        if is_only_type(parameter) {
            *has_any = true;
            done.push(TokenTree::Ident(Ident::new("_", Span::call_site())));
            done.push(TokenTree::Punct(Punct::new(':', Spacing::Alone)));
        }
        done.extend(parameter.iter().chain(tokens.get(at)).cloned());
        start = at + 1;
    }
    done.extend(tokens.get(start..).unwrap_or_default().iter().cloned());
    done.into_iter().collect()
}

/// Whether the last of these tokens and `>` are an arrow.
fn is_arrow(before: &[TokenTree]) -> bool {
    matches!(before.last(), Some(TokenTree::Punct(mark)) if mark.as_char() == '-')
}

/// Whether a parameter has no name: it is not `self`, and no `:` is in it.
fn is_only_type(parameter: &[TokenTree]) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ':');
    let is_self = matches!(parameter.last(), Some(TokenTree::Ident(word)) if word == "self");
    let mut colons = parameter.iter().peekable();
    let mut has_name = false;
    while let Some(token) = colons.next() {
        // `::` is part of a path.
        has_name |= is_colon(token) && colons.next_if(|next| is_colon(next)).is_none();
    }
    !parameter.is_empty() && !is_self && !has_name
}

/// Whether this is the name of a trait with brackets: `Fn(u8)`.
fn is_callable(name: &Ident, next: Option<&TokenTree>) -> bool {
    ["Fn", "FnMut", "FnOnce"].iter().any(|callable| name == callable)
        && matches!(next, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
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

    #[test]
    fn parameters_without_names_parse() {
        for text in [
            "trait A { fn f(u8); fn g(&self, u8, Vec<(u8, u8)>, HashMap<u8, fn(u8) -> u8>) -> fn(u8) { h() } }",
            "trait A<B: Fn(u8)>: C where B: D { fn f(&'a mut self, ::std::string::String, a: u8, _: u8, &'static str, ) {} }",
            "unsafe trait A { const B: fn(u8) = c; fn f(mut self, Box<Fn(u8) -> u8>, [u8; 2], *const u8) -> Self; }",
            "mod a { trait A { #[b] unsafe extern \"C\" fn f(self: Box<Self>, u8, <A as B>::C); fn g(); fn h(a: u8); } }",
        ] {
            assert!(syn::parse_str::<syn::File>(text).is_err() && parse(text).is_some(), "{text}");
        }
        // Only traits may have them.
        assert!(parse("trait A; fn f(u8) {}").is_none() && parse("impl A { fn f(u8) {} }").is_none());
        assert!(parse("trait A { fn f(u8, >); }").is_none());
    }

    #[test]
    fn keywords_of_later_editions_are_names() {
        for text in [
            "fn async(async: u8) -> u8 { ::async::f(async); async }",
            "mod async; use async::A; use a::{async, await};",
            "fn await() { let await = 1; await() + await }",
            "fn dyn(dyn: &dyn ::a::A) { let dyn = dyn; f(dyn) }",
            "fn f() { let try = try!(try); a.try() + a.async }",
        ] {
            assert!(syn::parse_str::<syn::File>(text).is_err() && parse(text).is_some(), "{text}");
        }
        let both = parse(
            "fn async() { async move { b.await; } } async fn c(async: u8) -> &dyn A { async { try { d } } }",
        );
        assert_eq!(both.map(|file| file.items.len()), Some(2));
    }
}
