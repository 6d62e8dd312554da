//! Plans the removal: the tokens of the calls, of their attributes, and of the blocks around wrapped expressions.

use super::calls::{self, CallName, InsertedCall, Recognition, attribute};
use crate::refusal::Obstacle;
use crate::syntax;
use crate::text::{TokenContext, TokenKind, Tokens};
use qs_core::inserted::{CallForm, MARK};
use std::cell::Cell;
use std::ops::Range;

/// How tokens are removed, which decides about the blanks around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removal {
    /// Spelled as this tool writes it: every other byte stays.
    Exact,
    /// A call that an editor or rustfmt moved.
    Moved,
    /// The head of a moved block around an expression.
    Head,
    /// The tail of such a block.
    Tail,
}

#[derive(Default)]
pub(super) struct RemovalPlan {
    pub calls: Vec<InsertedCall>,
    /// Sorted and disjoint.
    pub removals: Vec<(Range<usize>, Removal)>,
    /// Tokens that need a comma after them: rustfmt drops it from arms that are blocks.
    pub commas: Vec<usize>,
    /// Tokens whose lines lose this much indentation.
    pub dedents: Vec<(Range<usize>, usize)>,
}

/// A call that cannot be removed: the index of its token, and the obstacle.
pub(super) type Stuck = (usize, Obstacle);

/// Plans the removal of all calls of a text.
pub(super) fn plan(tokens: &Tokens<'_>) -> Result<RemovalPlan, Stuck> {
    let mut calls = Vec::new();
    for at in 0..tokens.len() {
        let word = tokens.bytes(at);
        let is_name = word == b"xhist_rt" || calls::ITEMS.iter().any(|(name, _)| word == name.as_bytes());
        if tokens.list[at].kind != TokenKind::Word || !is_name {
            continue;
        }
        match calls::recognise(tokens, at) {
            Recognition::Call(call) => calls.push(call),
            Recognition::Altered(why) => return Err((at, why)),
            Recognition::NotACall => {}
        }
    }
    let mut planner = RemovalPlanner {
        tokens,
        plan: RemovalPlan::default(),
        budget: Cell::new(BUDGET + tokens.text.len()),
    };
    let mut next = 0;
    while next < calls.len() {
        planner.remove_jump_semicolon(&calls, next);
        next += planner.remove_first(&calls[next..])?;
    }
    let mut plan = planner.plan;
    plan.calls = calls;
    plan.removals.sort_by_key(|(range, _)| range.start);
    plan.commas = plan.commas.iter().filter_map(|&at| plan.last_kept(tokens, at)).collect();
    plan.commas.sort_unstable();
    match plan.lone_mark(tokens) {
        Some(at) if !plan.calls.is_empty() => Err((at, Obstacle::LoneMark)),
        _ => Ok(plan),
    }
}

impl RemovalPlan {
    /// The last token up to this one that stays and is not a comment.
    fn last_kept(&self, tokens: &Tokens<'_>, at: usize) -> Option<usize> {
        let is_removed = |at: usize| {
            let index = self.removals.partition_point(|(range, _)| range.end <= at);
            self.removals.get(index).is_some_and(|(range, _)| range.contains(&at))
        };
        (0..=at).rev().find(|&at| !is_removed(at) && !tokens.is_comment(at))
    }

    /// A mark without a call.
    pub fn lone_mark(&self, tokens: &Tokens<'_>) -> Option<usize> {
        let mut removals = self.removals.iter().peekable();
        (0..tokens.len()).find(|&at| {
            while removals.next_if(|(range, _)| range.end <= at).is_some() {}
            let is_removed = removals.peek().is_some_and(|(range, _)| range.contains(&at));
            !is_removed
                && tokens.bytes(at) == MARK.as_bytes()
                && tokens.list[at].context != TokenContext::Rules
        })
    }
}

struct RemovalPlanner<'a, 't> {
    tokens: &'a Tokens<'t>,
    plan: RemovalPlan,
    /// Bytes that may still be parsed, to bound the time for deeply nested blocks.
    budget: Cell<usize>,
}

/// Bytes that may be parsed in addition to the length of the text.
const BUDGET: usize = 1 << 24;

/// A block around a wrapped expression.
struct WrappedBlock<'c> {
    open: usize,
    close: usize,
    /// The calls at its start.
    head: &'c [InsertedCall],
    /// The tokens after these calls, marks included.
    content: Range<usize>,
    parens: bool,
}

impl RemovalPlanner<'_, '_> {
    /// Plans the removal of the first call and of the calls that belong to it; returns their number.
    fn remove_first(&mut self, calls: &[InsertedCall]) -> Result<usize, Stuck> {
        let is_before = |call: &&InsertedCall| matches!(call.name, CallName::StartAt | CallName::Resume);
        let starts = calls.iter().take_while(is_before).count();
        let joined = |count: usize| calls[..count].windows(2).all(|pair| pair[0].last + 1 == pair[1].first);
        match calls.get(starts) {
            Some(InsertedCall {
                name: CallName::Recording(form @ (CallForm::Block | CallForm::Parens)),
                ..
            }) if joined(starts + 1) => {
                let is_more = |call: &&InsertedCall| !matches!(call.name, CallName::Recording(form) if form != CallForm::Plain);
                let stops = calls[starts + 1..].iter().take_while(is_more);
                let stops = stops.zip(&calls[starts..]).take_while(|(b, a)| a.last + 1 == b.first).count();
                let head = &calls[..starts + 1 + stops];
                self.block(head, *form == CallForm::Parens)?;
                Ok(head.len())
            }
            _ => self.call(&calls[0]).map(|()| 1),
        }
    }

    /// Plans the removal of a call with the attributes that it repeats.
    fn call(&mut self, call: &InsertedCall) -> Result<(), Stuck> {
        let tokens = self.tokens;
        let mut first = call.first;
        let mut exact = call.exact;
        while let Some(hash) = first.checked_sub(1).and_then(|end| attribute(tokens, end)) {
            // An exact call has one blank after each attribute.
            let end = tokens.list[first - 1].range.end;
            exact &= tokens.text[end..tokens.list[first].range.start] == *b" ";
            first = hash;
        }
        let mark = first.checked_sub(1).filter(|mark| self.is_mark(*mark));
        let has_attributes = first < call.first;
        let removal = |exact| if exact { Removal::Exact } else { Removal::Moved };
        match (mark, call.name) {
            (Some(mark), _) if has_attributes && self.are_carried(first, call.first) => {
                let exact = exact && tokens.touches(mark) && tokens.bytes(mark) == MARK.as_bytes();
                self.plan.removals.push((mark..call.last + 1, removal(exact)));
            }
            (Some(mark), CallName::Recording(CallForm::Carried)) if !has_attributes => {
                self.plan.removals.push((mark..call.last + 1, Removal::Moved));
            }
            (_, CallName::Recording(CallForm::Carried)) if has_attributes => {
                return Err((call.first, Obstacle::NoMark));
            }
            // Other attributes are the user's, and belong to the next statement.
            _ => self.plan.removals.push((call.first..call.last + 1, removal(call.exact))),
        }
        Ok(())
    }

    /// Whether a token is `/*xh*/`, in any spelling that rustfmt may give it.
    fn is_mark(&self, at: usize) -> bool {
        let bytes = self.tokens.bytes(at);
        self.tokens.is_comment(at) && matches!(bytes, b"/*xh*/" | b"/* xh */" | b"// xh" | b"//xh")
    }

    /// Whether all attributes between these tokens are of the kinds that a call repeats.
    fn are_carried(&self, first: usize, end: usize) -> bool {
        let mut at = first;
        while at < end {
            if !matches!(self.tokens.bytes(at + 2), b"cfg" | b"cfg_attr" | b"allow") {
                return false;
            }
            at = self.tokens.list[at + 1].pair.map_or(end, |close| close + 1);
        }
        true
    }

    /// Plans the removal of the calls at the head of a block, and of the block if it still holds only an expression.
    fn block(&mut self, head: &[InsertedCall], parens: bool) -> Result<(), Stuck> {
        let tokens = self.tokens;
        let (first, last) = (head[0].first, head[head.len() - 1].last);
        let open = tokens.code_before(first).filter(|open| tokens.bytes(*open) == b"{");
        let pair = open.and_then(|open| Some((open, tokens.list[open].pair?)));
        if let Some((open, close)) = pair {
            let block = WrappedBlock { open, close, head, content: last + 1..close, parens };
            if let Some((content, inner)) = self.expression(&block) {
                self.unwrap(&block, content, inner);
                return Ok(());
            }
        }
        // The user added code to the block: only the calls and the mark are removed.
        let around = self.braces_around(first).ok_or((first, Obstacle::NoBlock))?;
        for call in head {
            self.plan
                .removals
                .push((call.first..call.last + 1, if call.exact { Removal::Exact } else { Removal::Moved }));
        }
        self.remove_own_mark(around);
        Ok(())
    }

    /// The braces around a token.
    fn braces_around(&self, at: usize) -> Option<Range<usize>> {
        let (open, close) = self.tokens.around(at).filter(|(open, _)| self.tokens.bytes(*open) == b"{")?;
        Some(open..close)
    }

    /// Plans the removal of the mark at the end of a block that stays. The mark is in the block or in its
    /// parentheses.
    fn remove_own_mark(&mut self, block: Range<usize>) {
        let mut at = block.start + 1;
        while at < block.end {
            let is_carried = self.tokens.bytes(at + 1) == b"#";
            if self.is_mark(at) && !is_carried {
                self.plan.removals.push((at..at + 1, Removal::Moved));
            }
            let is_paren = self.tokens.bytes(at) == b"(";
            at = self.tokens.list[at].pair.filter(|&close| close > at && !is_paren).unwrap_or(at) + 1;
        }
    }

    /// The content of a block without its tail, and the last token of the expression. `None` if the content is not a
    /// single expression.
    fn expression(&self, block: &WrappedBlock<'_>) -> Option<(Range<usize>, usize)> {
        let tokens = self.tokens;
        if !self.is_wrapping_position(block) {
            return None;
        }
        let mut content = block.content.clone();
        if block.parens {
            let open = tokens.code_from(content.start).filter(|open| tokens.bytes(*open) == b"(")?;
            let close = tokens.list[open].pair?;
            if tokens.code_from(close + 1) != Some(block.close) {
                return None;
            }
            content = open + 1..close;
        }
        let last = tokens.code_before(content.end).filter(|last| content.contains(last))?;
        let first = tokens.code_from(content.start)?;
        // rustfmt adds a semicolon to a jump at the end of a block.
        let is_jump = matches!(tokens.bytes(first), b"return" | b"break" | b"continue");
        let end = if is_jump && tokens.bytes(last) == b";" { tokens.code_before(last)? } else { last };
        let is_single = block.parens || self.is_single(first..end + 1, block);
        is_single.then_some((content, end))
    }

    /// Whether an expression in this position would have been wrapped in braces.
    fn is_wrapping_position(&self, block: &WrappedBlock<'_>) -> bool {
        let tokens = self.tokens;
        let Some(before) = tokens.code_before(block.open) else { return false };
        match tokens.bytes(before) {
            b"else" | b"|" => true,
            b">" => before > 0 && tokens.bytes(before - 1) == b"=",
            b"unsafe" | b"async" | b"move" | b"const" | b"loop" | b"try" | b"static" => false,
            _ => tokens.list[block.open].context == TokenContext::Arguments,
        }
    }

    /// Whether these tokens are one expression, even when parsed as a statement.
    fn is_single(&self, range: Range<usize>, block: &WrappedBlock<'_>) -> bool {
        let tokens = self.tokens;
        let mut at = range.start;
        let mut is_sure = true;
        while at < range.end {
            if tokens.bytes(at) == b";" {
                return false;
            }
            at = tokens.list[at].pair.filter(|&close| close > at).unwrap_or(at) + 1;
            let next = tokens.code_from(at).filter(|next| *next < range.end);
            // After a block, another statement may start.
            is_sure &= tokens.bytes(at - 1) != b"}"
                || next
                    .is_none_or(|next| matches!(tokens.bytes(next), b"else" | b"." | b"?" | b"as" | b"in"));
        }
        if is_sure {
            return true;
        }
        let bytes = tokens.list[range.start].range.start..tokens.list[range.end - 1].range.end;
        // Keeping the braces is harmless.
        let Some(left) = self.budget.get().checked_sub(bytes.len()) else { return false };
        self.budget.set(left);
        let text = str::from_utf8(&tokens.text[bytes]).ok();
        match text.and_then(syntax::is_single_expression) {
            Some(is_single) => is_single,
            // The parser rejects it. If its calls are spelled exactly, the block is an inserted one.
            None => block.head.iter().all(|call| call.exact),
        }
    }

    /// Removes the block around its content.
    fn unwrap(&mut self, block: &WrappedBlock<'_>, content: Range<usize>, end: usize) {
        let tokens = self.tokens;
        let brace = block.head[block.head.len() - 1].last;
        let head_end = if block.parens { content.start } else { brace + 1 };
        let tail = self.tail(&content, end, block.close);
        let head_exact = block.head.iter().all(|call| call.exact)
            && (block.open..head_end - 1).all(|at| tokens.touches(at));
        let mark = tail.first().copied().unwrap_or(block.close);
        let tail_exact = tokens.bytes(mark) == MARK.as_bytes()
            && (mark..block.close).all(|at| tokens.touches(at))
            && block.close - mark == 1 + usize::from(block.parens);
        if head_exact && tail_exact {
            self.plan.removals.push((block.open..head_end, Removal::Exact));
            self.plan.removals.push((mark..block.close + 1, Removal::Exact));
            return;
        }
        let head = (block.open..head_end).filter(|&at| !tokens.is_comment(at));
        self.plan.removals.extend(head.map(|at| (at..at + 1, Removal::Head)));
        self.plan.removals.extend(tail.into_iter().map(|at| (at..at + 1, Removal::Tail)));
        if self.needs_comma(block, end) {
            self.plan.commas.push(end);
        }
        if let Some(step) = self.extra_indentation(block.head[0].first, block.close) {
            self.plan.dedents.push((content, step));
        }
    }

    /// `else { return 1 }`: rustfmt puts a call and its jump on lines of their own and adds a semicolon. If the
    /// numbers of the neighbouring calls say that it was one line, the semicolon is removed.
    fn remove_jump_semicolon(&mut self, calls: &[InsertedCall], index: usize) {
        let tokens = self.tokens;
        let call = &calls[index];
        let Some(open) = tokens.code_before(call.first).filter(|open| tokens.bytes(*open) == b"{") else {
            return;
        };
        let Some(close) = tokens.list[open].pair else { return };
        let (jump, semicolon) = (call.last + 1, close - 1);
        let is_jump = matches!(tokens.bytes(jump), b"return" | b"break" | b"continue");
        let is_beside = || {
            let before = index.checked_sub(1).map(|index| &calls[index]);
            let after = calls[index..].iter().find(|other| other.first > close);
            [before, after].iter().flatten().any(|other| other.statement == call.statement)
        };
        if call.name == CallName::Recording(CallForm::Plain)
            && is_jump
            && is_beside()
            && tokens.bytes(semicolon) == b";"
            && self.is_spelled_by_rustfmt(call)
            && self.extra_indentation(call.first, close).is_some()
        {
            self.plan.removals.push((semicolon..close, Removal::Moved));
        }
    }

    /// Tokens to remove after the last one of the expression: rustfmt's semicolon, marks, parentheses and braces.
    fn tail(&self, content: &Range<usize>, end: usize, close: usize) -> Vec<usize> {
        let marks: Vec<usize> = (end + 1..=close).filter(|&at| self.is_mark(at)).collect();
        let mark = marks.last().copied();
        (end + 1..=close)
            .filter(|&at| {
                Some(at) == mark
                    || at >= content.end && !self.tokens.is_comment(at)
                    || self.tokens.bytes(at) == b";"
            })
            .collect()
    }

    /// Whether the unwrapped arm needs a comma.
    fn needs_comma(&self, block: &WrappedBlock<'_>, end: usize) -> bool {
        let tokens = self.tokens;
        let is_arm = tokens.code_before(block.open).is_some_and(|before| tokens.bytes(before) == b">");
        let next = tokens.code_from(block.close + 1);
        let next = next.map_or(&b""[..], |next| tokens.bytes(next));
        if !is_arm || next == b"," {
            return false;
        }
        let in_code = tokens.list[block.open].context == TokenContext::Code;
        let is_last = matches!(next, b"}" | b")" | b"]" | b"");
        let is_block = tokens.list[end].pair.is_some_and(|open| {
            let before = tokens.code_before(open);
            tokens.bytes(open) == b"{"
                && match before.map_or(&b""[..], |before| tokens.bytes(before)) {
                    b":" | b";" => true,
                    // `#[attribute] {`, and not `match array[..] {`.
                    b"]" => before
                        .and_then(|close| tokens.code_before(tokens.list[close].pair?))
                        .is_some_and(|before| tokens.bytes(before) == b"#"),
                    _ => false,
                }
        });
        match self.is_spelled_by_rustfmt(&block.head[0])
            && self.extra_indentation(block.head[0].first, block.close).is_some()
        {
            true => !is_block && (in_code || !is_last),
            false => !is_last && tokens.bytes(end) != b"}",
        }
    }

    /// Whether a call is on lines of its own, with blanks only where rustfmt puts them.
    fn is_spelled_by_rustfmt(&self, call: &InsertedCall) -> bool {
        let tokens = self.tokens;
        let mut gaps = (call.first..call.last).filter(|&at| !tokens.touches(at));
        let touches_before = call.first.checked_sub(1).is_some_and(|before| tokens.touches(before));
        !touches_before
            && !tokens.touches(call.last)
            && gaps.all(|at| matches!(tokens.bytes(at), b"," | b"(" | b"<"))
    }

    /// The extra indentation of a call against the closing brace of its block, if both start their lines.
    fn extra_indentation(&self, call: usize, close: usize) -> Option<usize> {
        let tokens = self.tokens;
        let indent = |at: usize| {
            let start = tokens.list[at].range.start;
            let line = memchr::memrchr(b'\n', &tokens.text[..start]).map_or(0, |newline| newline + 1);
            let blank = &tokens.text[line..start];
            blank.iter().all(|byte| matches!(byte, b' ' | b'\t')).then_some(blank.len())
        };
        indent(call)?.checked_sub(indent(close)?).filter(|step| *step > 0)
    }
}
