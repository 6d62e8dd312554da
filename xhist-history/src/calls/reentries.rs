//! Functions that a handler or a callback entered again while a call of them was open below it.
//!
//! A function that calls itself, also by way of others and of closures that they make, is a recursion that its author wrote.
//! A closure from outside of that call is not, nor is a function that no statement on the way names: the caller of the function,
//! or what was set up before, decides what it does. A method of a trait may be either: which implementation runs is decided
//! elsewhere, but a tree that visits its parts looks the same. It is shown as what it is, and not where it goes deeper.
//!
//! Where the function takes what the call gives, as those of combinators of parsers do, the call computes a part of its result. By
//! way of a method that is a recursion, by way of a callback if it goes deeper.
//!
//! What is called back is a recursion, too, if it is open below: it handed itself over, as a compiler does that visits an
//! expression by way of an iterator. Destructors run wherever a value ends, so that one is in another says nothing.

use super::activation::Activation;
use super::callee::{Call, CallKind, Implicit};
use super::stack::{CallStack, Slot};
use super::structure::{BodyId, StatementId};
use crate::model::BodyKind;

/// Kinds that are kept; the others are counted.
const MOST: usize = 64;

/// A function that was entered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reentry {
    /// The function.
    pub body: BodyId,
    /// What entered it again, or called what did.
    pub by: (EnteredBy, BodyId),
    /// The statement that the outer call was at.
    pub at: StatementId,
    /// What the outer call ran next. `None`: nothing, so it may have been over.
    pub next: Option<StatementId>,
    /// How often.
    pub times: u64,
    /// When the newest of them was entered, in the time of the caller.
    pub since: u64,
}

/// What enters a function again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnteredBy {
    /// A signal handler or an interrupt.
    Handler,
    /// A closure, or a function behind a pointer.
    Callback,
    /// A method of a trait that the function itself is not of.
    Method,
}

/// Collects them.
#[derive(Clone, Debug, Default)]
pub struct Reentries {
    found: Vec<Reentry>,
    /// Those whose interrupted call did not go on so far, with the id of that call.
    waiting: Vec<(u64, Reentry)>,
    /// Functions and methods that are a recursion.
    recursive: Vec<(BodyId, BodyId)>,
    /// The function that each interrupt began with. One that another interrupt interrupted goes on in any function.
    handlers: Vec<(u16, BodyId)>,
}

impl Reentries {
    /// A statement ran; `stack` is the stack behind it.
    pub fn step(&mut self, stack: &CallStack, now: u64) {
        if !self.waiting.is_empty() && stack.floor() == 0 {
            let top = stack.top();
            for (id, mut reentry) in std::mem::take(&mut self.waiting) {
                let is_open = || stack.stack().rev().take(MOST).any(|open| open.id == id);
                match top.filter(|top| top.id == id) {
                    Some(top) => reentry.next = Some(top.statement),
                    None if is_open() => {
                        self.waiting.push((id, reentry));
                        continue;
                    }
                    None => {}
                }
                self.add(reentry);
            }
        }
        let floor = stack.floor();
        if stack.moves().entered == 0 || self.waiting.len() >= MOST {
            return;
        }
        if floor == 0 {
            let called_back = stack.called_back().filter(|(outer, ..)| !stack.may_be_over(outer.statement));
            if let Some((top, (outer, by, is_recursion))) = stack.top().zip(called_back) {
                let (body, at) = (top.body, outer.statement);
                if is_recursion {
                    self.add_recursive(body, by.1);
                } else if !self.recursive.contains(&(body, by.1)) {
                    self.waiting.push((outer.id, Reentry { body, by, at, next: None, times: 1, since: now }));
                }
            }
            return;
        }
        let Some((top, handler)) = stack.top().zip(stack.stack().nth(floor)) else { return };
        // A handler that seems to begin in the middle of a function goes on behind another one.
        if handler.id == top.id && !stack.structure.is_entry(top.statement) {
            return;
        }
        let mut below = stack.stack().rev().skip(stack.depth() - floor).take(MOST);
        let known = self.handlers.iter().find(|(interrupt, _)| *interrupt == handler.interrupt);
        let began = known.map_or(handler.body, |(_, body)| *body);
        if known.is_none() && handler.interrupt != 0 && self.handlers.len() < MOST {
            self.handlers.push((handler.interrupt, handler.body));
        }
        if let Some(outer) = below.find(|outer| outer.body == top.body) {
            let (body, by, at) = (top.body, (EnteredBy::Handler, began), outer.statement);
            self.waiting.push((outer.id, Reentry { body, by, at, next: None, times: 1, since: now }));
        }
    }

    /// A function enters itself again and again by way of a method or a callback.
    fn add_recursive(&mut self, body: BodyId, way: BodyId) {
        let is_it = |reentry: &Reentry| (reentry.body, reentry.by.1) == (body, way);
        self.found.retain(|reentry| !is_it(reentry));
        self.waiting.retain(|(_, reentry)| !is_it(reentry));
        if self.recursive.len() < MOST && !self.recursive.contains(&(body, way)) {
            self.recursive.push((body, way));
        }
    }

    fn add(&mut self, reentry: Reentry) {
        let key = |known: &Reentry| (known.body, known.by, known.at, known.next);
        let has_room = self.found.len() < MOST;
        match self.found.iter_mut().find(|known| key(known) == key(&reentry)) {
            Some(known) => {
                known.times += 1;
                known.since = reentry.since;
            }
            None if has_room => self.found.push(reentry),
            None => {}
        }
    }

    /// One for each function and handler: the newest whose interrupted call went on, else the newest. `times` counts all.
    pub fn found(&self) -> Vec<Reentry> {
        let mut all = self.clone();
        for (_, reentry) in std::mem::take(&mut all.waiting) {
            all.add(reentry);
        }
        let mut shown: Vec<Reentry> = Vec::new();
        for reentry in all.found {
            let is_same = |known: &&mut Reentry| (known.body, known.by) == (reentry.body, reentry.by);
            let Some(known) = shown.iter_mut().find(is_same) else {
                shown.push(reentry);
                continue;
            };
            let times = known.times + reentry.times;
            if (reentry.next.is_some(), reentry.since) > (known.next.is_some(), known.since) {
                *known = reentry;
            }
            known.times = times;
        }
        shown.sort_by_key(|reentry| std::cmp::Reverse((reentry.next.is_some(), reentry.since)));
        shown
    }
}

impl CallStack {
    /// The next call below of the topmost function, if what its author cannot see from there is between the two; what that is; and
    /// whether it is a recursion nevertheless.
    fn called_back(&self) -> Option<(&Activation, (EnteredBy, BodyId), bool)> {
        let is_shown = |top: &&Slot| {
            let body = self.structure.body(top.activation.body);
            body.kind.is_named() && !body.is_drop()
        };
        let top = self.slots.last().filter(is_shown)?;
        let first = usize::try_from(top.below).ok().filter(|below| *below < self.slots.len())?;
        let between = self.slots.get(first..self.slots.len() - 1).filter(|between| between.len() <= MOST)?;
        let (outer, above) = between.split_first()?;
        let takes_result = self.takes_result(outer.activation.statement);
        let is_deeper = (outer.below as usize) < self.slots.len();
        above.iter().enumerate().find_map(|(place, slot)| {
            let open = between.get(..=place)?;
            let (by, body) = (self.decided_outside(&slot.activation, outer, open)?, slot.activation.body);
            let mut below = self.slots[..first].iter().rev().take(MOST);
            let hands_itself = by == EnteredBy::Callback && below.any(|below| below.activation.body == body);
            let is_recursion = match by {
                EnteredBy::Method => takes_result || is_deeper,
                _ => takes_result && (hands_itself || is_deeper),
            };
            (!hands_itself || is_recursion).then_some((&outer.activation, (by, body), is_recursion))
        })
    }

    /// Whether an activation above a call was decided on outside of it. `open`: what is between the two, the call included.
    fn decided_outside(&self, called: &Activation, outer: &Slot, open: &[Slot]) -> Option<EnteredBy> {
        let body = self.structure.body(called.body);
        let from = outer.activation.called_from;
        match body.kind {
            BodyKind::Closure => {
                let is_open = |around: BodyId| open.iter().any(|open| open.activation.body == around);
                let mut around = std::iter::successors(body.inside, |body| self.structure.body(*body).inside);
                // What the caller hands over in the call itself is in its sight.
                let is_in_sight = body.within.is_some() && body.within == from || around.any(is_open);
                (!is_in_sight).then_some(EnteredBy::Callback)
            }
            BodyKind::Function if body.implicit != Implicit::Never || called.is_handler => None,
            BodyKind::Function if !called.is_named => {
                let names = |from: StatementId| {
                    self.structure.calls(from).iter().any(|call| call.key == body.name.key)
                };
                (!from.is_some_and(names)).then_some(EnteredBy::Callback)
            }
            BodyKind::Function => {
                let of_trait = &self.structure.body(outer.activation.body).of_trait;
                let is_other = !body.of_trait.is_empty() && body.of_trait != *of_trait;
                is_other.then_some(EnteredBy::Method)
            }
            BodyKind::AsyncFunction | BodyKind::AsyncClosure | BodyKind::AsyncBlock => None,
        }
    }

    /// Whether a statement uses what its call gives, as far as its text shows: a `let`, the head of a `match`, a `?`.
    fn takes_result(&self, statement: StatementId) -> bool {
        let structure = &self.structure;
        // The last statement of all is that of unknown code.
        let has_inner = || structure.info(StatementId(statement.0 + 1)).parent == statement.0;
        let is_head = statement != structure.unknown() && has_inner();
        let is_question = |call: &Call| call.kind == CallKind::Question;
        is_head || structure.info(statement).binds || structure.calls(statement).iter().any(is_question)
    }

    /// Whether a call may have ended at this statement.
    fn may_be_over(&self, statement: StatementId) -> bool {
        self.structure.may_end(statement)
    }
}
