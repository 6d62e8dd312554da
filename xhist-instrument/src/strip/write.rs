//! Writes the text without the removed tokens. Around exact calls all blanks stay; around moved ones the gap closes.

use super::plan::{Removal, RemovalPlan};
use crate::text::{TokenFingerprint, Tokens};
use std::ops::Range;

pub(super) struct RemainderWriter<'a, 't> {
    tokens: &'a Tokens<'t>,
    plan: &'a RemovalPlan,
    out: Vec<u8>,
    /// Text up to here is written.
    done: usize,
    /// The next token to keep, and the next comma to add.
    next_token: usize,
    next_comma: usize,
    /// Indentation that each token loses; empty if no token loses any.
    dedents: Vec<usize>,
    fingerprint: TokenFingerprint,
}

/// The remaining text, and the expected fingerprint of its tokens.
pub(super) fn write(tokens: &Tokens<'_>, plan: &RemovalPlan, start: usize) -> (Vec<u8>, TokenFingerprint) {
    let out = Vec::with_capacity(tokens.text.len());
    let fingerprint = TokenFingerprint::new(start);
    let mut writer = RemainderWriter {
        tokens,
        plan,
        out,
        done: 0,
        next_token: 0,
        next_comma: 0,
        dedents: dedents(tokens.len(), plan),
        fingerprint,
    };
    let mut rest = plan.removals.as_slice();
    while let Some(first) = rest.first() {
        let joined = rest.windows(2).take_while(|pair| pair[0].0.end == pair[1].0.start).count() + 1;
        let (run, after) = rest.split_at(joined);
        writer.run(run, first.0.start..run[run.len() - 1].0.end);
        rest = after;
    }
    writer.copy(tokens.text.len(), tokens.len());
    (writer.out, writer.fingerprint)
}

impl<'t> RemainderWriter<'_, 't> {
    /// Copies the text up to this byte, which precedes this token.
    fn copy(&mut self, to: usize, token: usize) {
        while self.next_token < token {
            let range = self.tokens.list[self.next_token].range.clone();
            let gap = &self.tokens.text[self.done..range.start];
            self.out.extend_from_slice(self.dedented(gap, self.next_token));
            self.out.extend_from_slice(&self.tokens.text[range.clone()]);
            self.done = range.end;
            self.add_token(range.len());
            if self.plan.commas.get(self.next_comma) == Some(&self.next_token) {
                self.next_comma += 1;
                self.out.push(b',');
                self.add_token(1);
            }
            self.next_token += 1;
        }
        self.out.extend_from_slice(&self.tokens.text[self.done..to]);
        self.done = to;
    }

    fn add_token(&mut self, len: usize) {
        self.fingerprint.add(&(self.out.len() - len..self.out.len()));
    }

    /// The blanks before a token, or at the edge of the text.
    fn blanks(&self, token: usize) -> &'t [u8] {
        let start =
            token.checked_sub(1).map_or(self.fingerprint.start, |before| self.tokens.list[before].range.end);
        let end = self.tokens.list.get(token).map_or(self.tokens.text.len(), |next| next.range.start);
        &self.tokens.text[start.min(end)..end]
    }

    /// Removes adjacent tokens, which have only blanks between them.
    fn run(&mut self, removals: &[(Range<usize>, Removal)], tokens: Range<usize>) {
        let (before, after) = (self.blanks(tokens.start), self.blanks(tokens.end));
        let is_exact = removals.iter().all(|(_, removal)| *removal == Removal::Exact);
        // This tool inserts exact calls next to code or at the start of a line, never between blanks.
        let is_beside = before.is_empty() && tokens.start > 0 || before.ends_with(b"\n") || after.is_empty();
        if is_exact && is_beside {
            for (range, _) in removals {
                self.copy(self.tokens.list[range.start].range.start, range.start);
                self.done = self.tokens.list[range.end - 1].range.end;
                self.next_token = range.end;
            }
            return;
        }
        let gap = self.gap(removals, &tokens, before, after);
        self.close(tokens, gap);
    }

    /// The blanks in place of removed tokens, made of the blanks before and after them.
    fn gap(
        &self,
        removals: &[(Range<usize>, Removal)],
        tokens: &Range<usize>,
        before: &[u8],
        after: &[u8],
    ) -> Vec<u8> {
        let is = |removal: Removal| removals.iter().any(|(_, other)| *other == removal);
        let has_own_lines =
            (starts_line(before) || tokens.start == 0) && ends_line(after, self.at_end(tokens.end));
        if is(Removal::Tail) {
            after.to_vec()
        } else if is(Removal::Head) {
            before.to_vec()
        } else if has_own_lines && self.is_empty_block(tokens) {
            Vec::new()
        } else if has_own_lines {
            self.own_lines(removals, before, after)
        } else if starts_line(before) {
            if self.is_note(tokens.end) && !self.tokens.is_comment(tokens.start.wrapping_sub(1)) {
                after.to_vec()
            } else {
                before.to_vec()
            }
        } else if before.is_empty() || ends_line(after, self.at_end(tokens.end)) {
            after.to_vec()
        } else {
            before.to_vec()
        }
    }

    /// Writes the gap in place of removed tokens, and continues after them.
    fn close(&mut self, tokens: Range<usize>, mut gap: Vec<u8>) {
        let kept_to =
            tokens.start.checked_sub(1).map_or(self.fingerprint.start, |at| self.tokens.list[at].range.end);
        self.copy(kept_to, tokens.start);
        let before = tokens.start.checked_sub(1).map_or(&b""[..], |at| self.tokens.bytes(at));
        let after = self.tokens.bytes(tokens.end);
        let is_line_comment = before.starts_with(b"//") && !after.is_empty();
        if is_line_comment && !gap.contains(&b'\n') {
            gap.insert(0, b'\n');
        }
        if gap.is_empty() && may_glue(self.out.last(), after.first()) {
            gap.push(b' ');
        }
        self.out.extend_from_slice(self.dedented(&gap, tokens.end));
        self.next_token = tokens.end;
        self.done = self.tokens.list.get(tokens.end).map_or(self.tokens.text.len(), |next| next.range.start);
    }

    /// The blanks before a token, with the indentation reduced.
    fn dedented<'g>(&self, gap: &'g [u8], token: usize) -> &'g [u8] {
        let step = self.dedents.get(token).copied().unwrap_or(0);
        let newline = memchr::memrchr(b'\n', gap).filter(|_| step > 0);
        newline.map_or(gap, |newline| &gap[..(newline + 1).max(gap.len().saturating_sub(step))])
    }

    /// Whether the braces around these tokens become empty: rustfmt then writes `{}`.
    fn is_empty_block(&self, tokens: &Range<usize>) -> bool {
        tokens.start > 0
            && self.tokens.bytes(tokens.start - 1) == b"{"
            && self.tokens.bytes(tokens.end) == b"}"
    }

    fn at_end(&self, token: usize) -> bool {
        token >= self.tokens.len()
    }

    /// The gap for calls on their own lines: these lines are removed, empty lines between them stay.
    fn own_lines(&self, removals: &[(Range<usize>, Removal)], before: &[u8], after: &[u8]) -> Vec<u8> {
        let mut gap = through_last_newline(before).to_vec();
        for (range, _) in &removals[1..] {
            gap.extend_from_slice(through_last_newline(after_newline(self.blanks(range.start))));
        }
        gap.extend_from_slice(after_newline(after));
        gap
    }

    /// Whether a comment ends the line: it belonged to the line before the call was moved.
    fn is_note(&self, token: usize) -> bool {
        self.tokens.is_comment(token) && ends_line(self.blanks(token + 1), self.at_end(token + 1))
    }
}

/// Indentation that each token loses.
fn dedents(tokens: usize, plan: &RemovalPlan) -> Vec<usize> {
    if plan.dedents.is_empty() {
        return Vec::new();
    }
    // A difference array: blocks may be nested to any depth.
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

fn after_newline(blanks: &[u8]) -> &[u8] {
    memchr::memchr(b'\n', blanks).map_or(b"", |newline| &blanks[newline + 1..])
}

/// Whether two tokens would become one if they touched.
fn may_glue(before: Option<&u8>, after: Option<&u8>) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let is_mark = |byte: &u8| byte.is_ascii_punctuation() && !b"()[]{},;\"_".contains(byte);
    let (Some(before), Some(after)) = (before, after) else { return false };
    is_word(before) && (is_word(after) || matches!(after, b'"' | b'\'' | b'#'))
        || is_mark(before) && is_mark(after)
}
