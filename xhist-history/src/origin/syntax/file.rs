//! The functions of a source file. A body is read when it is asked for.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::parser::Parser;
use super::patterns::pattern;
use super::tree::{NamedPattern, SourceFunction, SourceParameter};
use crate::program::tokens::{SourceToken, TokenKind, tokens};

/// The text of a file, and where its functions are.
#[derive(Debug)]
pub struct SyntaxFile {
    text: String,
    tokens: Vec<SourceToken>,
    /// The first byte of each line.
    lines: Vec<u32>,
    places: Vec<FunctionPlace>,
    read: HashMap<usize, Option<Rc<SourceFunction>>>,
}

/// Where a function is, in tokens: its name, its parameters in brackets, its body in braces.
#[derive(Clone, Debug)]
struct FunctionPlace {
    name: usize,
    parameters: Range<usize>,
    body: Range<usize>,
}

impl SyntaxFile {
    /// Finds the functions of a text. Any text is fine.
    pub fn new(text: &str) -> SyntaxFile {
        let tokens = tokens(text);
        let places = (0..tokens.len()).filter_map(|at| function_place(text, &tokens, at)).collect();
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect();
        SyntaxFile { text: text.to_owned(), tokens, lines, places, read: HashMap::new() }
    }

    /// The text of a part.
    pub fn text(&self, range: &Range<u32>) -> &str {
        self.text.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    /// The byte of a line and a column, both from 1; the first one of the line that is no space, if there is no column.
    pub fn offset(&self, line: u32, col: u32) -> Option<u32> {
        let start = *self.lines.get((line as usize).checked_sub(1)?)?;
        let rest = self.text.get(start as usize..)?.split('\n').next()?;
        let at = match (col as usize).checked_sub(1) {
            Some(col) => rest.char_indices().nth(col)?.0,
            None => rest.len() - rest.trim_start().len(),
        };
        Some(start + at as u32)
    }

    /// The line of a byte, from 1.
    pub fn line(&self, offset: u32) -> u32 {
        self.lines.partition_point(|start| *start <= offset) as u32
    }

    /// The innermost function whose body has this byte.
    pub fn function(&mut self, offset: u32) -> Option<Rc<SourceFunction>> {
        let has_it = |place: &FunctionPlace| {
            let start = self.tokens[place.body.start].start;
            let end = self.tokens.get(place.body.end).map_or(self.text.len() as u32, |token| token.end);
            (start..end).contains(&offset)
        };
        let found = self.places.iter().rposition(has_it)?;
        if let Some(read) = self.read.get(&found) {
            return read.clone();
        }
        let read = self.read_function(&self.places[found].clone()).map(Rc::new);
        self.read.insert(found, read.clone());
        read
    }

    fn read_function(&self, place: &FunctionPlace) -> Option<SourceFunction> {
        let mut inner = Parser::new(&self.text, &self.tokens, place.parameters.clone());
        let mut parameters = Vec::new();
        while !inner.is_done() {
            parameters.push(parameter(&mut inner)?);
            inner.take(",");
        }
        let end = (place.body.end + 1).min(self.tokens.len());
        let body = Parser::new(&self.text, &self.tokens, place.body.start..end).block()?;
        let name = &self.tokens[place.name];
        let name = self.text(&(name.start..name.end)).to_owned();
        let result = self.tokens.get(place.parameters.end + 1..place.body.start).unwrap_or_default();
        let may_lend = |token: &SourceToken| {
            token.kind == TokenKind::Lifetime || self.text(&(token.start..token.end)) == "mut"
        };
        let lends = result.iter().any(may_lend);
        Some(SourceFunction { name, parameters, lends, body })
    }
}

/// The function whose `fn` is at this token.
fn function_place(text: &str, tokens: &[SourceToken], at: usize) -> Option<FunctionPlace> {
    let word = |token: &SourceToken| &text[token.start as usize..token.end as usize];
    let name = at + 1;
    let is_function = word(tokens.get(at)?) == "fn" && tokens.get(name)?.kind == TokenKind::Name;
    is_function.then_some(())?;
    let mut parser = Parser::new(text, tokens, name + 1..tokens.len());
    parser.generics();
    let open = parser.number();
    let TokenKind::Open(b'(', close) = tokens.get(open)?.kind else { return None };
    let parameters = open + 1..close as usize;
    let mut next = close as usize + 1;
    loop {
        let token = tokens.get(next)?;
        match token.kind {
            TokenKind::Open(b'{', close) => {
                return Some(FunctionPlace { name, parameters, body: next..close as usize });
            }
            TokenKind::Open(_, close) => next = close as usize + 1,
            TokenKind::Close => return None,
            _ if word(token) == ";" => return None,
            _ => next += 1,
        }
    }
}

/// `&mut self`, `mut a: &mut T`.
fn parameter(parser: &mut Parser<'_>) -> Option<SourceParameter> {
    parser.attributes();
    let is_reference = parser.word(0) == "&";
    let mut ahead = usize::from(is_reference);
    let is_lifetime = |kind| kind == TokenKind::Lifetime;
    ahead += usize::from(is_reference && parser.token(ahead).is_some_and(|token| is_lifetime(token.kind)));
    let is_mut = parser.word(ahead) == "mut";
    if parser.word(ahead + usize::from(is_mut)) == "self" {
        (0..ahead).for_each(|_| parser.skip());
        let pattern: NamedPattern = pattern(parser, &[",", ":"])?;
        if parser.take(":") {
            let is_mut_reference = begins_mut_reference(parser);
            parser.type_until(&[","]);
            return Some(SourceParameter { pattern, is_mut_reference });
        }
        return Some(SourceParameter { pattern, is_mut_reference: is_reference && is_mut });
    }
    let pattern = pattern(parser, &[":"])?;
    parser.take(":").then_some(())?;
    let is_mut_reference = begins_mut_reference(parser);
    parser.type_until(&[","]);
    Some(SourceParameter { pattern, is_mut_reference })
}

/// Whether a type begins with `&mut`, or may have such a reference in it.
fn begins_mut_reference(parser: &Parser<'_>) -> bool {
    let mut rest = parser.clone();
    while matches!(rest.word(0), "&") || rest.token(0).is_some_and(|next| next.kind == TokenKind::Lifetime) {
        rest.skip();
    }
    rest.word(0) == "mut"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_with_their_parameters() {
        let text = "impl<'a> A<'a> {
    fn f<T: Fn() -> u32>(&'a mut self, (b, mut c): (u8, u8), d: &mut T) -> [u8; { 1 }]
    where T: X {
        fn g() {}
        b
    }
    fn h(&self);
}
";
        let mut file = SyntaxFile::new(text);
        let at = text.find("b\n").unwrap() as u32;
        let function = file.function(at).unwrap();
        assert_eq!((&*function.name, function.parameters.len(), function.lends), ("f", 3, false));
        let muts: Vec<bool> =
            function.parameters.iter().map(|parameter| parameter.is_mut_reference).collect();
        assert_eq!(muts, [true, false, true]);
        let second = &function.parameters[1].pattern.names;
        assert_eq!(second[1].fields.as_deref(), Some(&["1".to_owned()][..]));
        assert!(second[1].is_mut && !second[0].is_mut);
        assert_eq!(file.offset(5, 9), Some(at));
        assert_eq!(file.function(text.find("{}").unwrap() as u32).unwrap().name, "g");
        assert!(file.function(0).is_none() && file.offset(99, 1).is_none());
    }
}
