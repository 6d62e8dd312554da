//! The panics of one thread, and whether each of them was caught.
//!
//! A recorder writes a mark where a thread panics, and nothing where the panic is caught. The statements behind the mark
//! show it: an activation that was on the stack at the panic runs a further statement or makes a further call.
//! Destructors, the panic hook and the code that formats the message run behind the mark, too, and show nothing.

use super::activation::Activation;
use super::caller::Caller;
use super::stack::CallStack;
use super::structure::{Body, BodyId};

/// Activations that are kept of the stack at a panic, the innermost ones.
const MAX_AT_PANIC: usize = 10_000;
/// Panics in destructors that run because of another panic.
const MAX_NESTED: usize = 8;

/// What ran since a panic that is not known to be caught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SincePanic {
    /// Nothing but destructors, hooks, and what formats messages.
    Unwinding,
    /// The panic was caught, and then `resume_unwind` passed it on.
    PassedOn,
    /// Other functions ran, and nothing shows what called them.
    Unclear,
}

/// A panic that is not known to be caught.
#[derive(Clone, Debug)]
pub struct OpenPanic {
    /// Its number among the panics of the thread, from 0.
    pub number: usize,
    /// What ran since.
    pub since: SincePanic,
    /// The stack at the panic, the outermost activation first.
    at: Vec<Activation>,
    /// How many activations of that stack are still there.
    depth: usize,
}

/// The panics of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Panics {
    count: usize,
    /// Those that are not known to be caught. Each further one happened while the one before was unwinding the stack.
    open: Vec<OpenPanic>,
    /// The newest one that was caught: it may be passed on.
    caught: Option<OpenPanic>,
}

impl Panics {
    /// How many activations are left of the stack at the newest panic that is not known to be caught.
    pub fn depth(&self) -> Option<usize> {
        self.open.last().map(|panic| panic.depth)
    }

    /// The activations from this depth on were left.
    pub fn leave_above(&mut self, depth: usize) {
        self.open.iter_mut().for_each(|panic| panic.depth = panic.depth.min(depth));
    }

    /// The topmost activation of a stack of this depth goes on: panics that it outlived were caught.
    pub fn go_on(&mut self, depth: usize) {
        while let Some(caught) = self.open.pop_if(|panic| depth <= panic.depth) {
            self.caught = Some(caught);
        }
    }

    /// A function runs, and nothing shows what called it.
    pub fn unclear(&mut self) {
        self.open.iter_mut().for_each(|panic| panic.since = SincePanic::Unclear);
    }

    /// A statement at this depth passes a caught panic on.
    pub fn resume(&mut self, depth: usize) {
        let caught = self.caught.take();
        self.open.extend(caught.map(|panic| OpenPanic { since: SincePanic::PassedOn, depth, ..panic }));
    }
}

impl CallStack<'_> {
    /// The thread panicked.
    pub fn panic(&mut self) {
        let (number, depth) = (self.panics.count, self.slots.len());
        self.panics.count += 1;
        let first = depth.saturating_sub(MAX_AT_PANIC);
        let at = self.slots[first..].iter().map(|slot| slot.activation.clone()).collect();
        self.panics.open.truncate(MAX_NESTED - 1);
        self.panics.open.push(OpenPanic { number, since: SincePanic::Unwinding, at, depth });
    }

    /// The panics that are not known to be caught, the first one first.
    pub fn open_panics(&self) -> &[OpenPanic] {
        &self.panics.open
    }

    /// The number of the newest panic that was caught, if it can be passed on.
    pub fn caught_panic(&self) -> Option<usize> {
        self.panics.caught.as_ref().map(|panic| panic.number)
    }

    /// The functions that were entered and not left, the outermost first: those at the panic if the thread has died of
    /// one, else those on the stack. A bottom activation that has run its last statement is not open if the thread ended.
    pub fn open(&self, has_ended: bool) -> Vec<&Activation> {
        if let Some(panic) = self.panics.open.last() {
            return panic.at.iter().collect();
        }
        if has_ended && self.slots.iter().all(|slot| self.structure.may_end(slot.activation.statement)) {
            return Vec::new();
        }
        self.stack().collect()
    }

    /// A body is entered: whether that shows that a panic was caught.
    pub(super) fn enter_after_panic(&mut self, body: BodyId, caller: &Caller) {
        let is_guess = caller.call.is_none() && caller.is_uncertain;
        // What a destructor calls shows nothing.
        if self.panics.depth().is_none_or(|depth| caller.depth > depth && !is_guess) {
            return;
        }
        if body == self.structure.body_of(self.structure.unknown()) {
            return self.panics.unclear();
        }
        let known = self.structure.body(body);
        if known.is_drop() || known.formats() || self.is_hook(known) {
            return;
        }
        let is_called = caller.call.is_some() && !caller.is_uncertain;
        // An executor polls the next future, or all of the stack is left.
        if is_called || known.kind.is_async() || caller.depth == 0 {
            self.panics.go_on(caller.depth);
        } else {
            self.panics.unclear();
        }
    }

    /// Whether a closure is a panic hook.
    fn is_hook(&self, body: &Body) -> bool {
        body.within.is_some_and(|within| self.structure.info(within).sets_hook)
    }
}
