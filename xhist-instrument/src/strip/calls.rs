//! Recognises inserted calls by name and numbers, with any spacing, in statement position.

use crate::refusal::Obstacle;
use crate::text::{TokenContext, TokenKind, Tokens};
use qs_core::inserted::{
    self, BEGIN_TASK, CallForm, GIVE_RECORDER, GIVEN, HASHES, PRINTED, RECORD_OUTPUT, RESUME_TASK,
    RecordingCall, START_AT, STOP_AT, StatementNumber, TASK, VALUES, WATCH, WordWidth,
};

/// The items at the head of a crate, by the names that they define.
pub(super) const ITEMS: [(&str, &str); 2] = [(GIVEN, GIVE_RECORDER), (PRINTED, RECORD_OUTPUT)];

/// The purpose of an inserted call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallName {
    Recording(CallForm),
    /// `m`, `me`, `mv` or `mev`, in `main`.
    Hash,
    /// A value.
    Value,
    /// A trigger at a value.
    Watch,
    StartAt,
    StopAt,
    /// The variable of a task.
    Task,
    /// A task goes on.
    Resume,
    /// An item at the head of a crate.
    Item,
}

/// An inserted call, from its first token to its semicolon.
#[derive(Clone, Copy, Debug)]
pub(super) struct InsertedCall {
    pub name: CallName,
    pub first: usize,
    pub last: usize,
    /// Its spelling is the one that this tool writes.
    pub exact: bool,
    /// File and line, if they are among its numbers.
    pub statement: Option<(u16, u16)>,
}

/// The meaning of a word `xhist_rt`.
pub(super) enum Recognition {
    Call(InsertedCall),
    /// It has the name and numbers of a call, but removing it would change the code around it.
    Altered(Obstacle),
    NotACall,
}

/// Examines the word `xhist_rt` at this token.
pub(super) fn recognise(tokens: &Tokens<'_>, at: usize) -> Recognition {
    match parts(tokens, at) {
        None => Recognition::NotACall,
        Some(Err(obstacle)) => Recognition::Altered(obstacle),
        Some(Ok(call)) => Recognition::Call(call),
    }
}

/// The call with this word; `None` if it is other code.
fn parts(tokens: &Tokens<'_>, at: usize) -> Option<Result<InsertedCall, Obstacle>> {
    let in_rules = tokens.list[at].context == TokenContext::Rules;
    if let Some((_, item)) = ITEMS.into_iter().find(|(name, _)| tokens.bytes(at) == name.as_bytes())
        && !in_rules
    {
        return self::item(tokens, at, item).map(Ok);
    }
    // Rules name the recorder of their crate.
    if in_rules != (tokens.bytes(at) == GIVEN.as_bytes()) || !is_path(tokens, at + 1) {
        return None;
    }
    // The user's own `mod xhist_rt`, and calls into it.
    if tokens.has_own_module && !in_rules && !(at >= 2 && is_path(tokens, at - 2)) {
        return None;
    }
    if [BEGIN_TASK, RESUME_TASK].iter().any(|name| tokens.bytes(at + 3) == name.as_bytes()) {
        return task(tokens, at);
    }
    if let Some(call) = value(tokens, at) {
        return Some(call);
    }
    let syntax = named(tokens.bytes(at + 3))?;
    let first = first(tokens, at)?;
    let (close, statement) = match arguments_end(tokens, at + 4, &syntax)? {
        Ok(end) => end,
        Err(obstacle) => return Some(Err(obstacle)),
    };
    let last = close + 1;
    if tokens.bytes(last) != b";" {
        return Some(Err(Obstacle::NoSemicolon));
    }
    if !starts_statement(tokens, first) {
        return Some(Err(Obstacle::InExpression));
    }
    let exact = (first..last).all(|index| tokens.touches(index));
    Some(Ok(InsertedCall { name: syntax.name, first, last, exact, statement }))
}

/// One of [`ITEMS`], by its last word.
fn item(tokens: &Tokens<'_>, at: usize, item: &str) -> Option<InsertedCall> {
    let last = at + 1;
    let end = tokens.list.get(last)?.range.end;
    let start = end.checked_sub(item.len())?;
    let first = tokens.list[..at].binary_search_by_key(&start, |token| token.range.start).ok()?;
    let exact = tokens.text[start..end] == *item.as_bytes();
    exact.then_some(InsertedCall { name: CallName::Item, first, last, exact, statement: None })
}

/// `let __xh_task=xhist_rt::t();` or `xhist_rt::r(&__xh_task);`.
fn task(tokens: &Tokens<'_>, at: usize) -> Option<Result<InsertedCall, Obstacle>> {
    let path = first(tokens, at)?;
    let close = close(tokens, at + 4)?;
    let is_task = tokens.bytes(at + 3) == BEGIN_TASK.as_bytes();
    let (name, first) = match is_task {
        true if close != at + 5 => return None,
        true => (CallName::Task, path.checked_sub(3)),
        false if close != at + 7 || tokens.bytes(at + 5) != b"&" => return None,
        false if tokens.bytes(at + 6) != TASK.as_bytes() => return None,
        false => (CallName::Resume, Some(path)),
    };
    let is_variable = |first: usize| {
        let words: [&[u8]; 3] = [b"let", TASK.as_bytes(), b"="];
        !is_task || (0..3).all(|index| tokens.bytes(first + index) == words[index])
    };
    let Some(first) = first.filter(|first| is_variable(*first) && starts_statement(tokens, *first)) else {
        return Some(Err(Obstacle::InExpression));
    };
    let last = close + 1;
    if tokens.bytes(last) != b";" {
        return Some(Err(Obstacle::NoSemicolon));
    }
    let blank = || tokens.text[tokens.list[first].range.end..tokens.list[first + 1].range.start] == *b" ";
    let rest = if is_task { first + 1 } else { first };
    let exact = (rest..last).all(|index| tokens.touches(index)) && (!is_task || blank());
    Some(Ok(InsertedCall { name, first, last, exact, statement: None }))
}

/// `xhist_rt::v::<7,_>(&x);`, `xhist_rt::v::<7,_>(&{x});`, or `xhist_rt::watch(0,0,..,&x);`.
fn value(tokens: &Tokens<'_>, at: usize) -> Option<Result<InsertedCall, Obstacle>> {
    let name = tokens.bytes(at + 3);
    let is_watch = name == WATCH.as_bytes();
    if !is_watch && !VALUES.iter().any(|call| call.name.as_bytes() == name) {
        return None;
    }
    let open = if is_watch { at + 4 } else { value_number(tokens, at + 4)? };
    let close = close(tokens, open)?;
    // rustfmt ends arguments on several lines with a comma.
    let end = if tokens.bytes(close - 1) == b"," { close - 1 } else { close };
    let reference = if is_watch { watch_value(tokens, open, end)? } else { open + 1 };
    if !is_variable(tokens, reference, end) {
        return None;
    }
    let first = first(tokens, at)?;
    let last = close + 1;
    if tokens.bytes(last) != b";" {
        return Some(Err(Obstacle::NoSemicolon));
    }
    if !starts_statement(tokens, first) {
        return Some(Err(Obstacle::InExpression));
    }
    let name = if is_watch { CallName::Watch } else { CallName::Value };
    let exact = (first..last).all(|index| tokens.touches(index));
    Some(Ok(InsertedCall { name, first, last, exact, statement: None }))
}

/// The token behind `::<7,_>`, whose first token is this one.
fn value_number(tokens: &Tokens<'_>, at: usize) -> Option<usize> {
    let number = tokens.list.get(at + 3).filter(|token| token.kind == TokenKind::Literal)?;
    number_of(&tokens.text[number.range.clone()])?;
    let end = if tokens.bytes(at + 6) == b"," { at + 7 } else { at + 6 };
    let has_form = is_path(tokens, at)
        && tokens.bytes(at + 2) == b"<"
        && tokens.bytes(at + 4) == b","
        && tokens.bytes(at + 5) == b"_"
        && tokens.bytes(end) == b">";
    has_form.then_some(end + 1)
}

fn number_of(literal: &[u8]) -> Option<u64> {
    number(literal, NumberWidth::Long)
}

/// The `&` of `(0,0,::core::option::Option::None,&x)`, which ends before `end`.
fn watch_value(tokens: &Tokens<'_>, open: usize, end: usize) -> Option<usize> {
    let is_number = |at: usize| {
        tokens.list.get(at).is_some_and(|token| token.kind == TokenKind::Literal)
            && number_of(tokens.bytes(at)).is_some()
            && tokens.bytes(at + 1) == b","
    };
    if !is_number(open + 1) || !is_number(open + 3) {
        return None;
    }
    let path = open + 5;
    let path = if is_path(tokens, path) { path + 2 } else { path };
    let words: [&[u8]; 3] = [b"core", b"option", b"Option"];
    let is_option = words.iter().enumerate().all(|(index, word)| {
        tokens.bytes(path + 3 * index) == *word && is_path(tokens, path + 3 * index + 1)
    });
    let variant = path + 9;
    let behind = match tokens.bytes(variant) {
        b"None" => variant + 1,
        b"Some" => close(tokens, variant + 1)? + 1,
        _ => return None,
    };
    (is_option && behind < end && tokens.bytes(behind) == b",").then_some(behind + 1)
}

/// Whether these tokens are `&x` or `&{x}`.
fn is_variable(tokens: &Tokens<'_>, at: usize, end: usize) -> bool {
    let is_copy = tokens.bytes(at + 1) == b"{";
    let (name, behind) = if is_copy { (at + 2, at + 4) } else { (at + 1, at + 2) };
    // A raw name may be one word, or `r`, `#` and a word.
    let extra = behind_raw(tokens, name);
    tokens.bytes(at) == b"&"
        && tokens.list.get(name).is_some_and(|token| token.kind == TokenKind::Word)
        && behind + extra == end
        && (!is_copy || tokens.bytes(behind + extra - 1) == b"}")
}

/// Tokens of a raw name behind its first.
fn behind_raw(tokens: &Tokens<'_>, name: usize) -> usize {
    if tokens.bytes(name) == b"r" && tokens.bytes(name + 1) == b"#" { 2 } else { 0 }
}

/// The closing parenthesis of a call whose arguments start here, and the file and line among them.
type ArgumentsEnd = Result<(usize, Option<(u16, u16)>), Obstacle>;

fn arguments_end(tokens: &Tokens<'_>, at: usize, syntax: &CallSyntax) -> Option<ArgumentsEnd> {
    if tokens.bytes(at) == b"!" {
        let is_empty = close(tokens, at + 1) == Some(at + 2);
        return (syntax.name == CallName::Hash && is_empty).then_some(Ok((at + 2, None)));
    }
    let is_const = is_path(tokens, at) && tokens.bytes(at + 2) == b"<";
    let (numbers, open, end, close) = if is_const {
        let end = angle(tokens, at + 2)?;
        let close = close(tokens, end + 1).filter(|close| *close == end + 2)?;
        (syntax.const_arguments, at + 2, end, close)
    } else {
        let close = close(tokens, at)?;
        (syntax.arguments, at, close, close)
    };
    if numbers.is_empty() || !holds_only_literals(tokens, open, end, numbers.len()) {
        return None;
    }
    let statement = arguments(tokens, open, end, numbers).ok_or(Obstacle::OtherNumbers);
    Some(statement.map(|statement| (close, statement)))
}

/// The arguments of one name.
struct CallSyntax {
    name: CallName,
    const_arguments: &'static [NumberWidth],
    /// In parentheses.
    arguments: &'static [NumberWidth],
}

fn named(word: &[u8]) -> Option<CallSyntax> {
    use NumberWidth::{Hash, Long, Short, Statement};
    if let Some(RecordingCall { form, width, .. }) = inserted::recording(word) {
        // Earlier versions wrote `s::<1,42,9>()`.
        let (const_arguments, arguments): (&[NumberWidth], &[NumberWidth]) = match width {
            WordWidth::Short => (&[Short, Short, Long], &[Statement(WordWidth::Short)]),
            WordWidth::Long => (&[], &[Statement(WordWidth::Long)]),
        };
        return Some(CallSyntax { name: CallName::Recording(*form), const_arguments, arguments });
    }
    if let Some(call) = HASHES.iter().find(|call| call.name.as_bytes() == word) {
        let (const_arguments, arguments): (&[NumberWidth], &[NumberWidth]) =
            if call.has_values { (&[Hash], &[]) } else { (&[], &[Hash]) };
        return Some(CallSyntax { name: CallName::Hash, const_arguments, arguments });
    }
    let (name, arguments): (_, &[NumberWidth]) = match word {
        _ if word == START_AT.as_bytes() => (CallName::StartAt, &[Short, Long]),
        _ if word == STOP_AT.as_bytes() => (CallName::StopAt, &[Short, Long, Long]),
        _ => return None,
    };
    Some(CallSyntax { name, const_arguments: &[], arguments })
}

/// Number formats in calls.
#[derive(Clone, Copy)]
enum NumberWidth {
    Short,
    Long,
    Hash,
    /// A [`StatementNumber`].
    Statement(WordWidth),
}

/// The parenthesis that matches the one at this token.
fn close(tokens: &Tokens<'_>, open: usize) -> Option<usize> {
    tokens.list.get(open).filter(|_| tokens.bytes(open) == b"(")?.pair
}

/// The `>` that matches the `<` at this token, if only literals are between them.
fn angle(tokens: &Tokens<'_>, open: usize) -> Option<usize> {
    let end = (open + 1..tokens.len()).find(|&at| !is_plain(tokens.list[at].kind))?;
    (tokens.bytes(end) == b">").then_some(end)
}

/// Whether `::` starts at this token.
fn is_path(tokens: &Tokens<'_>, at: usize) -> bool {
    tokens.bytes(at) == b":" && tokens.bytes(at + 1) == b":" && tokens.touches(at)
}

/// The first token of the path that holds the word; `None` if the path starts with another crate or module.
fn first(tokens: &Tokens<'_>, at: usize) -> Option<usize> {
    if tokens.list[at].context == TokenContext::Rules {
        let path = at.checked_sub(4)?;
        let is_own =
            tokens.bytes(path) == b"$" && tokens.bytes(path + 1) == b"crate" && is_path(tokens, path + 2);
        return is_own.then_some(path);
    }
    let first = if at >= 2 && is_path(tokens, at - 2) { at - 2 } else { at };
    let Some(before) = first.checked_sub(1) else { return Some(first) };
    let is_part = first < at
        && tokens.list[at].context == TokenContext::Code
        && matches!(tokens.bytes(before), b"crate" | b"self" | b"super");
    // Two adjacent words are one name, except after `r#`.
    let touches = tokens.touches(before)
        && match tokens.list[before].kind {
            TokenKind::Word => first < at,
            TokenKind::Mark(mark) => matches!(mark, b'>' | b'#' | b'\''),
            _ => false,
        };
    (!is_part && !touches).then_some(first)
}

/// Whether exactly this many literals, and no names, are between these brackets.
fn holds_only_literals(tokens: &Tokens<'_>, open: usize, close: usize, wanted: usize) -> bool {
    let inside = &tokens.list[open + 1..close];
    inside.iter().all(|token| is_plain(token.kind))
        && inside.iter().filter(|token| token.kind == TokenKind::Literal).count() == wanted
}

fn is_plain(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Literal | TokenKind::Mark(b',' | b'-' | b'.') | TokenKind::Comment)
}

/// The file and line, if the arguments have the form that this tool writes.
fn arguments(
    tokens: &Tokens<'_>,
    open: usize,
    close: usize,
    widths: &[NumberWidth],
) -> Option<Option<(u16, u16)>> {
    // rustfmt ends arguments on several lines with a comma.
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
    let [first, second, _] = numbers;
    Some(match *widths {
        [NumberWidth::Short, NumberWidth::Short, ..] => Some((first as u16, second as u16)),
        [NumberWidth::Statement(width)] => {
            let statement = StatementNumber { value: first, width }.statement();
            Some((statement.file, statement.line))
        }
        _ => None,
    })
}

fn number(literal: &[u8], width: NumberWidth) -> Option<u64> {
    // Some tools insert `_` between digits.
    let literal = str::from_utf8(literal).ok()?.replace('_', "");
    let hexadecimal = || literal.strip_prefix("0x");
    let (digits, radix, most) = match width {
        NumberWidth::Hash => (hexadecimal().filter(|digits| digits.len() == 16)?, 16, u64::MAX),
        NumberWidth::Statement(WordWidth::Short) => (hexadecimal()?, 16, (1 << 48) - 1),
        NumberWidth::Statement(WordWidth::Long) => (hexadecimal()?, 16, u64::MAX),
        NumberWidth::Short => (&*literal, 10, u16::MAX.into()),
        NumberWidth::Long => (&*literal, 10, u32::MAX.into()),
    };
    u64::from_str_radix(digits, radix).ok().filter(|number| *number <= most)
}

/// Whether a statement may start at this token. In macro arguments it may follow anything.
fn starts_statement(tokens: &Tokens<'_>, first: usize) -> bool {
    let Some(before) = tokens.code_before(first) else { return true };
    tokens.list[first].context != TokenContext::Code
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
