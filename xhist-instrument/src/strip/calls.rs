//! What is a call of ours: the name and the numbers, however they are spaced, in a place for statements.

use crate::shape::{self, Form, Recording};
use crate::text::{Kind, Place, Tokens};

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Recording(Form),
    /// `m` of `main`.
    Hash,
    StartAt,
    StopAt,
}

/// A call of ours, from the first of its tokens to its semicolon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub name: Name,
    pub first: usize,
    pub last: usize,
    /// It is written as this tool writes it.
    pub exact: bool,
    /// File and line, where they are its numbers.
    pub statement: Option<(u16, u16)>,
}

/// What the word `xhist_rt` turns out to be.
pub(super) enum Seen {
    Ours(Call),
    /// It has our name and numbers, but taking it out would change what is around it.
    Looks(&'static str),
    Other,
}

const NO_STATEMENT: &str = "no `;` follows it, so it is part of an expression";
const IN_EXPRESSION: &str = "it is part of an expression";
const NUMBERS: &str = "its numbers are none of ours";

/// Looks at the word `xhist_rt` at this token.
pub(super) fn look(tokens: &Tokens<'_>, at: usize) -> Seen {
    if tokens.list[at].place == Place::Rules || !is_path(tokens, at + 1) {
        return Seen::Other;
    }
    // `mod xhist_rt`, and what is called in it.
    if tokens.has_own_module && !(at >= 2 && is_path(tokens, at - 2)) {
        return Seen::Other;
    }
    let Some(Shape { name, angled, round }) = named(tokens.bytes(at + 3)) else { return Seen::Other };
    let Some(first) = first(tokens, at) else { return Seen::Other };
    let behind = at + 4;
    let (statement, close) = if tokens.bytes(behind) == b"!" {
        let close = close(tokens, behind + 1);
        if name != Name::Hash || close != Some(behind + 2) {
            return Seen::Other;
        }
        (None, behind + 2)
    } else {
        let is_angled = is_path(tokens, behind) && tokens.bytes(behind + 2) == b"<";
        let (open, numbers) = if is_angled { (behind + 2, angled) } else { (behind, round) };
        let Some(end) = (if is_angled { angle(tokens, open) } else { close(tokens, open) }) else {
            return Seen::Other;
        };
        let close =
            if is_angled { close(tokens, end + 1).filter(|close| *close == end + 2) } else { Some(end) };
        let is_ours = !numbers.is_empty() && holds_only_literals(tokens, open, end, numbers.len());
        let Some(close) = close.filter(|_| is_ours) else { return Seen::Other };
        match arguments(tokens, open, end, numbers) {
            Some(statement) => (statement, close),
            None => return Seen::Looks(NUMBERS),
        }
    };
    let last = close + 1;
    if tokens.bytes(last) != b";" {
        return Seen::Looks(NO_STATEMENT);
    }
    if !starts_statement(tokens, first) {
        return Seen::Looks(IN_EXPRESSION);
    }
    let exact = (first..last).all(|index| tokens.touches(index));
    Seen::Ours(Call { name, first, last, exact, statement })
}

/// What a name of ours says of its call.
struct Shape {
    name: Name,
    /// Its const arguments.
    angled: &'static [Width],
    /// Its arguments, where those are not const.
    round: &'static [Width],
}

fn named(word: &[u8]) -> Option<Shape> {
    use Width::{Hash, Long, Short};
    if let Some(Recording { form, checks, .. }) = shape::recording(word) {
        // Calls of earlier versions have their numbers in parentheses.
        let round: &[Width] = if *checks { &[] } else { &[Short, Short] };
        return Some(Shape { name: Name::Recording(*form), angled: &[Short, Short, Long], round });
    }
    let other = |name, round| Shape { name, angled: &[], round };
    Some(match word {
        b"m" | b"me" => other(Name::Hash, &[Hash]),
        b"start_at" => other(Name::StartAt, &[Short, Long]),
        b"stop_at" => other(Name::StopAt, &[Short, Long, Long]),
        _ => return None,
    })
}

/// Kinds of numbers in calls.
#[derive(Clone, Copy)]
enum Width {
    Short,
    Long,
    Hash,
}

/// The parenthesis that closes the one at this token.
fn close(tokens: &Tokens<'_>, open: usize) -> Option<usize> {
    tokens.list.get(open).filter(|_| tokens.bytes(open) == b"(")?.pair
}

/// The `>` that closes the `<` at this token, with nothing but literals between them.
fn angle(tokens: &Tokens<'_>, open: usize) -> Option<usize> {
    let end = (open + 1..tokens.len()).find(|&at| !is_plain(tokens.list[at].kind))?;
    (tokens.bytes(end) == b">").then_some(end)
}

/// `::` at this token.
fn is_path(tokens: &Tokens<'_>, at: usize) -> bool {
    tokens.bytes(at) == b":" && tokens.bytes(at + 1) == b":" && tokens.touches(at)
}

/// The first token of the path that the word is in; none when the path starts with another crate or module.
fn first(tokens: &Tokens<'_>, at: usize) -> Option<usize> {
    let first = if at >= 2 && is_path(tokens, at - 2) { at - 2 } else { at };
    let Some(before) = first.checked_sub(1) else { return Some(first) };
    let is_part = first < at
        && tokens.list[at].place == Place::Code
        && matches!(tokens.bytes(before), b"crate" | b"self" | b"super");
    // Words that touch are one word, but for a raw name.
    let touches = tokens.touches(before)
        && match tokens.list[before].kind {
            Kind::Word => first < at,
            Kind::Mark(mark) => matches!(mark, b'>' | b'#' | b'\''),
            _ => false,
        };
    (!is_part && !touches).then_some(first)
}

/// Whether so many literals stand between these brackets, and no name.
fn holds_only_literals(tokens: &Tokens<'_>, open: usize, close: usize, wanted: usize) -> bool {
    let inside = &tokens.list[open + 1..close];
    inside.iter().all(|token| is_plain(token.kind))
        && inside.iter().filter(|token| token.kind == Kind::Literal).count() == wanted
}

fn is_plain(kind: Kind) -> bool {
    matches!(kind, Kind::Literal | Kind::Mark(b',' | b'-' | b'.') | Kind::Comment)
}

/// The file and the line, if these are arguments of ours.
fn arguments(tokens: &Tokens<'_>, open: usize, close: usize, widths: &[Width]) -> Option<Option<(u16, u16)>> {
    // Spread over lines, they end with a comma.
    let close = if tokens.bytes(close - 1) == b"," { close - 1 } else { close };
    if close - open != 2 * widths.len() {
        return None;
    }
    let mut numbers = [0; 3];
    for (index, width) in widths.iter().enumerate() {
        let at = open + 1 + 2 * index;
        let is_last = index + 1 == widths.len();
        if !is_last && tokens.bytes(at + 1) != b"," {
            return None;
        }
        numbers[index] = number(tokens.bytes(at), *width)?;
    }
    let [file, line, _] = numbers;
    let is_statement = matches!(widths, [Width::Short, Width::Short, ..]);
    Some(is_statement.then(|| Some((file.try_into().ok()?, line.try_into().ok()?))).flatten())
}

fn number(literal: &[u8], width: Width) -> Option<u64> {
    // Some tools part digits.
    let literal = str::from_utf8(literal).ok()?.replace('_', "");
    if let Width::Hash = width {
        let digits = literal.strip_prefix("0x").filter(|digits| digits.len() == 16)?;
        return u64::from_str_radix(digits, 16).ok();
    }
    let most = if let Width::Short = width { u64::from(u16::MAX) } else { u64::from(u32::MAX) };
    literal.parse().ok().filter(|number| *number <= most)
}

/// Whether a statement may start at this token. In the arguments of a macro it may stand behind anything.
fn starts_statement(tokens: &Tokens<'_>, first: usize) -> bool {
    let Some(before) = tokens.code_before(first) else { return true };
    tokens.list[first].place == Place::Arguments
        || matches!(tokens.bytes(before), b"{" | b"}" | b";")
        || attribute(tokens, before).is_some()
}

/// The `#` of an attribute that ends at this token.
pub(super) fn attribute(tokens: &Tokens<'_>, end: usize) -> Option<usize> {
    let open = tokens.list.get(end)?.pair.filter(|open| *open < end && tokens.bytes(*open) == b"[")?;
    let hash = open.checked_sub(1)?;
    let hash = if tokens.bytes(hash) == b"!" { hash.checked_sub(1)? } else { hash };
    (tokens.bytes(hash) == b"#").then_some(hash)
}
