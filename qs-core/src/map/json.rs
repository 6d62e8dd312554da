//! A JSON reader and writer for one flat object a line, on borrowed text without a heap.
//!
//! The recorder reads maps inside the traced program, which must not link a JSON library for that. Tests compare this
//! reader with `serde_json`.

use core::fmt;

/// A string of a map line: plain text without escapes, or JSON text with escapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Text<'a> {
    text: &'a str,
    escaped: bool,
}

impl<'a> Text<'a> {
    /// Plain text. It is escaped when it is written.
    pub const fn plain(text: &'a str) -> Text<'a> {
        Text { text, escaped: false }
    }

    /// The raw characters: those in the line, or those given to [`Text::plain`].
    pub const fn raw(self) -> &'a str {
        self.text
    }

    /// Whether there are no characters.
    pub const fn is_empty(self) -> bool {
        self.text.is_empty()
    }

    /// The characters without escapes. A malformed escape gives U+FFFD.
    pub fn chars(self) -> impl Iterator<Item = char> + 'a {
        let mut rest = self.text.chars();
        core::iter::from_fn(move || match rest.next()? {
            '\\' if self.escaped => Some(unescape(&mut rest)),
            plain => Some(plain),
        })
    }
}

fn unescape(rest: &mut core::str::Chars<'_>) -> char {
    match rest.next() {
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('u') => {
            let high = hex4(rest);
            if !(0xD800..0xDC00).contains(&high) {
                return char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER);
            }
            let mut ahead = rest.clone();
            if ahead.next() == Some('\\') && ahead.next() == Some('u') {
                let low = hex4(&mut ahead);
                if (0xDC00..0xE000).contains(&low) {
                    *rest = ahead;
                    let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                    return char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                }
            }
            char::REPLACEMENT_CHARACTER
        }
        Some(other) => other,
        None => char::REPLACEMENT_CHARACTER,
    }
}

fn hex4(rest: &mut core::str::Chars<'_>) -> u32 {
    (0..4).fold(0, |code, _| code << 4 | rest.next().and_then(|c| c.to_digit(16)).unwrap_or(0))
}

impl fmt::Display for Text<'_> {
    /// Writes the text as the contents of a JSON string, without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.escaped {
            return f.write_str(self.text);
        }
        let mut rest = self.text;
        while let Some(at) = rest.find(|c| c < ' ' || c == '"' || c == '\\') {
            f.write_str(&rest[..at])?;
            match rest.as_bytes()[at] {
                b'\n' => f.write_str("\\n")?,
                b'\r' => f.write_str("\\r")?,
                b'\t' => f.write_str("\\t")?,
                control @ ..b' ' => write!(f, "\\u{control:04x}")?,
                mark => write!(f, "\\{}", char::from(mark))?,
            }
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

/// A checked flat object. Each look-up scans it.
pub(super) struct Object<'a> {
    body: &'a str,
}

impl<'a> Object<'a> {
    /// Checks the whole line, so that look-ups cannot fail later.
    #[inline]
    pub(super) fn parse(line: &'a str) -> Option<Object<'a>> {
        let body = line.trim().strip_prefix('{')?.strip_suffix('}')?;
        let object = Object { body };
        object.fields().all(|field| field.is_some()).then_some(object)
    }

    pub(super) fn text(&self, name: &str) -> Option<Text<'a>> {
        let value = self.value(name)?;
        let text = value.strip_prefix('"')?.strip_suffix('"')?;
        Some(Text { text, escaped: true })
    }

    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.value(name)?.parse().ok()
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.value(name) == Some("true")
    }

    fn value(&self, name: &str) -> Option<&'a str> {
        self.fields().flatten().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Name and raw value of each field. `None` for a field that is not JSON.
    fn fields(&self) -> impl Iterator<Item = Option<(&'a str, &'a str)>> + use<'a> {
        let mut rest = self.body.trim();
        core::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let field = split_field(rest);
            rest = field.map_or("", |(_, _, rest)| rest);
            Some(field.map(|(name, value, _)| (name, value)))
        })
    }
}

#[inline]
fn split_field(text: &str) -> Option<(&str, &str, &str)> {
    let quoted = string_len(text)?;
    let name = &text[1..quoted - 1];
    let text = text[quoted..].trim_start().strip_prefix(':')?.trim_start();
    let len = value_len(text)?;
    let (value, rest) = (text[..len].trim_end(), text[len..].trim_start());
    if value.is_empty() {
        return None;
    }
    match rest.strip_prefix(',') {
        Some(next) if !next.trim().is_empty() => Some((name, value, next.trim_start())),
        None if rest.is_empty() => Some((name, value, rest)),
        _ => None,
    }
}

/// Length of the string literal at the start of `text`, including both quotes.
fn string_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'"') {
        return None;
    }
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// Length of the value at the start of `text`: up to the comma at its own depth.
fn value_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += string_len(&text[at..])?;
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => return Some(at),
            _ => {}
        }
        at += 1;
    }
    (depth == 0).then_some(at)
}
