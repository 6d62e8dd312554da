//! Which activation entered a body.
//!
//! From the top of the stack down: an activation whose newest statement, or a statement around it, names the body and has
//! not made that call. The search ends at an activation that cannot have ended. Implementations of traits such as `Drop`
//! run without being named.

use std::sync::Arc;

use super::activation::Activation;
use super::callee::{Call, CallKind, Implicit};
use super::stack::CallStack;
use super::structure::{Body, BodyId, Jump, NONE, StatementId};
use crate::model::BodyKind;

/// Activations that are searched when no statement on the stack names the body.
const MAX_UNNAMED: usize = 256;
/// Activations that are searched at all once searches have found nothing too often.
const MAX_IN_DEBT: usize = 4_096;
/// The steps of searches without a result that are free.
pub(super) const MAX_DEBT: usize = 10_000_000;

/// Who entered a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    /// The depth of the new activation: that of the caller, plus one.
    pub depth: usize,
    /// The call: its frame, and its index in the statement.
    pub call: Option<(usize, usize)>,
    /// Another caller is possible.
    pub is_uncertain: bool,
}

impl CallStack {
    /// The caller of a new activation of a body.
    pub(super) fn caller(&mut self, body: BodyId, is_entry: bool) -> Caller {
        let structure = Arc::clone(&self.structure);
        let known = structure.body(body);
        let len = self.slots.len();
        if body == structure.body_of(structure.unknown()) {
            return Caller { depth: len, call: None, is_uncertain: true };
        }
        if len == self.floor() {
            return Caller { depth: len, call: None, is_uncertain: false };
        }
        let found = match known.kind {
            BodyKind::Function | BodyKind::AsyncFunction => self.named(body, known),
            BodyKind::Closure | BodyKind::AsyncClosure | BodyKind::AsyncBlock => self.around_text(known),
        };
        if let Some(found) = found {
            return found;
        }
        // Whatever is on the stack may have ended before the first statement of its caller.
        let floor = self.floor();
        let may_all_stop = || (floor..len).rev().take(MAX_UNNAMED).all(|index| self.may_stop(index));
        // A stack that is unwound has not ended.
        let may_have_ended = || self.panics.depth().is_none() && len < MAX_UNNAMED && may_all_stop();
        let is_cut = self.slots[floor].activation.entered_before || may_have_ended();
        if !is_entry && is_cut {
            // A caller of everything that was seen so far.
            return Caller { depth: floor, call: None, is_uncertain: false };
        }
        if known.kind.is_async() {
            if let Some((index, call)) = self.poller() {
                return Caller { depth: index + 1, call: Some(call), is_uncertain: false };
            }
            let depth = self.executor();
            let is_uncertain = depth < len && self.may_await(body);
            return Caller { depth: if is_uncertain { len } else { depth }, call: None, is_uncertain };
        }
        if known.implicit != Implicit::Never {
            return self.implicit(known);
        }
        if let Some(depth) = self.beside(body)
            // What runs while the stack is unwound is no round of a loop that ran before.
            && (self.panics.depth().is_none()
                || !known.kind.is_named()
                || self.slots[depth].activation.in_unwinding)
        {
            return Caller { depth, call: None, is_uncertain: true };
        }
        match known.name.is_in_macro.then(|| self.renamed()).flatten() {
            Some(index) => Caller { depth: index + 1, call: None, is_uncertain: true },
            None => self.unnamed(),
        }
    }

    /// The depth of an activation of the same body that code outside the program entered and that may have ended: a loop
    /// there enters it again.
    fn beside(&self, body: BodyId) -> Option<usize> {
        let mut searched = (self.floor()..self.slots.len()).rev().take(MAX_UNNAMED);
        searched.find_map(|index| {
            let activation = &self.slots[index].activation;
            match self.may_stop(index) {
                true if activation.body == body => Some((!activation.is_named).then_some(index)),
                true => None,
                false => Some(None),
            }
        })?
    }

    /// The activation that names the body.
    fn named(&mut self, body: BodyId, known: &Body) -> Option<Caller> {
        let structure = &self.structure;
        if self.named[known.name.key as usize] == 0 {
            return None;
        }
        let len = self.slots.len();
        let limit = if self.debt > MAX_DEBT { MAX_IN_DEBT } else { len };
        let dead = self.dead();
        let mut first: Option<(usize, usize, usize)> = None;
        let mut delegates: Option<(usize, usize, usize)> = None;
        let mut searched = 0;
        for index in (self.floor()..len).rev().take(limit) {
            searched += 1;
            let is_dead = dead.as_ref().is_some_and(|dead| dead.contains(&index));
            if first.is_none() && !is_dead && known.of_trait == "Future" && self.awaits(index) {
                return Some(Caller { depth: index + 1, call: None, is_uncertain: false });
            }
            if !is_dead && let Some((frame, call)) = self.call_in(index, body) {
                if first.is_none() && delegates.is_none() && self.may_delegate(index, (frame, call), body) {
                    delegates = Some((index, frame, call));
                    continue;
                }
                let Some((first, frame, call)) = first else {
                    first = Some((index, frame, call));
                    let repeats = structure.calls(self.frames[frame].statement)[call].repeats;
                    // Only a call that may not be made at all leaves another reading.
                    if !repeats || !self.may_stop(index) {
                        break;
                    }
                    continue;
                };
                return Some(Caller { depth: first + 1, call: Some((frame, call)), is_uncertain: true });
            }
            if first.is_some() && len - index > MAX_UNNAMED {
                break;
            }
            if !is_dead && !self.may_stop(index) {
                break;
            }
        }
        if first.is_none() {
            self.debt += searched;
            if let Some((index, ..)) = delegates.filter(|(index, ..)| !self.slots[*index].activation.is_named)
            {
                return Some(Caller { depth: index, call: None, is_uncertain: true });
            }
        }
        let is_uncertain = first.is_some() && delegates.is_some();
        let first = first.or(delegates);
        first.map(|(index, frame, call)| Caller { depth: index + 1, call: Some((frame, call)), is_uncertain })
    }

    /// Whether a call of its own name in a method means a method of another type: every execution makes it, so a recursion
    /// would not end, and the method may have ended there.
    fn may_delegate(&self, index: usize, (frame, call): (usize, usize), body: BodyId) -> bool {
        let structure = &self.structure;
        let statement = self.frames[frame].statement;
        let info = structure.info(statement);
        let own = structure.body(body).entry.map_or(statement, |entry| entry);
        self.slots[index].activation.body == body
            && structure.calls(statement)[call].kind == CallKind::Method
            && (info.parent, info.in_loop, info.in_branch) == (NONE, NONE, NONE)
            && (own.0..statement.0).all(|before| {
                let before = structure.info(StatementId(before));
                before.body != info.body || before.jump.is_none() && !before.may_leave
            })
            && self.may_stop(index)
    }

    /// Whether an activation is at an `.await`.
    pub(super) fn awaits(&self, index: usize) -> bool {
        let Activation { body, statement, .. } = self.slots[index].activation;
        self.structure.awaits(statement) && self.structure.body(body).kind.is_async()
    }

    /// A call of the body that an activation has left: the innermost statement first.
    fn call_in(&self, index: usize, body: BodyId) -> Option<(usize, usize)> {
        let structure = &self.structure;
        let name = structure.body(body).name;
        let first = self.slots[index].frames;
        let caller = structure.name_of_caller(self.slots[index].activation.body);
        let is_async = structure.body(body).kind.is_async();
        for (position, frame) in self.frames_of(index).iter().enumerate().rev() {
            for (call, known) in structure.calls(frame.statement).iter().enumerate() {
                if is_async && known.polls {
                    return Some((first + position, call));
                }
                if frame.has_left(call) && name.is_meant(*known, caller, |of| structure.types.contains(&of)) {
                    return Some((first + position, call));
                }
            }
        }
        None
    }

    /// The activation that executes the statement around the text of a closure or async block, or one above it that calls
    /// a value.
    fn around_text(&mut self, known: &Body) -> Option<Caller> {
        let len = self.slots.len();
        let dead = self.dead();
        let mut value = None;
        for index in (self.floor()..len).rev().take(MAX_UNNAMED) {
            if dead.as_ref().is_some_and(|dead| dead.contains(&index)) {
                continue;
            }
            let is_around = known.inside == Some(self.slots[index].activation.body)
                && known.within.is_some_and(|within| self.executes(index, within));
            if is_around {
                return Some(Caller { depth: index + 1, call: None, is_uncertain: value.is_some() });
            }
            value = match known.kind.is_async() {
                true => self.poll_in(index),
                false => self.value_in(index),
            }
            .map(|call| (index, call));
            if value.is_some() {
                break;
            }
            if !self.may_stop(index) {
                break;
            }
        }
        value.map(|(index, call)| Caller { depth: index + 1, call: Some(call), is_uncertain: false })
    }

    /// Whether an activation executes a statement: its newest one, or one around that.
    fn executes(&self, index: usize, statement: StatementId) -> bool {
        self.frames_of(index).iter().any(|frame| frame.statement == statement)
    }

    /// The topmost activation that polls futures.
    pub(super) fn poller(&self) -> Option<(usize, (usize, usize))> {
        let searched = (self.floor()..self.slots.len()).rev().take(MAX_UNNAMED);
        let mut searched = searched.scan(true, |goes_on, index| {
            let is_searched = std::mem::replace(goes_on, self.may_stop(index));
            is_searched.then_some(index)
        });
        searched.find_map(|index| self.poll_in(index).map(|call| (index, call)))
    }

    /// A call of an activation that polls a future.
    fn poll_in(&self, index: usize) -> Option<(usize, usize)> {
        let first = self.slots[index].frames;
        self.frames_of(index).iter().enumerate().rev().find_map(|(position, frame)| {
            let call = self.structure.calls(frame.statement).iter().position(|call| call.polls)?;
            Some((first + position, call))
        })
    }

    /// A call of a value that an activation has left.
    fn value_in(&self, index: usize) -> Option<(usize, usize)> {
        let first = self.slots[index].frames;
        for (position, frame) in self.frames_of(index).iter().enumerate().rev() {
            let calls = self.structure.calls(frame.statement);
            let is_value =
                |(call, known): &(usize, &Call)| known.kind == CallKind::Value && frame.has_left(*call);
            if let Some((call, _)) = calls.iter().enumerate().find(is_value) {
                return Some((first + position, call));
            }
        }
        None
    }

    /// The depth above the activation that polls futures: the topmost one that is not async, or has no `.await`.
    pub(super) fn executor(&self) -> usize {
        let is_waiting = |slot: &&super::stack::Slot| {
            let activation = &slot.activation;
            self.structure.body(activation.body).kind.is_async()
        };
        // Functions that async bodies called are left first.
        let first = self.slots.iter().skip(self.floor()).position(|slot| is_waiting(&slot));
        first.map(|first| first + self.floor()).unwrap_or(self.slots.len())
    }

    /// Whether the topmost activation may await a future of this body that an earlier statement made.
    fn may_await(&self, body: BodyId) -> bool {
        let Some(top) = self.slots.last() else { return false };
        let key = self.structure.body(body).name.key;
        let within = self.structure.body(body).inside;
        self.structure.awaits(top.activation.statement)
            && (self.structure.called.contains(&(top.activation.body.0, key))
                || within == Some(top.activation.body))
    }

    /// The activation that runs an implementation of a trait without naming it: for a destructor, the topmost one that has
    /// such a value; else the topmost one with a statement that may.
    fn implicit(&self, known: &Body) -> Caller {
        let len = self.slots.len();
        let caller = |index: usize, is_uncertain| Caller { depth: index + 1, call: None, is_uncertain };
        let panicked = self.panics.depth();
        let dropped = known.name.parent.filter(|_| known.is_drop());
        if known.implicit == Implicit::ByLoop
            && let Some(index) = self.iterating()
        {
            return caller(index, false);
        }
        let mut first = None;
        for index in (self.floor()..len).rev().take(MAX_UNNAMED) {
            let activation = &self.slots[index].activation;
            let may_call = match dropped {
                Some(of) => activation.values.contains(&of),
                None => self.may_call_implicitly(index, known),
            };
            if may_call {
                // While the stack is unwound, values are dropped in this order.
                let is_certain = index + 1 == len || dropped.is_none() || panicked.is_some();
                return caller(index, !is_certain);
            }
            first = first.or(Some(index).filter(|_| panicked.is_none_or(|panicked| index < panicked)));
            // What runs because of the panic is not unwound itself.
            if !self.may_stop(index) && panicked.is_none_or(|panicked| index >= panicked) {
                return caller(first.unwrap_or(index), len > 1);
            }
        }
        caller(first.unwrap_or(len - 1), len > 1)
    }

    /// The topmost activation that takes items of an iterator, if those above it may have ended.
    fn iterating(&self) -> Option<usize> {
        let iterates = |index: &usize| {
            self.frames_of(*index).iter().any(|frame| {
                self.structure.info(frame.statement).is_loop
                    || self.structure.calls(frame.statement).iter().any(|call| call.iterates)
            })
        };
        self.may_run_next().find(iterates)
    }

    /// The topmost activations, up to the first one that cannot have ended.
    fn may_run_next(&self) -> impl Iterator<Item = usize> {
        let searched = (self.floor()..self.slots.len()).rev().take(MAX_UNNAMED);
        let ended = searched.clone().take_while(|index| self.may_stop(*index)).count();
        searched.take(ended + 1)
    }

    /// Whether the newest statement of an activation, or one around it, may run such an implementation.
    fn may_call_implicitly(&self, index: usize, known: &Body) -> bool {
        let structure = &self.structure;
        self.frames_of(index).iter().any(|frame| {
            let has_call = || {
                structure.calls(frame.statement).iter().any(|call| match call.kind {
                    CallKind::Operator(of) => known.implicit == Implicit::ByOperator(of),
                    kind => kind != CallKind::Struct,
                })
            };
            match known.implicit {
                Implicit::Never => false,
                Implicit::Anywhere => true,
                Implicit::ByCall | Implicit::ByOperator(_) => has_call(),
                // A loop is found before.
                Implicit::ByLoop => structure.info(frame.statement).calls_unknown,
            }
        })
    }

    /// The topmost activation with a call to make, whatever its name: `fn $name` in the rule of a macro has another one.
    fn renamed(&self) -> Option<usize> {
        let may_be_it = |call: &Call| {
            matches!(call.kind, CallKind::Plain | CallKind::Method | CallKind::Of(_) | CallKind::In(_))
        };
        self.may_run_next().find(|index| {
            self.frames_of(*index).iter().any(|frame| {
                let mut calls = self.structure.calls(frame.statement).iter().enumerate();
                calls.any(|(index, call)| may_be_it(call) && frame.has_left(index))
            })
        })
    }

    /// Whether an activation left its function by a `return` that calls nothing. The conditions around that are past.
    fn has_returned(&self, index: usize) -> bool {
        let statement = self.slots[index].activation.statement;
        self.structure.info(statement).jump == Some(Jump::Return)
            && self.structure.calls(statement).is_empty()
            && self.may_stop(index)
    }

    /// The topmost activation that may call something unknown.
    fn unnamed(&self) -> Caller {
        let len = self.slots.len();
        if self.has_roots
            && self.panics.depth().is_none()
            && len <= MAX_UNNAMED
            && (self.floor()..len).all(|index| self.may_stop(index))
        {
            return Caller { depth: self.floor(), call: None, is_uncertain: true };
        }
        for index in (self.floor()..len).rev().take(MAX_UNNAMED) {
            if self.has_returned(index) {
                continue;
            }
            let frames = self.frames_of(index);
            if frames.iter().any(|frame| self.structure.info(frame.statement).calls_unknown) {
                return Caller { depth: index + 1, call: None, is_uncertain: true };
            }
            if !self.may_stop(index) {
                return Caller { depth: index + 1, call: None, is_uncertain: true };
            }
        }
        // Nothing on the stack calls code outside the program, so all of it has ended.
        let is_searched = len - self.floor() <= MAX_UNNAMED && self.panics.depth().is_none();
        Caller { depth: if is_searched { self.floor() } else { len }, call: None, is_uncertain: true }
    }
}
