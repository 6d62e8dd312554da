//! Takes out exactly the shapes that `shape` puts in, with nothing but the text to go by.
//! Works on any bytes, parsed or not, in one pass.

use crate::shape::{CRATE, MARK};
use memchr::memmem;
use std::ops::Range;

/// The text without anything this tool inserts. Other text comes back as it was.
pub fn strip(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut kept = 0;
    for range in Inserted::new(text) {
        out.extend_from_slice(&text[kept..range.start]);
        kept = range.end;
    }
    out.extend_from_slice(&text[kept..]);
    out
}

/// The first place that looks like an insertion of ours, or like a part of one.
pub(crate) fn find_inserted(text: &[u8]) -> Option<usize> {
    let mark = memmem::find(text, MARK.as_bytes());
    let shape = Inserted::new(text).next().map(|range| range.start);
    mark.into_iter().chain(shape).min()
}

/// Iterates over the byte ranges of insertions.
pub(crate) struct Inserted<'a> {
    text: &'a [u8],
    position: usize,
    crate_finder: memmem::Finder<'static>,
    mark_finder: memmem::Finder<'static>,
    /// Next candidates at or behind `position`; `usize::MAX` when there is none.
    next_crate: usize,
    next_mark: usize,
}

impl<'a> Inserted<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            position: 0,
            crate_finder: memmem::Finder::new(CRATE),
            mark_finder: memmem::Finder::new(MARK),
            next_crate: 0,
            next_mark: 0,
        }
    }

    fn seek(&self, finder: &memmem::Finder<'_>, from: usize) -> usize {
        finder.find(&self.text[from..]).map_or(usize::MAX, |at| from + at)
    }
}

impl Iterator for Inserted<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            if self.next_crate <= self.position {
                self.next_crate = self.seek(&self.crate_finder, self.position);
            }
            if self.next_mark <= self.position {
                self.next_mark = self.seek(&self.mark_finder, self.position);
            }
            let at = self.next_crate.min(self.next_mark);
            if at == usize::MAX {
                return None;
            }
            let range =
                if at == self.next_mark { marked(self.text, at) } else { call(self.text, at, self.position) };
            if let Some(range) = range {
                self.position = range.end;
                return Some(range);
            }
            self.position = at + 1;
        }
    }
}

/// `/*xh*/}`, `/*xh*/)}` or `/*xh*/#[..] xhist_rt::c(F,L);`, also with a trigger in place of `c`.
fn marked(text: &[u8], at: usize) -> Option<Range<usize>> {
    let behind = at + MARK.len();
    let rest = &text[behind..];
    if rest.starts_with(b"}") {
        return Some(at..behind + 1);
    }
    if rest.starts_with(b")}") {
        return Some(at..behind + 2);
    }
    if !rest.starts_with(b"#[") {
        return None;
    }
    let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    let calls = memmem::find_iter(line, CRATE).filter_map(|call| one(text, behind + call));
    let (_, end) = calls.into_iter().find(|(name, _)| matches!(*name, b"c" | b"start_at" | b"stop_at"))?;
    Some(at..end)
}

/// `xhist_rt::X(..);` at `at`, together with the `::` and the brace in front of it.
fn call(text: &[u8], at: usize, floor: usize) -> Option<Range<usize>> {
    let (name, end) = one(text, at).filter(|(name, _)| *name != b"c")?;
    let mut start = at;
    if start >= floor + 2 && &text[start - 2..start] == b"::" {
        start -= 2;
    }
    let opened = start > floor && text[start - 1] == b'{';
    match opener(text, name, end) {
        (b"a", end) => opened.then(|| start - 1..end),
        (b"p", end) => (opened && text.get(end) == Some(&b'(')).then(|| start - 1..end + 1),
        _ => Some(start..end),
    }
}

/// The call that tells whose the brace in front is, and where what belongs to it ends: triggers may stand between the
/// two, and behind it.
fn opener<'t>(text: &'t [u8], mut name: &'t [u8], mut end: usize) -> (&'t [u8], usize) {
    let next = |at: usize| one(text, literal(text, at, b"::").unwrap_or(at));
    while name == b"start_at"
        && let Some(other) = next(end)
    {
        (name, end) = other;
    }
    while name == b"p"
        && let Some((b"stop_at", behind)) = next(end)
    {
        end = behind;
    }
    (name, end)
}

/// `xhist_rt::X(..);` at `at`: its name and its end.
fn one(text: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let start = literal(text, at, CRATE.as_bytes())?;
    let letters = text[start..].iter().take(LONGEST_NAME + 1);
    let open = start + letters.take_while(|byte| matches!(byte, b'a'..=b'z' | b'_')).count();
    let name = &text[start..open];
    let end = match name {
        b"s" | b"a" | b"p" | b"c" => arguments(text, open, &[SHORT, SHORT])?,
        b"start_at" => arguments(text, open, &[SHORT, LONG])?,
        b"stop_at" => arguments(text, open, &[SHORT, LONG, LONG])?,
        b"m" => hash(text, open)?,
        _ => return None,
    };
    Some((name, end))
}

/// Letters of `start_at`.
const LONGEST_NAME: usize = 8;
/// Digits of 16 bits.
const SHORT: usize = 5;
/// Digits of 32 bits.
const LONG: usize = 10;

/// End of `(1,23);` when it stands at `at`: numbers of at most so many digits.
fn arguments(text: &[u8], at: usize, widths: &[usize]) -> Option<usize> {
    let mut at = literal(text, at, b"(")?;
    for (index, width) in widths.iter().enumerate() {
        at = if index == 0 { at } else { literal(text, at, b",")? };
        at = digits(text, at, *width)?;
    }
    literal(text, at, b");")
}

/// End of `(0x0123456789abcdef);` or `!();` when it stands at `at`.
fn hash(text: &[u8], at: usize) -> Option<usize> {
    if let Some(end) = literal(text, at, b"!();") {
        return Some(end);
    }
    let at = literal(text, at, b"(0x")?;
    let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.get(at..at + 16)?.iter().all(is_hex).then_some(())?;
    literal(text, at + 16, b");")
}

fn literal(text: &[u8], at: usize, wanted: &[u8]) -> Option<usize> {
    text.get(at..)?.starts_with(wanted).then(|| at + wanted.len())
}

/// One to so many digits.
fn digits(text: &[u8], at: usize, most: usize) -> Option<usize> {
    let count = text.get(at..)?.iter().take(most + 1).take_while(|byte| byte.is_ascii_digit()).count();
    (1..=most).contains(&count).then_some(at + count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(text: &str) -> String {
        String::from_utf8(strip(text.as_bytes())).unwrap()
    }

    #[test]
    fn every_shape_goes() {
        assert_eq!(stripped("{::xhist_rt::s(1,2);f()}"), "{f()}");
        assert_eq!(stripped("{xhist_rt::s(1,65535);f()}"), "{f()}");
        assert_eq!(stripped("A => {::xhist_rt::a(1,2);x/*xh*/},"), "A => x,");
        assert_eq!(stripped("|| {::xhist_rt::p(1,2);({x} + 1/*xh*/)}"), "|| {x} + 1");
        assert_eq!(stripped("{/*xh*/#[cfg(a)] #[allow(b)] ::xhist_rt::c(1,2);x"), "{x");
        assert_eq!(stripped("{::xhist_rt::m(0x0123456789abcdef);::xhist_rt::m!();x"), "{x");
        assert_eq!(stripped("{::xhist_rt::a(1,2);{::xhist_rt::a(1,2);x/*xh*/}/*xh*/}"), "x");
    }

    #[test]
    fn triggers_go_with_what_they_stand_at() {
        let (start, stop) = ("::xhist_rt::start_at(63,1);", "::xhist_rt::stop_at(0,3,4294967295);");
        for (text, original) in [
            (format!("{{{start}::xhist_rt::s(1,2);{stop}f()}}"), "{f()}"),
            (format!("A => {{{start}{start}::xhist_rt::a(1,2);{stop}x/*xh*/}},"), "A => x,"),
            (format!("|| {{{start}::xhist_rt::p(1,2);{stop}{stop}({{x}} + 1/*xh*/)}}"), "|| {x} + 1"),
            (
                format!(
                    "{{/*xh*/#[cfg(a)] {start}/*xh*/#[cfg(a)] ::xhist_rt::c(1,2);/*xh*/#[cfg(a)] {stop}x"
                ),
                "{x",
            ),
            (format!("{{{start}::xhist_rt::m!();{start}::xhist_rt::s(1,2);x"), "{x"),
            (format!("{{::xhist_rt::a(1,2);{start}{{{start}::xhist_rt::a(1,2);x/*xh*/}}/*xh*/}}"), "x"),
        ] {
            assert_eq!(stripped(&text), original);
            assert_eq!(stripped(&text.replace("::xhist_rt", "xhist_rt")), original);
        }
    }

    #[test]
    fn what_only_looks_similar_stays() {
        for text in [
            "::xhist_rt::s(1, 2);",
            "xhist_rt::s(1,123456);",
            "::xhist_rt::m(0x0123456789ABCDEF);",
            "::xhist_rt::t(1,2);",
            "::xhist_rt::start_at(1);",
            "::xhist_rt::start_at(1,2,3);",
            "::xhist_rt::start_atx(1,2);",
            "::xhist_rt::stop_at(1,2);",
            "::xhist_rt::stop_at(1,2,12345678901);",
            "::xhist_rt::start_at(1,1);::xhist_rt::a(1,2);",
            "::xhist_rt::stop_after(1);",
            "::xhist_rt::a(1,2);",
            "/*xh*/ }",
            "/*xh*/#[cfg(a)]\n::xhist_rt::c(1,2);",
            "xhist_rt::",
            "xhist_rt::s",
            "xhist_rt::s(1",
            "/*xh*/",
        ] {
            assert_eq!(stripped(text), text);
        }
    }

    #[test]
    fn a_mark_alone_is_found() {
        assert_eq!(find_inserted(b"x /*xh*/"), Some(2));
        assert_eq!(find_inserted(b"x ::xhist_rt::s(1,2);"), Some(2));
        assert_eq!(find_inserted(b"x ::xhist_rt::init();"), None);
    }
}
