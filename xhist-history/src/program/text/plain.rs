//! Removes inserted calls from a line of a source that was instrumented in place. It recognizes calls by their text.

use std::borrow::Cow;

use qs_core::inserted::{
    BEGIN_TASK, CRATE, ENDS, HASHES, MARK, RECORDINGS, RESUME_TASK, START_AT, STOP_AT, StatementNumber,
    VALUES, WATCH, WordWidth,
};
use qs_core::record::Statement;

/// Text before the call that begins a task.
const LET_TASK: &str = "let __xh_task=";
/// Text around the numbers of calls: const arguments, or plain ones.
const NUMBERS: [(&str, &str); 2] = [("::<", ">();"), ("(", ");")];

/// The line numbers in the recording calls of a line.
pub fn lines_of_calls(line: &str) -> impl Iterator<Item = u32> {
    line.match_indices(CRATE).filter_map(|(at, _)| {
        let call = &line[at + CRATE.len()..];
        let (name, arguments) = call.split_once(['(', ':'])?;
        let known = RECORDINGS.iter().find(|known| known.name == name)?;
        let statement = match arguments.strip_prefix(":<") {
            None => argument(arguments.split_once(')')?.0, known.width)?,
            // Earlier versions wrote `s::<1,42,9>()`.
            Some(numbers) => {
                let mut numbers = numbers.split_once(">()")?.0.split(',').map(str::trim);
                let (file, line) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
                numbers.next().filter(|_| numbers.next().is_none())?;
                Statement { file, line }
            }
        };
        Some(statement.line.into())
    })
}

/// The statement in the argument of a recording call.
fn argument(text: &str, width: WordWidth) -> Option<Statement> {
    let digits = text.trim().strip_prefix("0x")?.replace('_', "");
    let value = u64::from_str_radix(&digits, 16).ok()?;
    Some(StatementNumber { value, width }.statement())
}

/// The line before it was instrumented.
pub fn plain(line: &str) -> Cow<'_, str> {
    if !line.contains(CRATE) && !line.contains(MARK) {
        return Cow::Borrowed(line);
    }
    let (mut plain, mut rest) = (String::with_capacity(line.len()), line);
    while let Some(at) = [rest.find(MARK), rest.find(CRATE)].into_iter().flatten().min() {
        let (before, after) = rest.split_at(at);
        plain.push_str(before);
        let inserted = if after.starts_with(MARK) { marked(after) } else { called(after, &mut plain) };
        // Text that only looks like a call stays.
        let (kept, len) =
            inserted.map_or((true, after.chars().next().map_or(1, char::len_utf8)), |len| (false, len));
        if kept {
            plain.push_str(&after[..len]);
        }
        rest = &after[len..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Length of the inserted text behind a mark: the end of an expression, or attributes with their call.
fn marked(text: &str) -> Option<usize> {
    let behind = &text[MARK.len()..];
    if let Some(end) = ENDS.into_iter().find(|end| behind.starts_with(end)) {
        return Some(MARK.len() + end.len());
    }
    let call = behind.starts_with('#').then(|| behind.find(CRATE))??;
    let (len, ..) = call_at(&behind[call..])?;
    Some(MARK.len() + call + len)
}

/// Length of the call at the start of a text. Removes the text inserted before it from `plain`.
fn called(text: &str, plain: &mut String) -> Option<usize> {
    let (len, before, behind) = call_at(text)?;
    let start = plain.strip_suffix("::").unwrap_or(plain);
    // `my_xhist_rt::s(0x1_0002_0a01)` is another crate's.
    let is_name = |char: char| char.is_alphanumeric() || char == '_';
    if start.ends_with(is_name) && start.len() == plain.len() {
        return None;
    }
    let kept = start.strip_suffix(before)?.len();
    let mut len = len;
    // Values and triggers of the statement are in between.
    while !text[len..].starts_with(behind) {
        let next = &text[len..];
        let call = next.strip_prefix("::").unwrap_or(next);
        let (more, "", "") = call_at(call)? else { return None };
        len += next.len() - call.len() + more;
    }
    plain.truncate(kept);
    Some(len + behind.len())
}

/// Length of the call at the start of a text, and the texts inserted before and behind it.
fn call_at(text: &str) -> Option<(usize, &'static str, &'static str)> {
    let call = text.strip_prefix(CRATE)?;
    if let Some(len) = referring(call) {
        return Some((CRATE.len() + len, "", ""));
    }
    let name = &call[..call.find(['(', ':']).filter(|end| *end > 0)?];
    let (before, behind) = around(name)?;
    let (open, close) = NUMBERS.iter().find(|(open, _)| call[name.len()..].starts_with(open))?;
    let arguments = &call[name.len() + open.len()..];
    let end = arguments.find(close)?;
    let is_hex = |digits: &str| digits.chars().all(|char| char.is_ascii_hexdigit() || char == '_');
    let is_argument = |text: &str| text.parse::<u64>().is_ok() || text.strip_prefix("0x").is_some_and(is_hex);
    let are_ours = end == 0 || arguments[..end].split(',').all(|argument| is_argument(argument.trim()));
    are_ours.then_some((CRATE.len() + name.len() + open.len() + end + close.len(), before, behind))
}

/// What is inserted before and behind a call of this name, which has only numbers.
fn around(name: &str) -> Option<(&'static str, &'static str)> {
    if let Some(call) = RECORDINGS.iter().find(|call| call.name == name) {
        return Some(call.form.around());
    }
    if name == BEGIN_TASK {
        return Some((LET_TASK, ""));
    }
    let is_hash = HASHES.iter().any(|call| call.name == name.strip_suffix('!').unwrap_or(name));
    (is_hash || [START_AT, STOP_AT].contains(&name)).then_some(("", ""))
}

/// Length of a call that ends in a reference: `v::<7,_>(&x);`, `r(&__xh_task);`, `watch(0,0,..,&{x});`.
fn referring(call: &str) -> Option<usize> {
    let values = VALUES.iter().map(|call| call.name);
    let name = values.chain([RESUME_TASK, WATCH]).find(|name| {
        let behind = call.strip_prefix(*name);
        behind.is_some_and(|behind| behind.starts_with("::<") || behind.starts_with('('))
    })?;
    // A text that is expected may have parentheses in it.
    let ends = call.match_indices(");").filter(|(end, _)| is_reference(&call[..*end]));
    let (end, _) = ends.map(|(end, text)| (end + text.len(), end)).next()?;
    let inside = &call[name.len()..end];
    (!inside.contains(CRATE)).then_some(end)
}

/// Whether a text ends in `(&name` or `,&{name}`.
fn is_reference(text: &str) -> bool {
    let Some((before, name)) = text.rsplit_once('&') else { return false };
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let name = name.strip_prefix("r#").unwrap_or(name);
    let is_name = !name.is_empty() && name.chars().all(|char| char.is_alphanumeric() || char == '_');
    is_name && before.ends_with(['(', ','])
}

#[cfg(test)]
mod tests {
    use super::*;
    use qs_core::inserted::TASK;

    #[test]
    fn inserted_calls_are_removed() {
        for (line, expected) in [
            ("    ::xhist_rt::s(0x1_0016_0a01);let x = f();", "    let x = f();"),
            ("xhist_rt::s(0x1_0016_0a01);f();", "f();"),
            ("fn main() {::xhist_rt::m(0x0123456789abcdef);", "fn main() {"),
            ("fn main() {::xhist_rt::m!();::xhist_rt::s(0x1_0002_0a01);f()}", "fn main() {f()}"),
            ("1 => {::xhist_rt::a(0x1_0003_0a01);g()/*xh*/},", "1 => g(),"),
            ("f(|| {::xhist_rt::p(0x1_0003_0a01);(1)/*xh*/)});", "f(|| 1));"),
            ("x => {::xhist_rt::p(0x1_0003_0a01);(a, b/*xh*/)}", "x => a, b"),
            ("x => {::xhist_rt::a(0x1_0003_0a01);match y {", "x => match y {"),
            ("}/*xh*/}", "}"),
            ("/*xh*/#[cfg(a)] ::xhist_rt::c(0x1_0001_0a01);#[cfg(a)] let x = 1;", "#[cfg(a)] let x = 1;"),
            (
                "fn main() {::xhist_rt::mv::<0x0123456789abcdef>();::xhist_rt::e(0x1_0002_0a01);f()}",
                "fn main() {f()}",
            ),
            ("let x = 1;::xhist_rt::v::<7,_>(&x); f(x)", "let x = 1; f(x)"),
            ("x => {::xhist_rt::a(0x1_0003_0a01);::xhist_rt::vtg::<70,_>(&{r#x});x/*xh*/}", "x => x"),
            ("let x = 1;::xhist_rt::watch(0,0,::core::option::Option::Some(\"a);b\"),&x);y", "let x = 1;y"),
            ("{let __xh_task=::xhist_rt::t();::xhist_rt::e(0x1_0003_0a01);f().await;", "{f().await;"),
            ("::xhist_rt::r(&__xh_task);::xhist_rt::s(0x1_0003_0a01);g();", "g();"),
            (
                "::xhist_rt::start_at(1,5);::xhist_rt::s(0x1_0009_0a01);::xhist_rt::stop_at(2,1,16);f();",
                "f();",
            ),
        ] {
            assert_eq!(plain(line), expected, "{line}");
        }
    }

    #[test]
    fn the_variable_of_a_task_has_its_name() {
        assert_eq!(LET_TASK, format!("let {TASK}="));
    }

    #[test]
    fn similar_text_stays() {
        for line in [
            "xhist_rt::init();",
            "xhist_rt::v(a, b);",
            "xhist_rt::v::<7,_>(&a.b);",
            "xhist_rt::vector(&a);",
            "my_xhist_rt::s(0x1_0002_0a01);",
            "xhist_rt::s(a,b);",
            "xhist_rt::s(0x1_0002_0a01)",
            "xhist_rt::",
            "/*xh*/ é",
            "xhist_rt::é",
            "xhist_rt::a(0x1_0002_0a01);",
        ] {
            assert_eq!(plain(line), line);
        }
    }
}
