//! Functions that a handler entered again while a call of them was open in what it interrupted.

use super::stack::CallStack;
use super::structure::{BodyId, StatementId};

/// Kinds that are kept; the others are counted.
const MOST: usize = 64;

/// A function that was entered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reentry {
    /// The function.
    pub body: BodyId,
    /// The handler.
    pub handler: BodyId,
    /// The statement that the interrupted call was at.
    pub at: StatementId,
    /// What the interrupted call ran next. `None`: nothing, so it may have been over.
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
    /// A statement ran; `entered` calls at the top of the stack are new.
    pub fn step(&mut self, stack: &CallStack<'_>, entered: usize, now: u64) {
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
        if entered == 0 || floor == 0 {
            return;
        }
        let Some((top, handler)) = stack.top().zip(stack.stack().nth(floor)) else { return };
        let mut below = stack.stack().rev().skip(stack.depth() - floor).take(MOST);
        if let Some(outer) = below.find(|outer| outer.body == top.body) {
            let (body, handler, at) = (top.body, handler.body, outer.statement);
            self.waiting.push((outer.id, Reentry { body, handler, at, next: None, times: 1, since: now }));
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
