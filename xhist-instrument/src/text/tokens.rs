//! The tokens of a text with their matching brackets, and whether they are arguments or rules of a macro.
//! It never fails; text that is not Rust yields arbitrary tokens.

use super::lexer::{Lexer, TokenKind};
use std::ops::Range;

/// The innermost macro syntax around a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenContext {
    Code,
    /// Arguments of a macro call.
    Arguments,
    /// Rules of a macro, where nothing is ever inserted.
    Rules,
}

pub(crate) struct Token {
    pub kind: TokenKind,
    pub range: Range<usize>,
    pub context: TokenContext,
    /// The matching bracket, if this is a bracket and has one.
    pub pair: Option<usize>,
    /// The opening bracket around it.
    pub outer: Option<usize>,
}

pub(crate) struct Tokens<'t> {
    pub text: &'t [u8],
    pub list: Vec<Token>,
    /// The text declares a module with the recorder's name.
    pub has_own_module: bool,
}

/// After these words, `!` is an operator.
const NO_MACROS: [&[u8]; 7] = [b"if", b"while", b"match", b"return", b"in", b"else", b"break"];

impl<'t> Tokens<'t> {
    pub fn new(text: &'t [u8], start: usize) -> Self {
        let mut tokens = Self { text, list: Vec::new(), has_own_module: false };
        let mut open: Vec<(usize, TokenContext)> = Vec::new();
        for (kind, range) in Lexer::new(text, start) {
            let index = tokens.list.len();
            let mut context = open.last().map_or(TokenContext::Code, |(_, context)| *context);
            let mut pair = None;
            let mut outer = open.last().map(|(index, _)| *index);
            match kind {
                TokenKind::Open(_) => open.push((index, tokens.inside(context))),
                TokenKind::Close => {
                    if let Some((other, _)) = open.pop() {
                        (context, outer) = (tokens.list[other].context, tokens.list[other].outer);
                        if fits(text[tokens.list[other].range.start], text[range.start]) {
                            tokens.list[other].pair = Some(index);
                            pair = Some(other);
                        }
                    }
                }
                _ => {}
            }
            tokens.has_own_module |= kind == TokenKind::Word
                && text[range.clone()] == *b"xhist_rt"
                && index.checked_sub(1).is_some_and(|before| tokens.bytes(before) == b"mod");
            tokens.list.push(Token { kind, range, context, pair, outer });
        }
        tokens
    }

    /// The context inside a bracket that opens after the tokens so far, in this outer context.
    fn inside(&self, context: TokenContext) -> TokenContext {
        let mut before =
            (0..self.list.len()).rev().filter(|&index| self.list[index].kind != TokenKind::Comment);
        let mut next = || before.next();
        let is = |index: Option<usize>, text: &[u8]| index.is_some_and(|index| self.bytes(index) == text);
        let (last, second, third) = (next(), next(), next());
        let is_word =
            |index: Option<usize>| index.is_some_and(|index| self.list[index].kind == TokenKind::Word);
        let is_second_of_macro = || {
            let open = last.and_then(|last| self.list[last].pair)?;
            let name = self.code_before(open)?;
            Some(is(self.code_before(name), b"macro"))
        };
        if context == TokenContext::Rules
            || is(second, b"!") && is(third, b"macro_rules")
            || is_word(last) && is(second, b"macro")
            || is_second_of_macro() == Some(true)
        {
            TokenContext::Rules
        } else if context == TokenContext::Arguments
            || is(last, b"!") && is_word(second) && !NO_MACROS.iter().any(|word| is(second, word))
        {
            TokenContext::Arguments
        } else {
            TokenContext::Code
        }
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The text of a token; empty past the end.
    pub fn bytes(&self, index: usize) -> &'t [u8] {
        self.list.get(index).map_or(b"", |token| &self.text[token.range.clone()])
    }

    /// Whether the next token follows without a gap.
    pub fn touches(&self, index: usize) -> bool {
        self.list.get(index + 1).is_some_and(|next| next.range.start == self.list[index].range.end)
    }

    /// The last token before this one that is not a comment.
    pub fn code_before(&self, index: usize) -> Option<usize> {
        (0..index).rev().find(|&index| self.list[index].kind != TokenKind::Comment)
    }

    /// The first token from this one on that is not a comment.
    pub fn code_from(&self, index: usize) -> Option<usize> {
        (index..self.len()).find(|&index| self.list[index].kind != TokenKind::Comment)
    }

    /// The matched pair of brackets around a token.
    pub fn around(&self, index: usize) -> Option<(usize, usize)> {
        let open = self.list[index].outer?;
        Some((open, self.list[open].pair?))
    }

    pub fn is_comment(&self, index: usize) -> bool {
        self.list.get(index).is_some_and(|token| token.kind == TokenKind::Comment)
    }
}

fn fits(open: u8, close: u8) -> bool {
    matches!((open, close), (b'(', b')') | (b'[', b']') | (b'{', b'}'))
}
