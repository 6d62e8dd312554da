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

/// `/*xh*/}`, `/*xh*/)}` or `/*xh*/#[..] xhist_rt::c(F,L);`
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
    let name = memmem::find(line, b"xhist_rt::c(")?;
    let end = arguments(text, behind + name + CRATE.len() + 1)?;
    Some(at..end)
}

/// `xhist_rt::X(..);` at `at`, together with the `::` and the brace in front of it.
fn call(text: &[u8], at: usize, floor: usize) -> Option<Range<usize>> {
    let name_at = at + CRATE.len();
    let name = *text.get(name_at)?;
    let end = match name {
        b's' | b'a' | b'p' => arguments(text, name_at + 1)?,
        b'm' => hash(text, name_at + 1)?,
        _ => return None,
    };
    let mut start = at;
    if start >= floor + 2 && &text[start - 2..start] == b"::" {
        start -= 2;
    }
    let opened = start > floor && text[start - 1] == b'{';
    match name {
        b'a' => opened.then(|| start - 1..end),
        b'p' => (opened && text.get(end) == Some(&b'(')).then(|| start - 1..end + 1),
        _ => Some(start..end),
    }
}

/// End of `(1,23);` when it stands at `at`.
fn arguments(text: &[u8], at: usize) -> Option<usize> {
    let at = digits(text, literal(text, at, b"(")?)?;
    let at = digits(text, literal(text, at, b",")?)?;
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

/// One to five digits.
fn digits(text: &[u8], at: usize) -> Option<usize> {
    let count = text.get(at..)?.iter().take(6).take_while(|byte| byte.is_ascii_digit()).count();
    (1..=5).contains(&count).then_some(at + count)
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
    fn what_only_looks_similar_stays() {
        for text in [
            "::xhist_rt::s(1, 2);",
            "xhist_rt::s(1,123456);",
            "::xhist_rt::m(0x0123456789ABCDEF);",
            "::xhist_rt::t(1,2);",
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
