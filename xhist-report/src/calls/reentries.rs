//! Functions that a handler or a callback entered again while a call of them was open below it.
//!
//! A function that calls itself, also by way of others and of closures that they make, is a recursion that its author wrote.
//! A closure from outside of that call is not: the caller of the function, or what was set up before, decides what it does.

use super::activation::Activation;
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
    /// The handler or the callback.
    pub handler: BodyId,
    /// It is a callback.
    pub is_callback: bool,
    /// The statement that the outer call was at.
    pub at: StatementId,
    /// What the outer call ran next. `None`: nothing, so it may have been over.
    pub next: Option<StatementId>,
    /// How often.
    pub times: u64,
    /// When the newest of them was entered, in the time of the caller.
    pub since: u64,
}

/// Collects them.
#[derive(Clone, Debug, Default)]
pub struct Reentries {
    found: Vec<Reentry>,
    /// Those whose interrupted call did not go on so far, with the id of that call.
    waiting: Vec<(u64, Reentry)>,
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
            let called_back = stack.called_back().filter(|(outer, _)| !stack.may_be_over(outer.statement));
            if let Some((top, (outer, handler))) = stack.top().zip(called_back) {
                let (body, at) = (top.body, outer.statement);
                let reentry =
                    Reentry { body, handler, is_callback: true, at, next: None, times: 1, since: now };
                self.waiting.push((outer.id, reentry));
            }
            return;
        }
        let Some((top, handler)) = stack.top().zip(stack.stack().nth(floor)) else { return };
        let mut below = stack.stack().rev().skip(stack.depth() - floor).take(MOST);
        if let Some(outer) = below.find(|outer| outer.body == top.body) {
            let (body, handler, at) = (top.body, handler.body, outer.statement);
            let reentry = Reentry { body, handler, is_callback: false, at, next: None, times: 1, since: now };
            self.waiting.push((outer.id, reentry));
        }
    }

    fn add(&mut self, reentry: Reentry) {
        let key = |known: &Reentry| (known.body, known.handler, known.at, known.next);
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
            let is_same =
                |known: &&mut Reentry| (known.body, known.handler) == (reentry.body, reentry.handler);
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
    /// The next call below of the topmost function, if a closure from outside of that call is between the two: the call, and the
    /// closure.
    fn called_back(&self) -> Option<(&Activation, BodyId)> {
        let top = self.slots.last().filter(|top| self.structure.body(top.activation.body).kind.is_named())?;
        let first = usize::try_from(top.below).ok().filter(|below| *below < self.slots.len())?;
        let between = self.slots.get(first..self.slots.len() - 1).filter(|between| between.len() <= MOST)?;
        let (outer, above) = between.split_first()?;
        let is_from_outside = |(place, slot): &(usize, &Slot)| {
            let body = self.structure.body(slot.activation.body);
            let is_open =
                |around: BodyId| between[..=*place].iter().any(|open| open.activation.body == around);
            let mut around = std::iter::successors(body.inside, |body| self.structure.body(*body).inside);
            body.kind == BodyKind::Closure
                && !around.any(is_open)
                // What the caller hands over in the call itself is in its sight.
                && (body.within.is_none() || body.within != outer.activation.called_from)
        };
        let (_, closure) = above.iter().enumerate().find(is_from_outside)?;
        Some((&outer.activation, closure.activation.body))
    }

    /// Whether a call may have ended at this statement.
    fn may_be_over(&self, statement: StatementId) -> bool {
        self.structure.may_end(statement)
    }
}
