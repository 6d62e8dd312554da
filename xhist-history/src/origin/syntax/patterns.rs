//! Reads the names in a pattern, each with the fields that lead to it.

use super::parser::Parser;
use super::tree::{BoundName, NamedPattern};
use crate::program::tokens::TokenKind;

/// Patterns inside each other that are read.
const DEEPEST: u32 = 60;

/// In front of the number of a field of `Err`: it is another value than that of `Ok`.
pub const ERROR_FIELD: &str = "Err.";

/// Reads a pattern that one of these words ends.
pub fn pattern(parser: &mut Parser<'_>, ends: &[&str]) -> Option<NamedPattern> {
    let mut found = NamedPattern::default();
    let is_end = |parser: &Parser<'_>| {
        parser.is_done() || ends.contains(&parser.word(0)) || ends.contains(&parser.operator())
    };
    // Behind the last parameter of a closure is a `|`.
    let may_alternate = !ends.contains(&"|");
    if may_alternate {
        parser.take("|");
        alternatives(parser, Some(Vec::new()), 0, &mut found)?;
    } else {
        part(parser, Some(Vec::new()), 0, &mut found)?;
    }
    is_end(parser).then_some(found)
}

/// Reads a pattern without `|`.
fn part(
    parser: &mut Parser<'_>,
    fields: Option<Vec<String>>,
    depth: u32,
    found: &mut NamedPattern,
) -> Option<()> {
    if depth > DEEPEST {
        return None;
    }
    parser.attributes();
    while matches!(parser.word(0), "&" | "-" | "ref" | "box" | "const") {
        parser.skip();
    }
    let is_mut = parser.take("mut");
    let token = parser.token(0)?;
    match token.kind {
        TokenKind::Open(bracket @ (b'(' | b'['), _) => {
            let mut inner = parser.group(bracket)?;
            if bracket == b'(' && !inner.is_done() && !inner.has_comma() {
                return alternatives(&mut inner, fields, depth, found);
            }
            parts(&mut inner, fields.filter(|_| bracket == b'('), "", depth, found)
        }
        TokenKind::Name => named(parser, fields, is_mut, depth, found),
        TokenKind::Literal => {
            parser.skip();
            range(parser);
            Some(())
        }
        TokenKind::Mark(b'.') => {
            range(parser);
            Some(())
        }
        TokenKind::Mark(b'<') => {
            parser.generics();
            named(parser, fields, false, depth, found)
        }
        _ => None,
    }
}

/// Takes the rest of `1..=2`, or of `..`.
fn range(parser: &mut Parser<'_>) {
    if matches!(parser.operator(), ".." | "..=" | "...") {
        let operator = parser.operator();
        parser.take_operator(operator);
        parser.take("-");
        let is_bound = matches!(parser.token(0).map(|token| token.kind), Some(TokenKind::Literal));
        if is_bound || parser.is_name(0) && parser.word(0) != "if" {
            parser.skip();
            while parser.take_operator("::") {
                parser.skip();
            }
        }
    }
}

/// Reads a pattern that begins with a name: a name to bind, a constant, or what has the name and fields.
fn named(
    parser: &mut Parser<'_>,
    fields: Option<Vec<String>>,
    is_mut: bool,
    depth: u32,
    found: &mut NamedPattern,
) -> Option<()> {
    let (name, at) = (parser.word(0), parser.here());
    let mut is_path = false;
    let mut last;
    loop {
        parser.generics();
        parser.is_name(0).then_some(())?;
        last = parser.word(0);
        parser.skip();
        if !parser.take_operator("::") {
            break;
        }
        is_path = true;
    }
    match parser.token(0).map(|token| token.kind) {
        Some(TokenKind::Open(b'(', _)) => {
            let mut inner = parser.group(b'(')?;
            let to = if last == "Err" { ERROR_FIELD } else { "" };
            parts(&mut inner, fields, to, depth, found)
        }
        Some(TokenKind::Open(b'{', _)) => {
            let mut inner = parser.group(b'{')?;
            struct_fields(&mut inner, fields.as_deref(), depth, found)
        }
        Some(TokenKind::Mark(b'!')) => {
            parser.skip();
            parser.skip_group();
            Some(())
        }
        _ => {
            let begins_small = name.starts_with(|first: char| !first.is_uppercase());
            let is_bound = !is_path && begins_small && !matches!(name, "_" | "true" | "false");
            range(parser);
            if is_bound {
                bind(found, BoundName { name: name.to_owned(), at, is_mut, fields: fields.clone() });
            }
            if parser.take("@") { part(parser, fields, depth + 1, found) } else { Some(()) }
        }
    }
}

/// Adds a name. Alternatives bind the same names: if they lead to it in other ways, the way is not known.
fn bind(found: &mut NamedPattern, name: BoundName) {
    match found.names.iter_mut().find(|known| known.name == name.name) {
        Some(known) if known.fields != name.fields => known.fields = None,
        Some(_) => {}
        None => found.names.push(name),
    }
}

/// Reads patterns with `|` between them.
fn alternatives(
    parser: &mut Parser<'_>,
    fields: Option<Vec<String>>,
    depth: u32,
    found: &mut NamedPattern,
) -> Option<()> {
    loop {
        part(parser, fields.clone(), depth + 1, found)?;
        if !parser.take("|") {
            return Some(());
        }
    }
}

/// The parts of a tuple, or, without fields, of a slice. Behind `..` their numbers are not known. The prefix is in front of each.
fn parts(
    inner: &mut Parser<'_>,
    fields: Option<Vec<String>>,
    prefix: &str,
    depth: u32,
    found: &mut NamedPattern,
) -> Option<()> {
    let (mut number, mut is_known) = (0, true);
    while !inner.is_done() {
        is_known &= inner.operator() != "..";
        let numbered = |fields: Vec<String>| [fields, vec![format!("{prefix}{number}")]].concat();
        let to = fields.clone().filter(|_| is_known).map(numbered);
        alternatives(inner, to, depth, found)?;
        if !inner.take(",") && !inner.is_done() {
            return None;
        }
        number += 1;
    }
    Some(())
}

/// `a, b: pattern, ..` in the braces behind a name.
fn struct_fields(
    inner: &mut Parser<'_>,
    fields: Option<&[String]>,
    depth: u32,
    found: &mut NamedPattern,
) -> Option<()> {
    while !inner.is_done() {
        inner.attributes();
        if inner.take_operator("..") {
            return Some(());
        }
        let to = |name: &str| fields.map(|fields| [fields, &[name.to_owned()]].concat());
        let has_pattern = inner.word(1) == ":" && inner.word(2) != ":";
        if has_pattern {
            let name = inner.word(0);
            inner.skip();
            inner.skip();
            alternatives(inner, to(name), depth, found)?;
        } else {
            inner.take("ref");
            let is_mut = inner.take("mut");
            let name = inner.word(0);
            inner.is_name(0).then_some(())?;
            bind(found, BoundName { name: name.to_owned(), at: inner.here(), is_mut, fields: to(name) });
            inner.skip();
        }
        if !inner.take(",") && !inner.is_done() {
            return None;
        }
    }
    Some(())
}
