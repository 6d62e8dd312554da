//! Reads tokens one after another: words, operators, brackets, and types, which say nothing about values.

use crate::program::tokens::{SourceToken, TokenKind};

/// Operators of several characters, the longer ones first.
const OPERATORS: [&str; 25] = [
    "<<=", ">>=", "..=", "...", "||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=", "*=", "/=", "%=",
    "^=", "&=", "|=", "..", "->", "=>", "::", "=",
];

/// Reads tokens from one place to another.
#[derive(Clone)]
pub struct Parser<'t> {
    /// The text of the file.
    pub text: &'t str,
    tokens: &'t [SourceToken],
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) depth: u32,
}

impl<'t> Parser<'t> {
    /// Reads the tokens with these numbers.
    pub fn new(text: &'t str, tokens: &'t [SourceToken], range: std::ops::Range<usize>) -> Parser<'t> {
        Parser { text, tokens, at: range.start, end: range.end.min(tokens.len()), depth: 0 }
    }

    /// Whether there are no more tokens.
    pub fn is_done(&self) -> bool {
        self.at >= self.end
    }

    /// The next token but `ahead`.
    pub fn token(&self, ahead: usize) -> Option<SourceToken> {
        self.tokens.get(self.at + ahead).filter(|_| self.at + ahead < self.end).copied()
    }

    /// The text of that token; empty behind the end.
    pub fn word(&self, ahead: usize) -> &'t str {
        self.token(ahead).map_or("", |token| &self.text[token.start as usize..token.end as usize])
    }

    /// Whether the next token is a name or a keyword.
    pub fn is_name(&self, ahead: usize) -> bool {
        self.token(ahead).is_some_and(|token| token.kind == TokenKind::Name)
    }

    /// Takes the next token.
    pub fn skip(&mut self) {
        self.at += 1;
    }

    /// Takes the next token if it is this word.
    pub fn take(&mut self, word: &str) -> bool {
        let is_it = self.word(0) == word;
        self.at += usize::from(is_it);
        is_it
    }

    /// The operator that is next, as long as possible.
    pub fn operator(&self) -> &'t str {
        let Some(first) = self.token(0) else { return "" };
        if !matches!(first.kind, TokenKind::Mark(_)) {
            return "";
        }
        let rest = &self.text[first.start as usize..];
        let found = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
        let len = found.map_or((first.end - first.start) as usize, |operator| operator.len());
        &rest[..len]
    }

    /// Takes this operator, if it is next.
    pub fn take_operator(&mut self, wanted: &str) -> bool {
        let is_it = self.operator() == wanted;
        self.at += if is_it { wanted.len() } else { 0 };
        is_it
    }

    /// What is in the bracket that is next, and takes it.
    pub fn group(&mut self, bracket: u8) -> Option<Parser<'t>> {
        let TokenKind::Open(opened, close) = self.token(0)?.kind else { return None };
        if opened != bracket {
            return None;
        }
        let close = (close as usize).min(self.end);
        let inner = Parser { at: self.at + 1, end: close, ..self.clone() };
        self.at = close + 1;
        Some(inner)
    }

    /// Takes the bracket that is next, with what is in it.
    pub fn skip_group(&mut self) {
        if let Some(TokenKind::Open(bracket, _)) = self.token(0).map(|token| token.kind) {
            self.group(bracket);
        }
    }

    /// Whether a comma is among what is left, outside of brackets.
    pub fn has_comma(&self) -> bool {
        let mut rest = self.clone();
        while let Some(token) = rest.token(0) {
            match token.kind {
                TokenKind::Open(_, close) => rest.at = close as usize + 1,
                TokenKind::Mark(b',') => return true,
                _ => rest.skip(),
            }
        }
        false
    }

    /// The number of the next token.
    pub fn number(&self) -> usize {
        self.at
    }

    /// The first byte of what is next.
    pub fn here(&self) -> u32 {
        self.token(0).map_or_else(|| self.behind(), |token| token.start)
    }

    /// The byte behind what was taken last.
    pub fn behind(&self) -> u32 {
        let last = self.at.min(self.tokens.len()).checked_sub(1);
        last.map_or(0, |last| self.tokens[last].end)
    }

    /// Takes attributes.
    pub fn attributes(&mut self) {
        while self.word(0) == "#" {
            self.skip();
            self.take("!");
            if self.group(b'[').is_none() {
                return;
            }
        }
    }

    /// Takes `<...>`, if it is next.
    pub fn generics(&mut self) {
        if self.word(0) != "<" {
            return;
        }
        let mut depth = 0usize;
        while !self.is_done() {
            match self.token(0).map(|token| token.kind) {
                Some(TokenKind::Open(_, close)) => self.at = close as usize,
                Some(TokenKind::Mark(b'<')) => depth += 1,
                Some(TokenKind::Mark(b'>')) => depth -= 1,
                Some(TokenKind::Mark(b'-' | b'=')) if self.word(1) == ">" => self.at += 1,
                _ => {}
            }
            self.skip();
            if depth == 0 {
                return;
            }
        }
    }

    /// Takes a type, up to one of these words.
    pub fn type_until(&mut self, words: &[&str]) {
        while !self.is_done() && !words.contains(&self.word(0)) {
            match self.token(0).map(|token| token.kind) {
                Some(TokenKind::Open(_, close)) => self.at = close as usize + 1,
                Some(TokenKind::Mark(b'<')) => self.generics(),
                Some(TokenKind::Mark(b'-')) if self.word(1) == ">" => self.at += 2,
                _ => self.skip(),
            }
        }
    }

    /// Takes the type behind `as`.
    pub fn cast_type(&mut self) {
        while matches!(self.word(0), "&" | "*" | "mut" | "const" | "dyn" | "impl")
            || self.token(0).is_some_and(|token| token.kind == TokenKind::Lifetime)
        {
            self.skip();
        }
        if matches!(self.token(0).map(|token| token.kind), Some(TokenKind::Open(..))) {
            self.skip_group();
            return;
        }
        self.generics();
        loop {
            self.take_operator("::");
            if !self.is_name(0) {
                return;
            }
            self.skip();
            // `a as usize < b` is no generic type.
            if self.word(0) == "<" && self.is_generic_type() {
                self.generics();
            }
            if self.operator() != "::" {
                return;
            }
        }
    }

    /// Whether the type in front may have generic arguments.
    fn is_generic_type(&self) -> bool {
        let name = self.at.checked_sub(1).and_then(|last| self.tokens.get(last));
        name.is_some_and(|name| self.text.as_bytes()[name.start as usize].is_ascii_uppercase())
    }
}
