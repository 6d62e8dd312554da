//! What ran in each call of a thread, with loops folded: the calls that were open at the end, and what ran before.

use super::code::{Code, ListedStatement};
use super::content::{CallContent, FoldedCall, Loop, current, height, parts, shape, statements_of};
use super::rounds::{fold, repeat};
use crate::calls::{BodyId, CallStack, FoldedCalls, Handler, Reentries, Reentry, ThreadEntry};
use crate::model::Names;

/// Parts that are kept; of the oldest only counts remain.
pub(super) const MOST_PARTS: usize = 1 << 17;
/// Parts of one body that are kept then.
const MOST_OF_BODY: usize = 256;
/// Calls within calls that are kept.
const DEEPEST: u32 = 64;

/// The open calls of a thread, the outermost first.
#[derive(Debug)]
pub struct Activations<'c> {
    code: &'c Code,
    /// Which calls are open.
    stack: CallStack,
    open: Vec<FoldedCall>,
    /// Calls that a repetition ended, as its rounds have them whole. They are still on the stack.
    ended_early: usize,
    /// Calls that ended before the outermost open one began.
    ended: Vec<CallContent>,
    /// Calls that began before what the ring has overwritten. When they ended is not known.
    early: Vec<CallContent>,
    /// Open calls that format a value.
    formats: usize,
    /// Since when every statement was in such a call.
    formatting_since: Option<u64>,
    reentries: Reentries,
    /// When the newest handlers came, each with its function.
    handlers: Vec<(BodyId, u64)>,
    statements: u64,
    calls: u64,
    parts: usize,
}

impl<'c> Activations<'c> {
    /// Nothing has run so far.
    pub fn new(code: &'c Code) -> Activations<'c> {
        Activations {
            code,
            stack: code.stack(),
            open: Vec::new(),
            ended_early: 0,
            ended: Vec::new(),
            early: Vec::new(),
            formats: 0,
            formatting_since: None,
            reentries: Reentries::default(),
            handlers: Vec::new(),
            statements: 0,
            calls: 0,
            parts: 0,
        }
    }

    /// The open calls, the outermost first.
    pub fn open(&self) -> &[FoldedCall] {
        &self.open
    }

    /// What ran before the outermost open call.
    pub fn ended(&self) -> &[CallContent] {
        &self.ended
    }

    /// What ran before the ring has overwritten something.
    pub fn early(&self) -> &[CallContent] {
        &self.early
    }

    /// The next entry of the thread.
    pub fn take(&mut self, names: &Names, (handler, entry): (Handler, ThreadEntry)) {
        let statement = self.code.follow(names, &mut self.stack, (handler, entry));
        let mut left = self.stack.moves().left.len();
        if let ThreadEntry::Again { statements, times } = entry {
            let of_handlers = self.stack.moves().of_handlers;
            left -= of_handlers;
            self.end_behind(self.open.len().saturating_sub(of_handlers));
            self.repeat(statements as u64, times);
        }
        for FoldedCalls { below, calls } in &self.stack.moves().unfolded {
            if let Some(call) = self.open.get_mut(*below) {
                call.folded = call.folded.saturating_sub(*calls);
            }
        }
        if statement.is_some() || left + self.stack.moves().entered > 0 {
            self.follow(left);
        }
        if entry == ThreadEntry::Overwritten {
            self.early.append(&mut self.ended);
        }
        if let Some(statement) = statement {
            self.statement(statement);
        }
    }

    /// Functions that a handler entered again, the most certain and newest first.
    pub fn reentries(&self) -> Vec<Reentry> {
        self.reentries.found()
    }

    /// When each handler came last, the newest first.
    pub fn handlers(&self) -> impl Iterator<Item = u64> {
        self.handlers.iter().rev().map(|(_, since)| *since)
    }

    /// Ends and begins calls as the stack did. A repetition may have ended some of them before.
    fn follow(&mut self, left: usize) {
        let entered = self.stack.moves().entered;
        let early = std::mem::take(&mut self.ended_early);
        self.end_behind(self.open.len().saturating_sub(left.saturating_sub(early)));
        for above in (0..entered + early.saturating_sub(left)).rev() {
            self.enter(above);
        }
    }

    /// The time of the newest statement.
    pub fn now(&self) -> u64 {
        self.statements
    }

    /// A statement ran in the innermost call.
    fn statement(&mut self, statement: ListedStatement) {
        self.statements += 1;
        let since = self.statements;
        self.formatting_since = match self.formats {
            0 => None,
            _ => self.formatting_since.or(Some(since)),
        };
        self.push(CallContent::Line { statement, times: 1, first: since, since });
        self.reentries.step(&self.stack, since);
        if self.parts > MOST_PARTS {
            self.shrink();
        }
    }

    /// A call begins: the one below this number of calls at the top of the stack.
    fn enter(&mut self, above: usize) {
        let Some(activation) = self.stack.stack().rev().nth(above) else { return };
        let function = Some(activation.body).filter(|body| self.code.is_function(*body));
        let since = self.statements + 1;
        let mut call = FoldedCall { id: self.calls, function, since, ..FoldedCall::default() };
        if activation.entered_before && self.open.is_empty() {
            // It began before the oldest statement, so it is around all the others.
            call.body = std::mem::take(&mut self.ended);
            call.since = call.body.first().map_or(call.since, CallContent::since);
            call.statements = statements_of(&call.body);
            call.height = call.body.iter().map(height).max().unwrap_or(0);
        }
        if above > 0 {
            // An async body that waits for the one above it.
            let statement = ListedStatement::Known(activation.statement);
            call.body.push(CallContent::Line { statement, times: 0, first: since, since });
        }
        (call.is_handler, call.interrupt) = (activation.is_handler, activation.interrupt);
        if call.is_handler {
            self.handlers.retain(|(known, _)| *known != activation.body);
            self.handlers.push((activation.body, since));
        }
        call.is_format = function.is_some_and(|function| self.code.is_format(function));
        self.calls += 1;
        self.formats += usize::from(call.is_format);
        self.open.push(call);
    }

    /// The newest statements ran again, this number of times.
    fn repeat(&mut self, statements: u64, times: u64) {
        self.statements = self.statements.saturating_add(statements.saturating_mul(times));
        let since = self.statements;
        if let Some(descent) = self.stack.moves().folded {
            if let Some(call) = self.open.get_mut(descent.below) {
                call.folded = call.folded.saturating_add(descent.calls);
            }
            return;
        }
        let mut left = statements;
        for level in (0..self.open.len()).rev() {
            let body = &self.open[level].body;
            let mut first = body.len();
            while first > 0 && left > 0 && body[first - 1].own_statements() <= left {
                first -= 1;
                left -= body[first].own_statements();
            }
            let (before, begun) = self.open[level].body.split_at_mut(first);
            if left > 0
                && let Some(CallContent::Loop(round)) = before.last_mut()
                && round.run_again(statements, left, times, begun)
            {
                let call = &mut self.open[level];
                call.statements = call.statements.saturating_add(statements.saturating_mul(times));
                return;
            }
            if left == 0 {
                self.ended_early += self.open.len() - (level + 1);
                self.end_behind(level + 1);
                let call = &mut self.open[level];
                let first = first.min(call.body.len());
                repeat(&mut call.body, first, statements, times, since);
                call.statements = call.statements.saturating_add(statements.saturating_mul(times));
                return;
            }
            if first > 0 {
                break;
            }
        }
        match self.open.last_mut() {
            Some(_) => self.push(CallContent::Repeated { statements, times, since }),
            None => self.ended.push(CallContent::Counted(statements.saturating_mul(times))),
        }
    }

    /// Ends the calls behind the first few.
    fn end_behind(&mut self, kept: usize) {
        while self.open.len() > kept {
            let Some(mut call) = self.open.pop() else { return };
            self.formats -= usize::from(call.is_format);
            call.shape = shape(call.function, &call.body);
            call.height += 1;
            if call.height > DEEPEST {
                call.body = Vec::new();
                call.height = 0;
            }
            let (statements, height) = (if call.is_handler { 0 } else { call.statements }, call.height);
            match self.open.last_mut() {
                Some(outer) => {
                    outer.statements = outer.statements.saturating_add(statements);
                    outer.height = outer.height.max(height);
                    outer.body.push(CallContent::Call(call));
                    fold(&mut outer.body);
                }
                None => {
                    self.ended.push(CallContent::Call(call));
                    fold(&mut self.ended);
                }
            }
        }
    }

    fn push(&mut self, part: CallContent) {
        let Some(call) = self.open.last_mut() else { return };
        call.statements = call.statements.saturating_add(part.statements());
        call.body.push(part);
        fold(&mut call.body);
        self.parts += 1;
    }

    /// Keeps only counts of what is old.
    fn shrink(&mut self) {
        let shrunk = |body: &mut Vec<CallContent>| {
            let more = body.len().saturating_sub(MOST_OF_BODY);
            if more > 0 {
                let dropped = statements_of(&body[..more]);
                body.splice(..more, [CallContent::Counted(dropped)]);
            }
            let old = body.len().saturating_sub(MOST_OF_BODY / 4);
            for part in &mut body[..old] {
                if let CallContent::Call(call) = part {
                    call.body = Vec::new();
                }
            }
        };
        shrunk(&mut self.ended);
        self.open.iter_mut().for_each(|call| shrunk(&mut call.body));
        self.parts = self.open.iter().map(|call| call.body.iter().map(parts).sum::<usize>()).sum();
        // Deep recursion alone may be more than that.
        self.parts = self.parts.min(MOST_PARTS / 2);
    }

    /// Whether an open call, or one in it, formats a value and is at such a statement.
    pub fn formats_at(&self, is_it: &dyn Fn(ListedStatement) -> bool) -> bool {
        let since = self.formatting_since.unwrap_or(u64::MAX);
        let calls = self.open.iter().filter(|call| call.since >= since);
        calls.filter_map(|call| current(&call.body)).any(is_it)
    }

    /// Leaves out what formatted a value just before the end, unless the statement that called it makes text itself. Returns the
    /// number of its statements.
    pub fn leave_out_formatting(&mut self, makes_text: &mut dyn FnMut(ListedStatement) -> bool) -> u64 {
        let Some(since) = self.formatting_since.take() else { return 0 };
        let caller =
            self.open.iter().rev().filter(|call| call.since < since).find_map(|call| current(&call.body));
        if caller.is_some_and(makes_text) {
            return 0;
        }
        let left_out = self.statements + 1 - since;
        while self.open.last().is_some_and(|call| call.since >= since) {
            self.open.pop();
        }
        for call in &mut self.open {
            call.statements = call.statements.saturating_sub(leave_out(&mut call.body, since));
        }
        left_out
    }
}

/// Leaves out the parts since then. Returns the number of their statements.
fn leave_out(body: &mut Vec<CallContent>, since: u64) -> u64 {
    let mut left_out = 0_u64;
    while let Some(last) = body.last_mut() {
        if last.since() >= since {
            left_out = left_out.saturating_add(last.statements());
            body.pop();
            continue;
        }
        let inside = match last {
            CallContent::Call(FoldedCall { body, statements, .. })
            | CallContent::Loop(Loop { body, statements, .. }) => {
                let inside = leave_out(body, since);
                *statements = statements.saturating_sub(inside);
                inside
            }
            CallContent::Line { .. } | CallContent::Repeated { .. } | CallContent::Counted(_) => 0,
        };
        return left_out.saturating_add(inside);
    }
    left_out
}
