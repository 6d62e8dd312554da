//! The stack of activations of one thread, followed statement by statement.
//!
//! The first statement of a body runs once in an activation, so it is the entry. Any other statement belongs to an
//! activation that is on the stack and can reach it; the activations above that one have been left. Memory is bounded
//! by the depth, and by a limit on parked async bodies.

use std::sync::Arc;

use super::activation::{Activation, Exit, Left, Moves};
use super::panics::Panics;
use super::parked::{Parked, Resumed};
use super::rounds::{Found, Rounds};
use super::structure::{BodyId, NONE, StatementId, Structure};
use crate::model::Span;

/// Activations of one body that are searched for one that reaches a statement.
const MAX_SEARCHED: usize = 4_096;
/// Activations that are searched for a second reading.
const MAX_COMPARED: usize = 16;
/// Values with a destructor that are kept of an activation.
const MAX_VALUES: usize = 64;

/// A statement that is being executed, and which of its calls were made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub statement: StatementId,
    /// A bit for each of its first 64 calls.
    pub taken: u64,
}

impl Frame {
    /// Whether this one of its calls was not made.
    pub fn has_left(&self, call: usize) -> bool {
        call >= 64 || self.taken & 1 << call == 0
    }
}

/// An activation with what its stack knows of it.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub activation: Activation,
    /// Its first frame.
    pub frames: usize,
    /// The next activation of the same body below.
    pub below: u32,
}

/// Follows the statements of one thread.
#[derive(Clone, Debug)]
pub struct CallStack {
    pub(super) structure: Arc<Structure>,
    pub(super) slots: Vec<Slot>,
    /// The executing statements of all activations: each with the statements around it, the innermost last.
    pub(super) frames: Vec<Frame>,
    /// The topmost activation of each body.
    pub(super) top_of: Vec<u32>,
    /// For each name, how many frames have a call of that name left.
    pub(super) named: Vec<u32>,
    /// Steps of searches that found nothing, beyond those that statements paid for.
    pub(super) debt: usize,
    /// For each handler that runs, the depth at which it came; the innermost last.
    pub(super) floors: Vec<usize>,
    /// The interrupts that run, where interrupts have numbers.
    pub(super) interrupts: Vec<u16>,
    pub(super) rounds: Rounds,
    /// Code that is not recorded calls one function after the other.
    pub(super) has_roots: bool,
    pub(super) parked: Parked,
    next_id: u64,
    pub(super) panics: Panics,
    /// Statements are missing before the next one.
    has_gap: bool,
    /// The future that the next statement belongs to.
    pub(super) task: Option<u64>,
    pub(super) moves: Moves,
}

impl CallStack {
    /// An empty stack.
    pub fn new(structure: &Arc<Structure>) -> CallStack {
        CallStack {
            structure: Arc::clone(structure),
            slots: Vec::new(),
            frames: Vec::new(),
            top_of: vec![NONE; structure.bodies.len()],
            named: vec![0; structure.words],
            debt: 0,
            floors: Vec::new(),
            interrupts: Vec::new(),
            rounds: Rounds::default(),
            has_roots: false,
            parked: Parked::default(),
            next_id: 0,
            panics: Panics::default(),
            has_gap: false,
            task: None,
            moves: Moves::default(),
        }
    }

    /// The activations that have not been left, the outermost first.
    pub fn stack(&self) -> impl DoubleEndedIterator<Item = &Activation> + ExactSizeIterator {
        self.slots.iter().map(|slot| &slot.activation)
    }

    /// The innermost activation.
    pub fn top(&self) -> Option<&Activation> {
        self.slots.last().map(|slot| &slot.activation)
    }

    /// The file and the place of the newest statement.
    pub fn newest_place(&self) -> Option<(u16, Span)> {
        self.top().map(|top| self.structure.place(top.statement))
    }

    /// How many activations there are.
    pub fn depth(&self) -> usize {
        self.slots.len()
    }

    /// Async bodies that wait at an `.await`, the one that was parked first first.
    pub fn parked(&self) -> impl Iterator<Item = &Activation> {
        self.parked.activations()
    }

    /// A statement of the structure runs: what it leaves, what it enters, and where it runs.
    pub(super) fn run(&mut self, id: StatementId) {
        self.debt = self.debt.saturating_sub(64);
        self.panics.ran();
        let body = self.structure.body_of(id);
        let is_entry = self.structure.is_entry(id);
        let task = self.task.take().filter(|_| self.structure.body(body).kind.is_async());
        let found = match task {
            Some(task) if !is_entry => {
                let is_it = |slot: &Slot| slot.activation.task == Some(task) && slot.activation.body == body;
                let index = self.slots.iter().rposition(is_it).filter(|index| *index >= self.floor());
                index.map(|index| Found { index, gap: None })
            }
            _ if is_entry => None,
            _ => self.find(body, id),
        };
        let is_gap = std::mem::take(&mut self.has_gap);
        match found {
            Some(Found { index, gap: Some(gap) }) => {
                self.go_on_folded(gap, index);
                self.panics.go_on(index + 1);
            }
            Some(Found { index, gap: None }) => {
                self.moves.is_uncertain |= task.is_none()
                    && (self.has_other_reading(index, id)
                        || self.structure.body(body).kind.is_async()
                            && self.parked.has(|other| self.structure.reaches(other.statement, id)));
                self.leave_above(index + 1, true);
                match id == self.structure.unknown() {
                    true => self.panics.unclear(),
                    false => self.panics.go_on(index + 1),
                }
            }
            None if !is_entry && self.floors.is_empty() && self.resume(body, id, task) => {}
            None => self.enter(body, is_entry, task),
        }
        self.moves.is_uncertain |= is_gap;
        self.move_to(id);
        self.rounds.push(self.floors.len(), id, self.slots.len() - 1);
        if self.structure.info(id).panics.resumes {
            self.panics.resume(self.slots.len());
        }
    }

    /// Statements are missing here.
    pub(super) fn gap(&mut self) {
        self.has_gap = true;
    }

    /// Any number of entries is missing here. What is open behind them may be another call of the same function, so every call
    /// is left, how is not known.
    pub(super) fn forget(&mut self) {
        (self.floors, self.interrupts) = (Vec::new(), Vec::new());
        self.leave_above(0, false);
        self.moves.left.iter_mut().for_each(|left| left.exit = Exit::Unknown);
        self.panics.forget();
        let moves = std::mem::take(&mut self.moves);
        let (panics, next_id) = (std::mem::take(&mut self.panics), self.next_id);
        *self = CallStack { moves, panics, next_id, ..CallStack::new(&self.structure) };
    }

    /// The topmost activation of a body from which a statement can be reached.
    pub(super) fn find(&self, body: BodyId, id: StatementId) -> Option<Found> {
        let mut at = self.top_of[body.0 as usize];
        let dead = self.dead();
        let is_dead = |index: usize| dead.as_ref().is_some_and(|dead| dead.contains(&index));
        let gaps = self.rounds.gaps.iter().enumerate().rev();
        let mut gaps = gaps.take_while(|(_, gap)| gap.below >= self.floor()).peekable();
        for _ in 0..MAX_SEARCHED {
            let slot = self.slots.get(at as usize).filter(|_| at as usize >= self.floor());
            while let Some((index, gap)) = gaps.next_if(|(_, gap)| slot.is_none() || gap.below > at as usize)
            {
                let position = gap.position(&self.structure, body, id).filter(|_| !is_dead(gap.below));
                if let Some(position) = position {
                    return Some(Found { index: gap.below + position, gap: Some(index) });
                }
            }
            let slot = slot?;
            if !is_dead(at as usize) && self.structure.reaches(slot.activation.statement, id) {
                return Some(Found { index: at as usize, gap: None });
            }
            at = slot.below;
        }
        None
    }

    /// The activations that a panic has ended for certain: those above the topmost one that catches panics; without one,
    /// the one that panicked.
    pub(super) fn dead(&self) -> Option<std::ops::Range<usize>> {
        let panicked = self.panics.depth()?;
        let start = panicked.saturating_sub(MAX_COMPARED * 4);
        let catches = |index: &usize| {
            self.frames_of(*index).iter().any(|frame| self.structure.info(frame.statement).panics.catches)
        };
        let first = match (start..panicked).rev().find(catches) {
            Some(catching) => catching + 1,
            None => panicked.saturating_sub(1),
        };
        Some(first..panicked)
    }

    /// Whether the statement may also belong to another activation of the same body, because those above may have ended.
    fn has_other_reading(&self, index: usize, id: StatementId) -> bool {
        let mut at = self.slots[index].below;
        let mut above = index;
        for _ in 0..MAX_COMPARED {
            let Some(slot) = self.slots.get(at as usize) else { return false };
            if (at as usize) < self.floor() {
                return false;
            }
            if above - at as usize > MAX_COMPARED {
                return false;
            }
            if !(at as usize + 1..=above).all(|index| self.may_stop(index)) {
                return false;
            }
            if self.structure.reaches(slot.activation.statement, id) {
                return true;
            }
            (above, at) = (at as usize, slot.below);
        }
        false
    }

    /// Whether an activation may have ended or been parked at its newest statement.
    pub(super) fn may_stop(&self, index: usize) -> bool {
        let Activation { body, statement, .. } = self.slots[index].activation;
        let structure = &self.structure;
        structure.may_end(statement) || structure.awaits(statement) && structure.body(body).kind.is_async()
    }

    /// Whether an activation is that of an async body.
    fn is_async(&self, index: usize) -> bool {
        let is_async = |slot: &Slot| self.structure.body(slot.activation.body).kind.is_async();
        self.slots.get(index).is_some_and(is_async)
    }

    /// Leaves the activations from this depth on. `goes_on`: the one below runs its next statement, so what it awaited
    /// has ended.
    pub(super) fn leave_above(&mut self, depth: usize, goes_on: bool) {
        if self.slots.len() <= depth {
            return;
        }
        let panicked = self.panics.depth().filter(|panicked| depth < *panicked);
        // An executor goes on whether a future is ready or not.
        let has_awaited = goes_on && depth.checked_sub(1).is_some_and(|below| self.is_async(below));
        let mut parked = Vec::new();
        while self.slots.len() > depth {
            let above = self.slots.len() - 1;
            let exit = self.exit(panicked.is_some_and(|panicked| above < panicked));
            let Some(mut slot) = self.pop() else { break };
            let body = slot.activation.body;
            // Values that were not dropped were moved out.
            let values = std::mem::take(&mut slot.activation.values);
            if let Some(caller) = self.slots.last_mut().map(|caller| &mut caller.activation) {
                caller.callee = Some(body);
                if exit == Exit::Returned && caller.values.len() < MAX_VALUES {
                    caller.values.extend(values.iter().take(MAX_VALUES));
                }
            }
            if exit == Exit::Parked {
                slot.activation.values = values;
            }
            let is_async = self.structure.body(slot.activation.body).kind.is_async();
            if exit == Exit::Returned
                && is_async
                && let Some(caller) = self.slots.last_mut()
            {
                caller.activation.callee_returned = true;
            }
            if exit == Exit::Parked {
                parked.push(slot.activation.clone());
            } else if !parked.is_empty() {
                // What an ended body awaited has ended, too.
                parked.clear();
            }
            let exit = if has_awaited && exit == Exit::Parked { Exit::Returned } else { exit };
            // What a repetition entered and left is no change.
            match self.moves.entered.checked_sub(1) {
                Some(entered) => self.moves.entered = entered,
                None => self.moves.left.push(Left { activation: slot.activation, exit, depth: above }),
            }
        }
        if !parked.is_empty() {
            parked.reverse();
            let owner = self.top().map(|top| top.id);
            self.parked.add(owner, parked, has_awaited);
        }
        self.panics.leave_above(depth);
    }

    /// How the topmost activation is left.
    fn exit(&self, is_unwound: bool) -> Exit {
        let Some(slot) = self.slots.last() else { return Exit::Unknown };
        let activation = &slot.activation;
        let statement = activation.statement;
        if let Some(ended) = activation.ended {
            return ended;
        }
        if is_unwound {
            return Exit::Unwound;
        }
        if self.structure.body(activation.body).kind.is_async() && self.structure.awaits(statement) {
            let is_over = self.structure.may_end(statement) && activation.callee_returned;
            return if is_over { Exit::Returned } else { Exit::Parked };
        }
        if self.structure.may_end(statement) { Exit::Returned } else { Exit::Unknown }
    }

    fn pop(&mut self) -> Option<Slot> {
        let slot = self.slots.pop()?;
        while self.frames.len() > slot.frames {
            self.pop_frame();
        }
        self.top_of[slot.activation.body.0 as usize] = slot.below;
        self.rounds.left(self.slots.len());
        Some(slot)
    }

    fn pop_frame(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        let structure = &self.structure;
        for (index, call) in structure.calls(frame.statement).iter().enumerate() {
            if frame.has_left(index) {
                self.named[call.key as usize] -= 1;
            }
        }
    }

    fn push_frame(&mut self, statement: StatementId) {
        let structure = &self.structure;
        for call in structure.calls(statement) {
            self.named[call.key as usize] += 1;
        }
        self.frames.push(Frame { statement, taken: 0 });
    }

    /// Marks a call of a frame as made.
    pub(super) fn take_call(&mut self, frame: usize, index: usize) {
        let Some(known) = self.frames.get_mut(frame) else { return };
        let call = self.structure.calls(known.statement)[index];
        if index < 64 && !call.repeats && known.has_left(index) {
            known.taken |= 1 << index;
            self.named[call.key as usize] -= 1;
        }
    }

    /// The frames of an activation.
    pub(super) fn frames_of(&self, index: usize) -> &[Frame] {
        let end = self.slots.get(index + 1).map_or(self.frames.len(), |above| above.frames);
        self.slots.get(index).map_or(&[], |slot| &self.frames[slot.frames..end])
    }

    /// A new activation of a body.
    fn enter(&mut self, body: BodyId, is_entry: bool, task: Option<u64>) {
        let caller = self.caller(body, is_entry);
        self.has_roots |= is_entry && caller.depth == 0 && !self.slots.is_empty();
        self.enter_after_panic(body, is_entry, &caller);
        self.leave_above(caller.depth, false);
        // The condition of a loop is run again behind the last statement of a round.
        let called_from =
            caller.call.and_then(|(frame, _)| self.frames.get(frame)).map(|frame| frame.statement);
        if let Some((frame, call)) = caller.call {
            self.take_call(frame, call);
            self.resume_awaiting(frame, call, body);
        }
        if self.structure.body(body).is_drop()
            && let (Some(of), Some(slot)) = (self.structure.body(body).name.parent, self.slots.last_mut())
            && let Some(position) = slot.activation.values.iter().rposition(|value| *value == of)
        {
            slot.activation.values.remove(position);
        }
        let is_bottom = self.slots.len() == self.floor();
        let was_cut = !is_entry && is_bottom;
        let in_unwinding = self.panics.depth().is_some();
        let is_handler = is_bottom && !self.floors.is_empty();
        let activation = Activation {
            entered_before: !is_entry,
            is_uncertain: caller.is_uncertain || !is_entry && !was_cut,
            in_unwinding,
            is_handler,
            interrupt: self.interrupts.last().copied().filter(|_| is_handler).unwrap_or(0),
            is_named: caller.call.is_some(),
            task,
            called_from: called_from.or(self.top().map(|top| top.statement)),
            ..self.activation(body)
        };
        self.push(activation);
        self.moves.entered += 1;
        self.moves.is_uncertain |= caller.is_uncertain;
    }

    /// A new activation of a body, called by the topmost one.
    pub(super) fn activation(&mut self, body: BodyId) -> Activation {
        self.next_id += 1;
        Activation {
            id: self.next_id - 1,
            body,
            statement: StatementId(0),
            called_from: self.top().map(|top| top.statement),
            entered_before: false,
            is_uncertain: false,
            is_resumed: false,
            in_unwinding: false,
            is_handler: false,
            interrupt: 0,
            is_named: false,
            task: None,
            has_resumed: false,
            ended: None,
            callee_returned: false,
            callee: None,
            values: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, activation: Activation) {
        let body = activation.body.0 as usize;
        let below = self.top_of[body];
        self.top_of[body] = self.slots.len() as u32;
        self.slots.push(Slot { activation, frames: self.frames.len(), below });
    }

    /// A call that polls a future goes through the async bodies that awaited the same body before, none of which need run a
    /// statement.
    fn resume_awaiting(&mut self, frame: usize, call: usize, body: BodyId) {
        let Some(known) = self.frames.get(frame) else { return };
        let polls = self.structure.calls(known.statement).get(call).is_some_and(|call| call.polls);
        let owner = self.top().map(|top| top.id);
        if polls && let Some(found) = self.parked.take_awaiting(owner, body) {
            self.push_chain(found);
        }
    }

    /// Goes on with a parked async body, if one can reach the statement.
    fn resume(&mut self, body: BodyId, id: StatementId, task: Option<u64>) -> bool {
        let structure = &self.structure;
        let can = |activation: &Activation| match task {
            Some(task) => activation.task == Some(task) && activation.body == body,
            None => structure.reaches(activation.statement, id),
        };
        let Some(found) = self.parked.take(can) else { return false };
        let owner = found.owner.and_then(|owner| {
            let is_owner = |slot: &Slot| slot.activation.id == owner;
            let first = self.slots.len().saturating_sub(MAX_SEARCHED);
            self.slots[first..].iter().rposition(is_owner).map(|index| first + index)
        });
        let depth = match owner {
            Some(owner) => owner + 1,
            None => self.poller().map_or_else(|| self.executor(), |(index, _)| index + 1),
        };
        self.panics.go_on(depth);
        self.leave_above(depth, false);
        self.push_chain(found);
        true
    }

    /// Puts a chain of async bodies back on the stack.
    fn push_chain(&mut self, found: Resumed) {
        for mut activation in found.activations {
            let called_from = self.top().map(|top| top.statement);
            let at = activation.statement;
            activation.called_from = called_from;
            activation.is_resumed = true;
            activation.is_uncertain |= found.is_uncertain;
            self.push(activation);
            self.push_around(at);
            self.moves.entered += 1;
        }
        self.moves.is_uncertain |= found.is_uncertain;
    }

    /// The topmost activation is at this statement.
    pub(super) fn wait_at(&mut self, id: StatementId) {
        let Some(slot) = self.slots.last_mut() else { return };
        slot.activation.statement = id;
        let first = slot.frames;
        while self.frames.len() > first {
            self.pop_frame();
        }
        self.push_around(id);
    }

    /// The frames of a statement and of those around it.
    fn push_around(&mut self, id: StatementId) {
        let first = self.frames.len();
        let mut next = Some(id);
        while let Some(statement) = next {
            self.push_frame(statement);
            next = self.structure.around(statement);
        }
        self.frames[first..].reverse();
    }

    /// The topmost activation makes this its newest statement.
    fn move_to(&mut self, id: StatementId) {
        let structure = Arc::clone(&self.structure);
        let Some(slot) = self.slots.last_mut() else { return };
        let first = slot.frames;
        slot.activation.statement = id;
        slot.activation.has_resumed = false;
        slot.activation.callee_returned = false;
        slot.activation.callee = None;
        if structure.info(id).makes && slot.activation.values.len() < MAX_VALUES {
            slot.activation.values.extend(structure.made(id));
        }
        let around = structure.around(id);
        // Statements that the new one is not inside of are done.
        while self.frames.len() > first
            && around.is_none_or(|around| {
                let open = self.frames[self.frames.len() - 1].statement;
                !structure.is_within(around, open)
            })
        {
            self.pop_frame();
        }
        if around.is_some() && self.frames.len() == first {
            // The statements around it ran before the window.
            self.push_around(id);
        } else {
            self.push_frame(id);
        }
    }
}
