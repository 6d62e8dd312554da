//! Takes calls out of a token stream, where they are other things than in the text: the tokens left must be those
//! of the original.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Fails unless the instrumented text has the tokens of the original and this many calls.
#[track_caller]
pub fn assert_same_but_calls(original: &str, instrumented: &str, calls: usize, what: &str) {
    let stream = |text: &str| text.parse::<TokenStream>().unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
    let (mut expected, mut found, mut taken) = (Vec::new(), Vec::new(), 0);
    write(stream(original).into_iter().collect(), &mut expected);
    write(without_calls(stream(instrumented), &mut taken), &mut found);
    let same = expected.iter().zip(&found).take_while(|(expected, found)| expected == found).count();
    assert!(
        expected == found,
        "{what}: other tokens behind {:?}\n{instrumented}",
        &found[same.saturating_sub(12)..same]
    );
    assert_eq!(taken, calls, "{what}: calls and statements\n{instrumented}");
}

fn write(trees: Vec<TokenTree>, out: &mut Vec<String>) {
    for tree in trees {
        match tree {
            TokenTree::Group(group) => {
                out.push(format!("open {:?}", group.delimiter()));
                write(group.stream().into_iter().collect(), out);
                out.push("close".to_owned());
            }
            other => out.push(other.to_string()),
        }
    }
}

fn without_calls(stream: TokenStream, taken: &mut usize) -> Vec<TokenTree> {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let mut left: Vec<TokenTree> = Vec::new();
    let mut at = 0;
    while at < trees.len() {
        if let Some((name, length)) = call(&trees[at..]) {
            // Attributes in front of such a call are copies.
            let may_carry = ["c", "ce", "start_at", "stop_at"].contains(&name.as_str());
            while may_carry && ends_with_attribute(&left) {
                left.truncate(left.len() - 2);
            }
            *taken += 1;
            at += length;
            continue;
        }
        match &trees[at] {
            TokenTree::Group(group) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                match (opener(&inner).as_deref(), inner.last()) {
                    (None | Some("s" | "c" | "e" | "ce"), _) => {
                        let inner = without_calls(group.stream(), taken).into_iter().collect();
                        left.push(Group::new(group.delimiter(), inner).into());
                    }
                    (Some("p" | "pe"), Some(TokenTree::Group(parens))) => {
                        let calls = inner[..inner.len() - 1].iter().cloned().collect();
                        assert!(
                            without_calls(calls, taken).is_empty(),
                            "calls alone in front of the parentheses"
                        );
                        left.extend(without_calls(parens.stream(), taken));
                    }
                    // Any other call opens a block that was none.
                    (Some(_), _) => left.extend(without_calls(group.stream(), taken)),
                }
            }
            other => left.push(other.clone()),
        }
        at += 1;
    }
    left
}

/// The name of the call that a block starts with, behind triggers.
fn opener(trees: &[TokenTree]) -> Option<String> {
    let (name, length) = call(trees)?;
    if name == "start_at" { opener(&trees[length..]) } else { Some(name) }
}

/// `::xhist_rt::s(0x1_0002_0a01);`, with or without the colons in front: its name, and how many tokens it has.
fn call(trees: &[TokenTree]) -> Option<(String, usize)> {
    let is_colon =
        |at: usize| matches!(trees.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    let start = if is_colon(0) && is_colon(1) { 2 } else { 0 };
    let [TokenTree::Ident(krate), _, _, TokenTree::Ident(name)] = trees.get(start..start + 4)? else {
        return None;
    };
    let mut at = start + 4;
    // Up to the `>` behind const arguments.
    if is_colon(at) {
        let is_end = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == '>');
        at += trees[at..].iter().position(is_end)? + 1;
    }
    match trees.get(at..at + 2)? {
        [TokenTree::Group(args), TokenTree::Punct(end)]
            if krate == "xhist_rt" && args.delimiter() == Delimiter::Parenthesis && end.as_char() == ';' =>
        {
            Some((name.to_string(), at + 2))
        }
        _ => None,
    }
}

fn ends_with_attribute(trees: &[TokenTree]) -> bool {
    match trees {
        [.., TokenTree::Punct(pound), TokenTree::Group(group)] => {
            pound.as_char() == '#' && group.delimiter() == Delimiter::Bracket
        }
        _ => false,
    }
}
