//! Writes a text without the tokens that go. Blanks stay as they are around what is exact, and close the gap around what
//! was moved.

use super::plan::{Piece, Plan};
use crate::text::{TokenPrint, Tokens};
use std::ops::Range;

pub(super) struct Writer<'a, 't> {
    tokens: &'a Tokens<'t>,
    plan: &'a Plan,
    out: Vec<u8>,
    /// Text up to here is done.
    done: usize,
    /// The next token to stay, and the next comma.
    next_token: usize,
    next_comma: usize,
    /// How much less each token is indented; empty when none is.
    dedents: Vec<usize>,
    print: TokenPrint,
}

/// The text that stays, and the fingerprint of its tokens as they should stand there.
pub(super) fn write(tokens: &Tokens<'_>, plan: &Plan, start: usize) -> (Vec<u8>, TokenPrint) {
    let out = Vec::with_capacity(tokens.text.len());
    let print = TokenPrint::new(start);
    let mut writer = Writer {
        tokens,
        plan,
        out,
        done: 0,
        next_token: 0,
        next_comma: 0,
        dedents: dedents(tokens.len(), plan),
        print,
    };
    let mut rest = plan.pieces.as_slice();
    while let Some(first) = rest.first() {
        let joined = rest.windows(2).take_while(|pair| pair[0].0.end == pair[1].0.start).count() + 1;
        let (run, behind) = rest.split_at(joined);
        writer.run(run, first.0.start..run[run.len() - 1].0.end);
        rest = behind;
    }
    writer.copy(tokens.text.len(), tokens.len());
    (writer.out, writer.print)
}

impl<'t> Writer<'_, 't> {
    /// Copies up to this byte, in front of this token.
    fn copy(&mut self, to: usize, token: usize) {
        while self.next_token < token {
            let range = self.tokens.list[self.next_token].range.clone();
            let gap = &self.tokens.text[self.done..range.start];
            self.out.extend_from_slice(self.dedented(gap, self.next_token));
            self.out.extend_from_slice(&self.tokens.text[range.clone()]);
            self.done = range.end;
            self.see(range.len());
            if self.plan.commas.get(self.next_comma) == Some(&self.next_token) {
                self.next_comma += 1;
                self.out.push(b',');
                self.see(1);
            }
            self.next_token += 1;
        }
        self.out.extend_from_slice(&self.tokens.text[self.done..to]);
        self.done = to;
    }

    fn see(&mut self, len: usize) {
        self.print.see(&(self.out.len() - len..self.out.len()));
    }

    /// The blanks between two tokens, or at the edge of the text.
    fn blanks(&self, behind: usize) -> &'t [u8] {
        let start =
            behind.checked_sub(1).map_or(self.print.start, |before| self.tokens.list[before].range.end);
        let end = self.tokens.list.get(behind).map_or(self.tokens.text.len(), |next| next.range.start);
        &self.tokens.text[start.min(end)..end]
    }

    /// Pieces with nothing but blanks between them.
    fn run(&mut self, pieces: &[(Range<usize>, Piece)], tokens: Range<usize>) {
        let is = |piece: Piece| pieces.iter().any(|(_, other)| *other == piece);
        let (before, behind) = (self.blanks(tokens.start), self.blanks(tokens.end));
        let has_own_lines =
            (starts_line(before) || tokens.start == 0) && ends_line(behind, self.at_end(tokens.end));
        let is_exact = pieces.iter().all(|(_, piece)| *piece == Piece::Exact);
        // This tool puts nothing between blanks, but for what stands at the very start of a line.
        if is_exact && (before.is_empty() || behind.is_empty() || before.ends_with(b"\n")) {
            for (range, _) in pieces {
                self.copy(self.tokens.list[range.start].range.start, range.start);
                self.done = self.tokens.list[range.end - 1].range.end;
                self.next_token = range.end;
            }
            return;
        }
        let gap = if is(Piece::Tail) {
            behind.to_vec()
        } else if is(Piece::Head) {
            before.to_vec()
        } else if has_own_lines && self.is_empty_block(&tokens) {
            Vec::new()
        } else if has_own_lines {
            self.own_lines(pieces, before, behind)
        } else if starts_line(before) {
            if self.is_note(tokens.end) && !self.tokens.is_comment(tokens.start.wrapping_sub(1)) {
                behind.to_vec()
            } else {
                before.to_vec()
            }
        } else if before.is_empty() || ends_line(behind, self.at_end(tokens.end)) {
            behind.to_vec()
        } else {
            before.to_vec()
        };
        self.close(tokens, gap);
    }

    /// Writes the last token in front of a run, the gap, and goes on behind the run.
    fn close(&mut self, tokens: Range<usize>, mut gap: Vec<u8>) {
        let kept_to =
            tokens.start.checked_sub(1).map_or(self.print.start, |at| self.tokens.list[at].range.end);
        self.copy(kept_to, tokens.start);
        let before = tokens.start.checked_sub(1).map_or(&b""[..], |at| self.tokens.bytes(at));
        let behind = self.tokens.bytes(tokens.end);
        let is_line_comment = before.starts_with(b"//") && !behind.is_empty();
        if is_line_comment && !gap.contains(&b'\n') {
            gap.insert(0, b'\n');
        }
        if gap.is_empty() && may_glue(self.out.last(), behind.first()) {
            gap.push(b' ');
        }
        self.out.extend_from_slice(self.dedented(&gap, tokens.end));
        self.next_token = tokens.end;
        self.done = self.tokens.list.get(tokens.end).map_or(self.tokens.text.len(), |next| next.range.start);
    }

    /// Blanks in front of a token, with less of them on its line.
    fn dedented<'g>(&self, gap: &'g [u8], token: usize) -> &'g [u8] {
        let step = self.dedents.get(token).copied().unwrap_or(0);
        let newline = memchr::memrchr(b'\n', gap).filter(|_| step > 0);
        newline.map_or(gap, |newline| &gap[..(newline + 1).max(gap.len().saturating_sub(step))])
    }

    /// Whether nothing is left in the braces around these tokens: rustfmt writes `{}` then.
    fn is_empty_block(&self, tokens: &Range<usize>) -> bool {
        tokens.start > 0
            && self.tokens.bytes(tokens.start - 1) == b"{"
            && self.tokens.bytes(tokens.end) == b"}"
    }

    fn at_end(&self, token: usize) -> bool {
        token >= self.tokens.len()
    }

    /// Calls on lines of their own: the lines go, blank ones between them stay.
    fn own_lines(&self, pieces: &[(Range<usize>, Piece)], before: &[u8], behind: &[u8]) -> Vec<u8> {
        let mut gap = through_last_newline(before).to_vec();
        for (range, _) in &pieces[1..] {
            gap.extend_from_slice(through_last_newline(behind_newline(self.blanks(range.start))));
        }
        gap.extend_from_slice(behind_newline(behind));
        gap
    }

    /// A comment at the end of the line: it belonged to what was on the line before the call was moved from there.
    fn is_note(&self, token: usize) -> bool {
        self.tokens.is_comment(token) && ends_line(self.blanks(token + 1), self.at_end(token + 1))
    }
}

/// By how much each token is indented less.
fn dedents(tokens: usize, plan: &Plan) -> Vec<usize> {
    if plan.dedents.is_empty() {
        return Vec::new();
    }
    // Blocks stand in each other as deep as somebody likes.
    let mut changes = vec![0_isize; tokens + 1];
    for (range, step) in &plan.dedents {
        changes[range.start] += *step as isize;
        changes[range.end] -= *step as isize;
    }
    let sum = changes.into_iter().scan(0_isize, |sum, change| {
        *sum += change;
        Some(usize::try_from(*sum).unwrap_or(0))
    });
    sum.collect()
}

fn starts_line(blanks: &[u8]) -> bool {
    blanks.contains(&b'\n')
}

fn ends_line(blanks: &[u8], at_end: bool) -> bool {
    blanks.contains(&b'\n') || at_end
}

fn through_last_newline(blanks: &[u8]) -> &[u8] {
    memchr::memrchr(b'\n', blanks).map_or(b"", |newline| &blanks[..=newline])
}

fn behind_newline(blanks: &[u8]) -> &[u8] {
    memchr::memchr(b'\n', blanks).map_or(b"", |newline| &blanks[newline + 1..])
}

/// Whether two tokens must not touch.
fn may_glue(before: Option<&u8>, behind: Option<&u8>) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let is_mark = |byte: &u8| byte.is_ascii_punctuation() && !b"()[]{},;\"_".contains(byte);
    let (Some(before), Some(behind)) = (before, behind) else { return false };
    is_word(before) && (is_word(behind) || matches!(behind, b'"' | b'\'' | b'#'))
        || is_mark(before) && is_mark(behind)
}
