//! What statements behind a panic show: whether it was caught.
//!
//! A recorder writes a mark where a thread panics, and nothing where the panic is caught. The statements behind the mark
//! show it: an activation that was on the stack at the panic runs a further statement or makes a further call.
//! Destructors, the panic hook and the code that formats the message run behind the mark, too, and show nothing.

use super::activation::Activation;
use super::caller::Caller;
use super::panics::OpenPanic;
use super::stack::CallStack;
use super::structure::{Body, BodyId};

/// Activations that are kept of the stack at a panic, the innermost ones.
const MAX_AT_PANIC: usize = 10_000;

impl CallStack {
    /// The thread panicked.
    pub(super) fn panic(&mut self) {
        let depth = self.slots.len();
        let first = depth.saturating_sub(MAX_AT_PANIC);
        let at = self.slots[first..].iter().map(|slot| slot.activation.clone()).collect();
        self.panics.begin(at, depth);
    }

    /// The panics that are not known to be caught, the first one first.
    pub fn open_panics(&self) -> &[OpenPanic] {
        self.panics.open()
    }

    /// The panic that ended the thread, if one did.
    pub fn ending_panic(&self) -> Option<&OpenPanic> {
        self.panics.end()
    }

    /// Whether the panic before the newest one, which came at once, had left a destructor that ran because of another one: nothing
    /// in the destructor catches panics.
    pub fn left_destructor(&self) -> bool {
        let [_, .., before, last] = self.panics.open() else { return false };
        let catches = |call: &Activation| self.structure.info(call.statement).panics.catches;
        last.is_abort() && !before.at.iter().any(|call| call.in_unwinding && catches(call))
    }

    /// The number of the newest panic that was caught, if it can be passed on.
    pub fn caught_panic(&self) -> Option<usize> {
        self.panics.caught()
    }

    /// The functions that were entered and not left, the outermost first: those at the panic if the thread has died of
    /// one, else those on the stack. A bottom activation that has run its last statement is not open if the thread ended.
    pub fn open(&self, has_ended: bool) -> Vec<&Activation> {
        if let Some(panic) = self.panics.end() {
            return panic.at.iter().collect();
        }
        if has_ended && self.slots.iter().all(|slot| self.structure.may_end(slot.activation.statement)) {
            return Vec::new();
        }
        self.stack().collect()
    }

    /// A body is entered: whether that shows that a panic was caught.
    pub(super) fn enter_after_panic(&mut self, body: BodyId, is_entry: bool, caller: &Caller) {
        let is_guess = caller.call.is_none() && caller.is_uncertain;
        // What goes on without an activation was taken for ended. It shows nothing, unless it called all that was seen.
        if !is_entry && caller.depth > 0 && body != self.structure.body_of(self.structure.unknown()) {
            return;
        }
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
        body.within.is_some_and(|within| self.structure.info(within).panics.sets_hook)
    }
}
