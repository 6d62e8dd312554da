//! A coarse lexer: words, marks, literals and comments of Rust, enough to separate code from text.
//! It never fails; text that is not Rust yields arbitrary tokens.

use std::ops::Range;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Open(u8),
    Close,
    Word,
    Mark(u8),
    Literal,
    Comment,
}

/// Iterates over the tokens of a text.
pub(crate) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a [u8], start: usize) -> Self {
        Self { text, at: start }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.text.get(self.at).is_some_and(|&byte| wanted(byte)) {
            self.at += 1;
        }
    }

    fn line_comment(&mut self) -> TokenKind {
        self.at += memchr::memchr(b'\n', self.rest()).unwrap_or(self.rest().len());
        TokenKind::Comment
    }

    fn block_comment(&mut self) -> TokenKind {
        let mut depth = 0;
        while self.at < self.text.len() {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => (depth, self.at) = (depth + 1, self.at + 2),
                (b'*', b'/') => (depth, self.at) = (depth - 1, self.at + 2),
                _ => self.at += 1,
            }
            if depth == 0 {
                break;
            }
        }
        TokenKind::Comment
    }

    /// From the opening quote through the closing one.
    fn quoted(&mut self, quote: u8) -> TokenKind {
        self.at += 1;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(next) = memchr::memchr2(quote, b'\\', rest) else {
                self.at = self.text.len();
                return TokenKind::Literal;
            };
            let is_end = rest[next] == quote;
            self.at += next + if is_end { 1 } else { 2 };
            if is_end {
                return TokenKind::Literal;
            }
        }
    }

    /// From the first `#` or `"` after the `r` of a raw string; false if no raw string starts here.
    fn raw_string(&mut self) -> bool {
        let hashes = self.rest().iter().take_while(|&&byte| byte == b'#').count();
        if self.peek(hashes) != b'"' {
            return false;
        }
        self.at += hashes + 1;
        while let Some(quote) = memchr::memchr(b'"', self.rest()) {
            self.at += quote + 1;
            if self.rest().iter().take(hashes).filter(|&&byte| byte == b'#').count() == hashes {
                self.at += hashes;
                return true;
            }
        }
        self.at = self.text.len();
        true
    }

    /// A character literal, or the `'` of a lifetime or label.
    fn apostrophe(&mut self) -> TokenKind {
        if self.peek(1) == b'\\' {
            return self.quoted(b'\'');
        }
        let char_len = 1 + (2..5).take_while(|&ahead| self.peek(ahead) & 0xC0 == 0x80).count();
        let is_char = self.peek(1) != b'\'' && self.peek(1 + char_len) == b'\'';
        self.at += if is_char { char_len + 2 } else { 1 };
        if is_char { TokenKind::Literal } else { TokenKind::Mark(b'\'') }
    }

    fn word(&mut self) -> TokenKind {
        let start = self.at;
        self.skip_while(is_word);
        if self.text[start].is_ascii_digit() {
            return TokenKind::Literal;
        }
        // Only these bytes can extend a word to a literal.
        if !matches!(self.peek(0), b'"' | b'#' | b'\'') {
            return TokenKind::Word;
        }
        match (&self.text[start..self.at], self.peek(0)) {
            (b"r" | b"br" | b"cr", b'"' | b'#') if self.raw_string() => TokenKind::Literal,
            (b"b" | b"c", b'"') => self.quoted(b'"'),
            (b"b", b'\'') => self.quoted(b'\''),
            _ => TokenKind::Word,
        }
    }
}

impl Iterator for Lexer<'_> {
    type Item = (TokenKind, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        let mut start = self.at;
        while let Some(b' ' | b'\n' | b'\t' | b'\r' | b'\x0c') = self.text.get(start) {
            start += 1;
        }
        self.at = start;
        let byte = *self.text.get(start)?;
        let kind = match byte {
            b'/' if self.peek(1) == b'/' => self.line_comment(),
            b'/' if self.peek(1) == b'*' => self.block_comment(),
            b'"' => self.quoted(b'"'),
            b'\'' => self.apostrophe(),
            _ if is_word(byte) => self.word(),
            _ => {
                self.at += 1;
                match byte {
                    b'(' | b'[' | b'{' => TokenKind::Open(byte),
                    b')' | b']' | b'}' => TokenKind::Close,
                    _ => TokenKind::Mark(byte),
                }
            }
        };
        self.at = self.at.min(self.text.len());
        Some((kind, start..self.at))
    }
}

/// Bytes that belong to words.
const WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte >= 0x80 || (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    table
};

fn is_word(byte: u8) -> bool {
    WORD[usize::from(byte)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(TokenKind, &str)> {
        Lexer::new(text.as_bytes(), 0).map(|(kind, range)| (kind, &text[range])).collect()
    }

    #[test]
    fn literals_are_one_token() {
        for literal in [
            "\"a\\\"}\"",
            "r#\"}\"# \"#",
            "b\"{\"",
            "'{'",
            "'\\''",
            "'é'",
            "b'{'",
            "b'\\''",
            "cr\"{\"",
            "0x1f",
        ] {
            assert_eq!(
                kinds(literal).first(),
                Some(&(TokenKind::Literal, literal.split(" \"#").next().unwrap())),
                "{literal}"
            );
        }
        assert_eq!(
            kinds("r#type"),
            [(TokenKind::Word, "r"), (TokenKind::Mark(b'#'), "#"), (TokenKind::Word, "type")]
        );
        assert_eq!(
            kinds("'a: x"),
            [
                (TokenKind::Mark(b'\''), "'"),
                (TokenKind::Word, "a"),
                (TokenKind::Mark(b':'), ":"),
                (TokenKind::Word, "x")
            ]
        );
    }

    #[test]
    fn comments_nest_and_end() {
        assert_eq!(kinds("/* a /* b */ { */ x // {\n}").len(), 4);
        assert_eq!(kinds("/* open"), [(TokenKind::Comment, "/* open")]);
        assert_eq!(kinds("\"open\\"), [(TokenKind::Literal, "\"open\\")]);
        assert_eq!(kinds("r#\"open"), [(TokenKind::Literal, "r#\"open")]);
    }
}
