//! A text as tokens that know their brackets, and whether they stand in the arguments or the rules of a macro. Never fails;
//! text that is not Rust gives some tokens or other.

use super::lexer::{Kind, Lexer};
use std::ops::Range;

/// What the brackets around a token belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Code,
    /// Arguments of a macro call.
    Arguments,
    /// Rules of a macro: nothing is ever inserted there.
    Rules,
}

pub(crate) struct Token {
    pub kind: Kind,
    pub range: Range<usize>,
    pub place: Place,
    /// The other bracket; none when it is missing, and for all other tokens.
    pub pair: Option<usize>,
    /// The bracket that opens around it.
    pub outer: Option<usize>,
}

pub(crate) struct Tokens<'t> {
    pub text: &'t [u8],
    pub list: Vec<Token>,
    /// The text has a module of the recorder's name.
    pub has_own_module: bool,
}

/// `!` behind these is an operator.
const NO_MACROS: [&[u8]; 7] = [b"if", b"while", b"match", b"return", b"in", b"else", b"break"];

impl<'t> Tokens<'t> {
    pub fn new(text: &'t [u8], start: usize) -> Self {
        let mut tokens = Self { text, list: Vec::new(), has_own_module: false };
        let mut open: Vec<(usize, Place)> = Vec::new();
        for (kind, range) in Lexer::new(text, start) {
            let index = tokens.list.len();
            let mut place = open.last().map_or(Place::Code, |(_, place)| *place);
            let mut pair = None;
            let mut outer = open.last().map(|(index, _)| *index);
            match kind {
                Kind::Open(_) => open.push((index, tokens.inside(place))),
                Kind::Close => {
                    if let Some((other, _)) = open.pop() {
                        (place, outer) = (tokens.list[other].place, tokens.list[other].outer);
                        if fits(text[tokens.list[other].range.start], text[range.start]) {
                            tokens.list[other].pair = Some(index);
                            pair = Some(other);
                        }
                    }
                }
                _ => {}
            }
            tokens.has_own_module |= kind == Kind::Word
                && text[range.clone()] == *b"xhist_rt"
                && index.checked_sub(1).is_some_and(|before| tokens.bytes(before) == b"mod");
            tokens.list.push(Token { kind, range, place, pair, outer });
        }
        tokens
    }

    /// What stands in a bracket that opens behind all tokens so far, in this place.
    fn inside(&self, place: Place) -> Place {
        let mut before = (0..self.list.len()).rev().filter(|&index| self.list[index].kind != Kind::Comment);
        let mut next = || before.next();
        let is = |index: Option<usize>, text: &[u8]| index.is_some_and(|index| self.bytes(index) == text);
        let (last, second, third) = (next(), next(), next());
        let is_word = |index: Option<usize>| index.is_some_and(|index| self.list[index].kind == Kind::Word);
        let is_second_of_macro = || {
            let open = last.and_then(|last| self.list[last].pair)?;
            let name = self.code_before(open)?;
            Some(is(self.code_before(name), b"macro"))
        };
        if place == Place::Rules
            || is(second, b"!") && is(third, b"macro_rules")
            || is_word(last) && is(second, b"macro")
            || is_second_of_macro() == Some(true)
        {
            Place::Rules
        } else if place == Place::Arguments
            || is(last, b"!") && is_word(second) && !NO_MACROS.iter().any(|word| is(second, word))
        {
            Place::Arguments
        } else {
            Place::Code
        }
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The text of a token; nothing behind the last.
    pub fn bytes(&self, index: usize) -> &'t [u8] {
        self.list.get(index).map_or(b"", |token| &self.text[token.range.clone()])
    }

    /// Nothing stands between this token and the next.
    pub fn touches(&self, index: usize) -> bool {
        self.list.get(index + 1).is_some_and(|next| next.range.start == self.list[index].range.end)
    }

    /// The last token in front of this one that is no comment.
    pub fn code_before(&self, index: usize) -> Option<usize> {
        (0..index).rev().find(|&index| self.list[index].kind != Kind::Comment)
    }

    /// The first token from this one on that is no comment.
    pub fn code_from(&self, index: usize) -> Option<usize> {
        (index..self.len()).find(|&index| self.list[index].kind != Kind::Comment)
    }

    /// The brackets around a token, where both are there.
    pub fn around(&self, index: usize) -> Option<(usize, usize)> {
        let open = self.list[index].outer?;
        Some((open, self.list[open].pair?))
    }

    pub fn is_comment(&self, index: usize) -> bool {
        self.list.get(index).is_some_and(|token| token.kind == Kind::Comment)
    }
}

fn fits(open: u8, close: u8) -> bool {
    matches!((open, close), (b'(', b')') | (b'[', b']') | (b'{', b'}'))
}
