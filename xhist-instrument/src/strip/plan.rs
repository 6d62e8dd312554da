//! Which tokens go: the calls, the attributes that were carried to them, and the blocks around expressions.

use super::calls::{self, Call, Name, Seen, attribute};
use crate::shape::{Form, MARK};
use crate::syntax;
use crate::text::{Kind, Place, Tokens};
use std::cell::Cell;
use std::ops::Range;

/// Tokens that go together, and what becomes of the blanks around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Written as this tool writes it: all else stays, byte for byte.
    Exact,
    /// A call that somebody has moved.
    Call,
    /// The head of a moved block around an expression.
    Head,
    /// The tail of one.
    Tail,
}

#[derive(Default)]
pub(super) struct Plan {
    pub calls: Vec<Call>,
    /// In the order of the text, never overlapping.
    pub pieces: Vec<(Range<usize>, Piece)>,
    /// Tokens that get a comma behind them: rustfmt takes it from arms that are blocks.
    pub commas: Vec<usize>,
    /// Tokens whose lines are indented by so much less.
    pub dedents: Vec<(Range<usize>, usize)>,
}

/// What is left of ours and cannot be taken out: the token it stands at, and why.
pub(super) type Left = (usize, &'static str);

pub(super) const LONE_MARK: &str = "a mark of ours without its call";
const NO_MARK: &str = "its attributes may be yours: the mark in front of them is gone";
const NO_BLOCK: &str = "the block that was put around an expression with it is gone";

/// Plans for all calls of a text.
pub(super) fn plan(tokens: &Tokens<'_>) -> Result<Plan, Left> {
    let mut calls = Vec::new();
    for at in 0..tokens.len() {
        if tokens.list[at].kind != Kind::Word || tokens.bytes(at) != b"xhist_rt" {
            continue;
        }
        match calls::look(tokens, at) {
            Seen::Ours(call) => calls.push(call),
            Seen::Looks(why) => return Err((at, why)),
            Seen::Other => {}
        }
    }
    let mut planner =
        Planner { tokens, plan: Plan::default(), budget: Cell::new(BUDGET + tokens.text.len()) };
    let mut next = 0;
    while next < calls.len() {
        planner.one_line(&calls, next);
        next += planner.take(&calls[next..])?;
    }
    let mut plan = planner.plan;
    plan.calls = calls;
    plan.pieces.sort_by_key(|(range, _)| range.start);
    plan.commas = plan.commas.iter().filter_map(|&at| plan.kept_to(tokens, at)).collect();
    plan.commas.sort_unstable();
    match plan.lone_mark(tokens) {
        Some(at) if !plan.calls.is_empty() => Err((at, LONE_MARK)),
        _ => Ok(plan),
    }
}

impl Plan {
    /// The last token up to this one that stays and is no comment.
    fn kept_to(&self, tokens: &Tokens<'_>, at: usize) -> Option<usize> {
        let goes = |at: usize| {
            let index = self.pieces.partition_point(|(range, _)| range.end <= at);
            self.pieces.get(index).is_some_and(|(range, _)| range.contains(&at))
        };
        (0..=at).rev().find(|&at| !goes(at) && !tokens.is_comment(at))
    }

    /// A mark that belongs to nothing.
    pub fn lone_mark(&self, tokens: &Tokens<'_>) -> Option<usize> {
        let mut pieces = self.pieces.iter().peekable();
        (0..tokens.len()).find(|&at| {
            while pieces.next_if(|(range, _)| range.end <= at).is_some() {}
            let goes = pieces.peek().is_some_and(|(range, _)| range.contains(&at));
            !goes && tokens.bytes(at) == MARK.as_bytes() && tokens.list[at].place != Place::Rules
        })
    }
}

struct Planner<'a, 't> {
    tokens: &'a Tokens<'t>,
    plan: Plan,
    /// Bytes that may still be parsed: blocks stand in each other as deep as somebody likes.
    budget: Cell<usize>,
}

/// Bytes that may be parsed, besides each of the text once.
const BUDGET: usize = 1 << 24;

/// A block around an expression.
struct Block<'c> {
    open: usize,
    close: usize,
    /// The calls at its head.
    head: &'c [Call],
    /// What stands behind them, marks included.
    content: Range<usize>,
    parens: bool,
}

impl Planner<'_, '_> {
    /// Plans for the first of these calls, and for those that belong to it; says how many.
    fn take(&mut self, calls: &[Call]) -> Result<usize, Left> {
        let starts = calls.iter().take_while(|call| call.name == Name::StartAt).count();
        let joined = |count: usize| calls[..count].windows(2).all(|pair| pair[0].last + 1 == pair[1].first);
        match calls.get(starts) {
            Some(Call { name: Name::Recording(form @ (Form::Block | Form::Parens)), .. })
                if joined(starts + 1) =>
            {
                let is_more =
                    |call: &&Call| !matches!(call.name, Name::Recording(form) if form != Form::Plain);
                let stops = calls[starts + 1..].iter().take_while(is_more);
                let stops = stops.zip(&calls[starts..]).take_while(|(b, a)| a.last + 1 == b.first).count();
                let head = &calls[..starts + 1 + stops];
                self.block(head, *form == Form::Parens)?;
                Ok(head.len())
            }
            _ => self.call(&calls[0]).map(|()| 1),
        }
    }

    /// A call with the attributes that it carries.
    fn call(&mut self, call: &Call) -> Result<(), Left> {
        let tokens = self.tokens;
        let mut first = call.first;
        let mut exact = call.exact;
        while let Some(hash) = first.checked_sub(1).and_then(|end| attribute(tokens, end)) {
            // One blank behind each.
            let end = tokens.list[first - 1].range.end;
            exact &= tokens.text[end..tokens.list[first].range.start] == *b" ";
            first = hash;
        }
        let mark = first.checked_sub(1).filter(|mark| self.is_mark(*mark));
        let has_attributes = first < call.first;
        let piece = |exact| if exact { Piece::Exact } else { Piece::Call };
        match (mark, call.name) {
            (Some(mark), _) if has_attributes && self.are_carried(first, call.first) => {
                let exact = exact && tokens.touches(mark) && tokens.bytes(mark) == MARK.as_bytes();
                self.plan.pieces.push((mark..call.last + 1, piece(exact)));
            }
            (Some(mark), Name::Recording(Form::Carried)) if !has_attributes => {
                self.plan.pieces.push((mark..call.last + 1, Piece::Call));
            }
            (_, Name::Recording(Form::Carried)) if has_attributes => return Err((call.first, NO_MARK)),
            // Attributes that somebody put in front of the call are meant for the statement behind it.
            _ => self.plan.pieces.push((call.first..call.last + 1, piece(call.exact))),
        }
        Ok(())
    }

    /// `/*xh*/`, also as some settings of rustfmt write it.
    fn is_mark(&self, at: usize) -> bool {
        let bytes = self.tokens.bytes(at);
        self.tokens.is_comment(at) && matches!(bytes, b"/*xh*/" | b"/* xh */" | b"// xh" | b"//xh")
    }

    /// Whether all attributes between these tokens are of the kinds that are carried.
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

    /// Calls at the head of a block. The block goes too, if it still is nothing but an expression in braces.
    fn block(&mut self, head: &[Call], parens: bool) -> Result<(), Left> {
        let tokens = self.tokens;
        let (first, last) = (head[0].first, head[head.len() - 1].last);
        let open = tokens.code_before(first).filter(|open| tokens.bytes(*open) == b"{");
        let pair = open.and_then(|open| Some((open, tokens.list[open].pair?)));
        if let Some((open, close)) = pair {
            let block = Block { open, close, head, content: last + 1..close, parens };
            if let Some((content, inner)) = self.expression(&block) {
                self.unwrap(&block, content, inner);
                return Ok(());
            }
        }
        // Somebody has made it a block of their own: only the calls and the mark go.
        let around = self.around(first).ok_or((first, NO_BLOCK))?;
        for call in head {
            self.plan
                .pieces
                .push((call.first..call.last + 1, if call.exact { Piece::Exact } else { Piece::Call }));
        }
        self.own_marks(around);
        Ok(())
    }

    /// The braces around a token.
    fn around(&self, at: usize) -> Option<Range<usize>> {
        let (open, close) = self.tokens.around(at).filter(|(open, _)| self.tokens.bytes(*open) == b"{")?;
        Some(open..close)
    }

    /// Takes the mark at the end of a block that stays: it stands in the block itself, or in its parentheses.
    fn own_marks(&mut self, block: Range<usize>) {
        let mut at = block.start + 1;
        while at < block.end {
            let is_carried = self.tokens.bytes(at + 1) == b"#";
            if self.is_mark(at) && !is_carried {
                self.plan.pieces.push((at..at + 1, Piece::Call));
            }
            let is_paren = self.tokens.bytes(at) == b"(";
            at = self.tokens.list[at].pair.filter(|&close| close > at && !is_paren).unwrap_or(at) + 1;
        }
    }

    /// The content of a block without what belongs to its tail: the expression, and where it really ends. None when it is
    /// no single expression.
    fn expression(&self, block: &Block<'_>) -> Option<(Range<usize>, usize)> {
        let tokens = self.tokens;
        if !self.may_be_ours(block) {
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
        // rustfmt ends a jump at the end of a block with a semicolon.
        let is_jump = matches!(tokens.bytes(first), b"return" | b"break" | b"continue");
        let end = if is_jump && tokens.bytes(last) == b";" { tokens.code_before(last)? } else { last };
        let is_single = block.parens || self.is_single(first..end + 1, block);
        is_single.then_some((content, end))
    }

    /// Whether these braces stand where some were put around an expression.
    fn may_be_ours(&self, block: &Block<'_>) -> bool {
        let tokens = self.tokens;
        let Some(before) = tokens.code_before(block.open) else { return false };
        match tokens.bytes(before) {
            b"else" | b"|" => true,
            b">" => before > 0 && tokens.bytes(before - 1) == b"=",
            b"unsafe" | b"async" | b"move" | b"const" | b"loop" | b"try" | b"static" => false,
            _ => tokens.list[block.open].place == Place::Arguments,
        }
    }

    /// Whether these tokens are one expression, which ends no earlier when it stands as a statement.
    fn is_single(&self, range: Range<usize>, block: &Block<'_>) -> bool {
        let tokens = self.tokens;
        let mut at = range.start;
        let mut is_sure = true;
        while at < range.end {
            if tokens.bytes(at) == b";" {
                return false;
            }
            at = tokens.list[at].pair.filter(|&close| close > at).unwrap_or(at) + 1;
            let next = tokens.code_from(at).filter(|next| *next < range.end);
            // Behind a block another statement may start.
            is_sure &= tokens.bytes(at - 1) != b"}"
                || next
                    .is_none_or(|next| matches!(tokens.bytes(next), b"else" | b"." | b"?" | b"as" | b"in"));
        }
        if is_sure {
            return true;
        }
        let bytes = tokens.list[range.start].range.start..tokens.list[range.end - 1].range.end;
        // Braces that stay do no harm.
        let Some(left) = self.budget.get().checked_sub(bytes.len()) else { return false };
        self.budget.set(left);
        let text = str::from_utf8(&tokens.text[bytes]).ok();
        match text.and_then(syntax::is_single_expression) {
            Some(is_single) => is_single,
            // Not understood by the parser: as it was written, it is ours.
            None => block.head.iter().all(|call| call.exact),
        }
    }

    /// Takes the block away around its content.
    fn unwrap(&mut self, block: &Block<'_>, content: Range<usize>, end: usize) {
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
            self.plan.pieces.push((block.open..head_end, Piece::Exact));
            self.plan.pieces.push((mark..block.close + 1, Piece::Exact));
            return;
        }
        let head = (block.open..head_end).filter(|&at| !tokens.is_comment(at));
        self.plan.pieces.extend(head.map(|at| (at..at + 1, Piece::Head)));
        self.plan.pieces.extend(tail.into_iter().map(|at| (at..at + 1, Piece::Tail)));
        if self.needs_comma(block, end) {
            self.plan.commas.push(end);
        }
        if let Some(step) = self.step(block.head[0].first, block.close) {
            self.plan.dedents.push((content, step));
        }
    }

    /// `else { return 1 }`: with a call in it rustfmt spreads it over lines and ends it with a semicolon. That it was one
    /// line, the numbers of the calls say.
    fn one_line(&mut self, calls: &[Call], index: usize) {
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
            let behind = calls[index..].iter().find(|other| other.first > close);
            [before, behind].iter().flatten().any(|other| other.statement == call.statement)
        };
        if call.name == Name::Recording(Form::Plain)
            && is_jump
            && is_beside()
            && tokens.bytes(semicolon) == b";"
            && self.is_spelled_by_rustfmt(call)
            && self.step(call.first, close).is_some()
        {
            self.plan.pieces.push((semicolon..close, Piece::Call));
        }
    }

    /// What goes behind the last token of the expression: a semicolon of rustfmt, marks, parentheses and braces.
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

    /// Whether a comma has to follow what is an arm again.
    fn needs_comma(&self, block: &Block<'_>, end: usize) -> bool {
        let tokens = self.tokens;
        let is_arm = tokens.code_before(block.open).is_some_and(|before| tokens.bytes(before) == b">");
        let next = tokens.code_from(block.close + 1);
        let next = next.map_or(&b""[..], |next| tokens.bytes(next));
        if !is_arm || next == b"," {
            return false;
        }
        let in_code = tokens.list[block.open].place == Place::Code;
        let is_last = matches!(next, b"}" | b")" | b"]" | b"");
        let is_block = tokens.list[end].pair.is_some_and(|open| {
            let before = tokens.code_before(open).map_or(&b""[..], |before| tokens.bytes(before));
            tokens.bytes(open) == b"{" && matches!(before, b"]" | b":" | b";")
        });
        match self.is_spelled_by_rustfmt(&block.head[0])
            && self.step(block.head[0].first, block.close).is_some()
        {
            true => !is_block && (in_code || !is_last),
            false => !is_last && tokens.bytes(end) != b"}",
        }
    }

    /// `::xhist_rt::a::<1, 2, 9>();`, or spread over lines.
    fn is_spelled_by_rustfmt(&self, call: &Call) -> bool {
        let tokens = self.tokens;
        let mut gaps = (call.first..call.last).filter(|&at| !tokens.touches(at)).peekable();
        gaps.peek().is_some() && gaps.all(|at| matches!(tokens.bytes(at), b"," | b"(" | b"<"))
    }

    /// How much deeper a call stands than the brace that closes its block, when both start their lines, as rustfmt has it.
    fn step(&self, call: usize, close: usize) -> Option<usize> {
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
