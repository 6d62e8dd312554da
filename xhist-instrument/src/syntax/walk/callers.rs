//! Gives each call of the text to the statement that makes it.

use crate::site::Site;
use crate::site::structure::{Jump, Structure};
use crate::text::{Lexer, TokenKind};
use qs_core::map::Hash;
use std::cmp::Reverse;
use std::ops::Range;

/// A body or a statement around calls.
struct Around {
    range: Range<usize>,
    /// `None` for a body.
    site: Option<usize>,
}

/// Gives each call to the innermost statement around it, and to none if a body of its own is around it. Bodies without
/// statements, except functions, are parts of their statement. Sites and structure are in the order of the text.
pub(super) fn give_to_statements(sites: &mut [Site], structure: &mut Structure, text: &str) {
    let calls = std::mem::take(&mut structure.calls);
    let mut around: Vec<Around> = Vec::new();
    for body in &structure.bodies {
        let from = sites.partition_point(|site| site.range.start < body.range.start);
        let has_site = sites.get(from).is_some_and(|site| site.range.end <= body.range.end);
        if has_site || body.kind.is_named() {
            around.push(Around { range: body.range.clone(), site: None });
        }
    }
    around.extend(
        sites.iter().enumerate().map(|(index, site)| Around { range: site.range.clone(), site: Some(index) }),
    );
    around.sort_by_key(|around| (around.range.start, Reverse(around.range.end), around.site.is_some()));
    // Bodies that are parts of a statement, and may run more than once.
    let hidden = structure.bodies.iter().filter(|body| {
        let found = around
            .binary_search_by_key(&(body.range.start, Reverse(body.range.end), false), |around| {
                (around.range.start, Reverse(around.range.end), around.site.is_some())
            });
        found.is_err()
    });
    let hidden: Vec<Range<usize>> = hidden.map(|body| body.range.clone()).collect();
    let mut names: Vec<String> = vec![String::new(); sites.len()];
    let (mut next, mut open): (usize, Vec<usize>) = (0, Vec::new());
    for call in calls {
        while let Some(one) = around.get(next).filter(|one| one.range.start <= call.at) {
            open.retain(|&open| around[open].range.end > one.range.start);
            open.push(next);
            next += 1;
        }
        open.retain(|&open| around[open].range.end > call.at);
        let Some(site) = open.last().and_then(|&open| around[open].site) else { continue };
        let start = sites[site].range.start;
        let is_hidden = |body: &Range<usize>| body.contains(&call.at) && start <= body.start;
        let repeats = call.repeated_from.is_some_and(|from| start <= from) || hidden.iter().any(is_hidden);
        let names = &mut names[site];
        // An operator is listed once: any number of values may be its operands.
        let is_operator = call.name.starts_with('@');
        if is_operator && names.split(' ').any(|name| name == call.name) {
            continue;
        }
        if !names.is_empty() {
            names.push(' ');
        }
        if repeats && !is_operator {
            names.push('*');
        }
        names.push_str(&call.name);
    }
    for (site, names) in sites.iter_mut().zip(names) {
        site.calls = names.into();
        site.text = sum(&text[site.range.clone()]);
        site.jump = jump(&text[site.range.clone()]);
    }
}

/// The sum of a statement's text. What lies in its braces has statements of its own.
fn sum(text: &str) -> u32 {
    let mut hash = Hash::new();
    for (kind, token) in Lexer::new(text.as_bytes(), 0) {
        match kind {
            TokenKind::Open(b'{') if token.start > 0 => break,
            TokenKind::Comment => {}
            _ => {
                hash.update(&text.as_bytes()[token]);
                hash.update(b" ");
            }
        }
    }
    let hash = hash.finish();
    (hash ^ (hash >> 32)) as u32
}

/// How a statement leaves the text around it, judged by its first word.
fn jump(text: &str) -> Option<Jump> {
    let end = text.find(|char: char| !(char.is_alphanumeric() || char == '_')).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let has_label = || rest.trim_start().starts_with('\'');
    match word {
        "return" => Some(Jump::Return),
        "break" | "continue" if has_label() => Some(Jump::Label),
        "break" => Some(Jump::Break),
        "continue" => Some(Jump::Continue),
        "panic" | "unreachable" | "todo" | "unimplemented" if rest.trim_start().starts_with('!') => {
            Some(Jump::Panic)
        }
        _ => None,
    }
}
