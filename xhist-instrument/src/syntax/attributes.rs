//! What attributes mean for a statement or function: repeat them at the call, hidden `const`, or skip the code.

use crate::site::Reason;
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use syn::{AttrStyle, Attribute, Meta, Signature};

/// Attribute macros that translate the body to a language without calls to the recorder.
const FOREIGN: [&str; 9] = [
    "autodiff",
    "autodiff_forward",
    "autodiff_reverse",
    "cube",
    "gpu_kernel",
    "kernel",
    "offload_kernel",
    "spirv",
    "verus_verify",
];

/// Functions that the compiler itself calls.
const MEMORY_PRIMITIVES: [&str; 6] = ["memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen"];

pub(super) fn is_outer(attribute: &Attribute) -> bool {
    matches!(attribute.style, AttrStyle::Outer)
}

/// The last segment of the attribute's path.
fn name(attribute: &Attribute) -> String {
    attribute.path().segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
}

/// The reason to skip a function, impl, trait or module with these attributes.
pub(super) fn skip_reason(attributes: &[Attribute]) -> Option<Reason> {
    attributes.iter().find_map(|attribute| {
        let list = match &attribute.meta {
            Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        match name(attribute).as_str() {
            "naked" => Some(Reason::Naked),
            "unsafe" if mentions(list, &["naked"]) => Some(Reason::Naked),
            "pre_init" => Some(Reason::PreInit),
            "panic_handler" | "alloc_error_handler" => Some(Reason::PanicHandler),
            "no_core" | "compiler_builtins" => Some(Reason::NoCore),
            name if FOREIGN.contains(&name) => Some(Reason::ForeignAttribute),
            _ => None,
        }
    })
}

/// Whether start-up code calls this function, whatever its name is, as with `#[cortex_m_rt::entry]`.
pub(super) fn is_entry(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| matches!(name(attribute).as_str(), "entry" | "main"))
}

/// An attribute of a module that writes `main`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MainBy {
    /// `#[rtic::app]` calls the function with `#[init]` first.
    Rtic,
    /// `#[embedded_test::tests]` calls the function with `#[init]`, if there is one, and one test.
    Tests,
}

impl MainBy {
    pub(super) fn of_module(attributes: &[Attribute]) -> Option<MainBy> {
        attributes.iter().find_map(|attribute| match name(attribute).as_str() {
            "app" => Some(MainBy::Rtic),
            "tests" => Some(MainBy::Tests),
            _ => None,
        })
    }

    /// Whether it may call the function with these attributes before any other.
    pub(super) fn calls_first(self, attributes: &[Attribute]) -> bool {
        let is = |name| attributes.iter().any(|attribute| attribute.path().is_ident(name));
        is("init") || self == MainBy::Tests && is("test")
    }
}

/// Whether this defines `memcpy` or the like, under the name that the compiler calls.
pub(super) fn is_memory_primitive(attributes: &[Attribute], signature: &Signature) -> bool {
    let exported = |attribute: &Attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("no_mangle"),
        Meta::List(list) => mentions(list.tokens.clone(), &["no_mangle"]),
        Meta::NameValue(_) => false,
    };
    MEMORY_PRIMITIVES.iter().any(|name| signature.ident == name)
        && (signature.abi.is_some() || attributes.iter().any(exported))
}

/// Whether an attribute macro may make the function const: `#[rustversion::attr(since(1.60), const)]`.
pub(super) fn hidden_const(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => {
            matches!(name(attribute).as_str(), "const_fn")
                || mentions(list.tokens.clone(), &["const", "const_fn"])
        }
        _ => matches!(name(attribute).as_str(), "const_fn" | "const_trait"),
    })
}

/// Whether one of these words is in the tokens, at any depth.
fn mentions(tokens: TokenStream, words: &[&str]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => words.iter().any(|word| ident == word),
        TokenTree::Group(group) => mentions(group.stream(), words),
        _ => false,
    })
}

/// Whether `#[expect(unused_..)]` is among these attributes, also under `cfg_attr`. A recorded value is a use.
pub(super) fn expects_unused(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => {
            let is_expect = attribute.path().is_ident("expect");
            let is_hidden =
                || attribute.path().is_ident("cfg_attr") && mentions(list.tokens.clone(), &["expect"]);
            (is_expect || is_hidden())
                && mentions(
                    list.tokens.clone(),
                    &["unused", "unused_variables", "unused_assignments", "warnings"],
                )
        }
        _ => false,
    })
}

/// Whether a `cfg` can remove the statement.
pub(super) fn has_cfg<'a>(attributes: impl IntoIterator<Item = &'a Attribute>) -> bool {
    attributes.into_iter().any(|attribute| matches!(name(attribute).as_str(), "cfg" | "cfg_attr"))
}

/// The attributes that the call in front of a statement has to repeat, on one line.
/// `Err` if they do not fit on one line.
pub(super) fn carried(attributes: &[&Attribute]) -> Result<Option<Box<str>>, Reason> {
    let mut text = String::new();
    for attribute in attributes {
        let Meta::List(list) = &attribute.meta else { continue };
        if let Some(kept) = kept(&name(attribute), list.tokens.clone()) {
            text.push_str(if text.is_empty() { "#[" } else { " #[" });
            text.push_str(&kept);
            text.push(']');
        }
    }
    // A string literal over several lines; unlikely, but a line must not move.
    if text.contains(['\n', '\r']) {
        return Err(Reason::Attributes);
    }
    Ok((!text.is_empty()).then(|| text.into_boxed_str()))
}

/// The part of one attribute that a call repeats: `cfg`, `allow`, `expect` as `allow` (the call would not meet the
/// expectation), and these under `cfg_attr`.
fn kept(name: &str, tokens: TokenStream) -> Option<String> {
    match name {
        "cfg" => Some(format!("cfg({})", on_one_line(tokens))),
        "allow" | "expect" => Some(format!("allow({})", on_one_line(tokens))),
        "cfg_attr" => {
            let mut parts = split(tokens).into_iter();
            let predicate = on_one_line(parts.next()?);
            let kept: Vec<String> = parts.filter_map(kept_part).collect();
            (!kept.is_empty()).then(|| format!("cfg_attr({predicate}, {})", kept.join(", ")))
        }
        _ => None,
    }
}

/// Like [`kept`], for one attribute given as `name(tokens)`.
fn kept_part(part: Vec<TokenTree>) -> Option<String> {
    match part.as_slice() {
        [TokenTree::Ident(name), TokenTree::Group(group)] => kept(&name.to_string(), group.stream()),
        _ => None,
    }
}

/// Splits at the commas of the outermost level.
fn split(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    for token in tokens {
        match (&token, parts.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' => parts.push(Vec::new()),
            (_, Some(part)) => part.push(token),
            (_, None) => {}
        }
    }
    parts
}

/// Tokens as new text. The original text may hold a comment that would hide the rest of the line.
fn on_one_line(tokens: impl IntoIterator<Item = TokenTree>) -> String {
    let mut text = String::new();
    let mut apart = false;
    for token in tokens {
        // A blank keeps two separate marks from forming an operator or a comment.
        if apart && matches!(token, TokenTree::Punct(_)) {
            text.push(' ');
        }
        apart = matches!(&token, TokenTree::Punct(punct) if punct.spacing() == Spacing::Alone);
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => text.push_str(", "),
            TokenTree::Punct(punct) if punct.as_char() == '=' => text.push_str(" = "),
            TokenTree::Punct(punct) => text.push(punct.as_char()),
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Bracket => ('[', ']'),
                    Delimiter::Brace => ('{', '}'),
                    Delimiter::Parenthesis | Delimiter::None => ('(', ')'),
                };
                text.push(open);
                text.push_str(&on_one_line(group.stream()));
                text.push(close);
            }
            word => {
                if text.ends_with(|last: char| last.is_alphanumeric() || last == '_') {
                    text.push(' ');
                }
                text.push_str(&word.to_string());
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried_of(text: &str) -> Option<String> {
        let item: syn::ItemFn = syn::parse_str(&format!("{text} fn f() {{}}")).unwrap();
        let attributes: Vec<&Attribute> = item.attrs.iter().collect();
        carried(&attributes).unwrap().map(String::from)
    }

    #[test]
    fn only_attributes_that_affect_the_call_are_repeated() {
        assert_eq!(carried_of("#[cfg(any( // c\n))] #[inline]").unwrap(), "#[cfg(any())]");
        assert_eq!(carried_of("#[cfg(/\n/ c)]").unwrap(), "#[cfg(/ /c)]");
        assert_eq!(carried_of("#[expect(a)] #[allow(b)]").unwrap(), "#[allow(a)] #[allow(b)]");
        assert_eq!(carried_of("#[cfg_attr(x, inline, expect(a))]").unwrap(), "#[cfg_attr(x, allow(a))]");
        assert_eq!(carried_of("/// doc\n#[inline] #[cfg_attr(x, inline)]"), None);
    }
}
