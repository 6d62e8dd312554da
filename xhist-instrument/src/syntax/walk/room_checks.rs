//! Decides which calls check for room in the ring. The other calls write without a check, so every loop and every
//! recursion needs one, and at least one in [`CALLS_PER_CHECK`] calls of a body checks.
//!
//! A check is *due* at the entry of a body or loop, and after a point to which the program may return late: an
//! `.await`, a `yield`, a call of the function itself. It stays due until a statement of the same block has it in
//! every configuration.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use std::rc::Rc;

/// Among this many consecutive calls of a body, one checks.
pub(super) const CALLS_PER_CHECK: u32 = 500;

/// The state of the checks at the current position.
#[derive(Clone, Default)]
pub(super) struct RoomChecks {
    /// The next statement has to check.
    pub is_due: bool,
    /// Consecutive statements without a check, on the longest path to here.
    pub run: u32,
    /// Room that the values of the current place have taken.
    pub value_room: u32,
    /// Number of points passed to which the program may return late.
    pub returns: u32,
    /// Number of `.await` passed.
    pub awaits: u32,
    /// Number of those that belong to a site.
    pub awaits_of_sites: u32,
    /// The next block is the body: its first statement is the entry.
    pub is_entry: bool,
    /// The enclosing body is async.
    pub is_async: bool,
    /// An `.await` may have been passed since the last statement: the next one says that the task goes on.
    pub is_resumed: bool,
    /// Name of the enclosing function.
    pub function: Option<Rc<str>>,
    /// Number of enclosing macro arguments in this body.
    pub arguments: u32,
}

/// Numbers of `.await` passed.
#[derive(Clone, Copy)]
pub(super) struct AwaitCounts {
    pub all: u32,
    pub of_sites: u32,
}

impl RoomChecks {
    pub fn awaits_passed(&self) -> AwaitCounts {
        AwaitCounts { all: self.awaits, of_sites: self.awaits_of_sites }
    }

    /// Whether the statement recorded now has to check.
    pub fn next(&mut self, always: bool) -> bool {
        let checks = always || self.is_due || self.run + 1 >= CALLS_PER_CHECK;
        self.run = if checks { 0 } else { self.run + 1 };
        checks
    }

    /// Takes the room of a value behind the call recorded last. Values count as several statements.
    pub fn take_room(&mut self, statements: u32) -> bool {
        let has_room = self.value_room + statements <= CALLS_PER_CHECK;
        if has_room {
            self.value_room += statements;
            self.run += statements;
        }
        has_room
    }

    /// The values of another place follow.
    pub fn start_values(&mut self) {
        self.value_room = 0;
    }

    /// The statement recorded last is under `cfg`, and so is its check.
    pub fn may_vanish(&mut self, before: &RoomChecks) {
        self.run = before.run + 1;
    }

    fn returned(&mut self) {
        self.is_due = true;
        self.returns = self.returns.wrapping_add(1);
    }

    pub fn awaited(&mut self) {
        self.returned();
        self.is_resumed = self.is_async;
        self.awaits = self.awaits.wrapping_add(1);
    }

    pub fn yielded(&mut self) {
        self.returned();
    }

    /// A function or method of this name is called.
    pub fn called(&mut self, name: &Ident) {
        if self.function.as_ref().is_some_and(|function| *name == **function) {
            self.returned();
        }
    }

    /// Passes unparsed tokens. In an async body, an unknown macro may expand to an `.await`.
    pub fn pass_tokens(&mut self, tokens: &TokenStream, is_known: bool) {
        if self.is_async && !is_known {
            self.returned();
        }
        let mut trees = tokens.clone().into_iter().peekable();
        let mut is_after_dot = false;
        while let Some(tree) = trees.next() {
            match &tree {
                TokenTree::Group(group) => self.pass_tokens(&group.stream(), true),
                TokenTree::Ident(word) if is_after_dot && word == "await" => self.awaited(),
                TokenTree::Ident(word) => {
                    let is_call = |next: &TokenTree| matches!(next, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
                    if trees.peek().is_some_and(is_call) {
                        self.called(word);
                    }
                }
                _ => {}
            }
            is_after_dot = matches!(&tree, TokenTree::Punct(mark) if mark.as_char() == '.');
        }
    }
}
