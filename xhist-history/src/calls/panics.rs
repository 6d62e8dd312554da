//! The panics of one thread that are not known to be caught.

use super::activation::Activation;

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
    pub at: Vec<Activation>,
    /// How many activations of that stack are still there.
    depth: usize,
    /// No statement ran since the panic before: that one may not leave a destructor, so this one ends the process.
    is_abort: bool,
}

impl OpenPanic {
    /// Whether no statement ran since the panic before.
    pub fn is_abort(&self) -> bool {
        self.is_abort
    }
}

/// The panics of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Panics {
    count: usize,
    /// Those that are not known to be caught. Each further one happened while the one before was unwinding the stack.
    open: Vec<OpenPanic>,
    /// The newest one that was caught: it may be passed on.
    caught: Option<OpenPanic>,
    /// No statement ran since the newest one.
    is_newest: bool,
}

impl Panics {
    /// The thread panicked, with this stack of this depth.
    pub fn begin(&mut self, at: Vec<Activation>, depth: usize) {
        self.open.truncate(MAX_NESTED - 1);
        let is_abort = std::mem::replace(&mut self.is_newest, true) && !self.open.is_empty();
        self.open.push(OpenPanic { number: self.count, since: SincePanic::Unwinding, at, depth, is_abort });
        self.count += 1;
    }

    /// What came behind these panics is not known: the thread ran on for longer than its ring is.
    pub fn forget(&mut self) {
        *self = Panics { count: self.count, ..Panics::default() };
    }

    /// A statement ran.
    pub fn ran(&mut self) {
        self.is_newest = false;
    }

    /// The one that ended the thread, if one did. A panic in a destructor that runs because of another one was caught there:
    /// otherwise it ends the process by one more panic.
    pub fn end(&self) -> Option<&OpenPanic> {
        self.open.last().filter(|panic| panic.is_abort).or(self.open.first())
    }

    /// Those that are not known to be caught, the first one first.
    pub fn open(&self) -> &[OpenPanic] {
        &self.open
    }

    /// The number of the newest one that was caught, if it can be passed on.
    pub fn caught(&self) -> Option<usize> {
        self.caught.as_ref().map(|panic| panic.number)
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_nested_panics_the_first_ones_and_the_newest_are_kept() {
        let mut panics = Panics::default();
        (0..MAX_NESTED + 3).for_each(|depth| panics.begin(Vec::new(), depth));
        let numbers: Vec<usize> = panics.open().iter().map(|panic| panic.number).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, MAX_NESTED + 2]);
    }
}
