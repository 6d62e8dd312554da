//! Which calls check for room. The recorder writes without looking where a call does not check, so there is a check on
//! every way round, and one at the latest behind each [`MOST_WITHOUT`] calls.
//!
//! A check is *due* at the entry of a body or a loop, and behind what the program may come back to late: an `.await`, a
//! `yield`, a call of the function itself. It stays due until a statement of the same block has it whatever is configured.

use super::Walker;
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use std::rc::Rc;

/// Calls in a row of one body, of which the last checks.
const MOST_WITHOUT: u32 = 500;

/// What is known at the current place.
#[derive(Clone, Default)]
pub(super) struct Checks {
    /// The next statement has to check.
    pub is_due: bool,
    /// Statements in a row that do not check, on the longest way here.
    run: u32,
    /// How often something was passed that the program may come back to late.
    returns: u32,
    /// How many `.await` were passed.
    pub awaits: u32,
    /// The block to come is the body: its first statement is the entry.
    pub is_entry: bool,
    /// The body around the current place is async.
    is_async: bool,
    /// Name of the function around.
    function: Option<Rc<str>>,
    /// Arguments of macros around the current place, in this body.
    arguments: u32,
}

impl Checks {
    /// Whether the statement that is recorded now has to check.
    pub fn next(&mut self, always: bool) -> bool {
        let checks = always || self.is_due || self.run + 1 >= MOST_WITHOUT;
        self.run = if checks { 0 } else { self.run + 1 };
        checks
    }

    /// The statement that was recorded last may vanish, and its check with it.
    pub fn may_vanish(&mut self, before: &Checks) {
        self.run = before.run + 1;
    }

    fn returned(&mut self) {
        self.is_due = true;
        self.returns = self.returns.wrapping_add(1);
    }

    pub fn awaited(&mut self) {
        self.returned();
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

    /// Tokens that nobody parses. What an unknown macro makes of them may wait, in an async body.
    pub fn saw(&mut self, tokens: &TokenStream, is_known: bool) {
        if self.is_async && !is_known {
            self.returned();
        }
        let mut trees = tokens.clone().into_iter().peekable();
        let mut is_behind_dot = false;
        while let Some(tree) = trees.next() {
            match &tree {
                TokenTree::Group(group) => self.saw(&group.stream(), true),
                TokenTree::Ident(word) if is_behind_dot && word == "await" => self.awaited(),
                TokenTree::Ident(word) => {
                    let is_call = |next: &TokenTree| matches!(next, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
                    if trees.peek().is_some_and(is_call) {
                        self.called(word);
                    }
                }
                _ => {}
            }
            is_behind_dot = matches!(&tree, TokenTree::Punct(mark) if mark.as_char() == '.');
        }
    }
}

impl Walker<'_> {
    /// Runs `work` on the body of a function, a closure or an async block, which is a world of its own.
    pub(super) fn own_body(
        &mut self,
        is_async: bool,
        function: Option<&Ident>,
        work: impl FnOnce(&mut Self),
    ) {
        let name = function.map(|name| Rc::from(name.to_string()));
        let function = name.or_else(|| self.checks.function.clone());
        let inner = Checks { is_due: true, is_entry: true, is_async, function, ..Checks::default() };
        let outer = std::mem::replace(&mut self.checks, inner);
        work(self);
        self.checks = outer;
    }

    /// Runs `work` on what may not run, such as an arm.
    pub(super) fn branch<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let Checks { is_due, run, returns, arguments, .. } = self.checks;
        // A macro may run a block of its arguments several times.
        self.checks.is_due |= arguments > 0;
        let result = work(self);
        self.checks.is_due = is_due || self.checks.returns != returns;
        self.checks.run = self.checks.run.max(run);
        result
    }

    /// The same for what runs again and again.
    pub(super) fn round<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        self.branch(|walker| {
            walker.checks.is_due = true;
            work(walker)
        })
    }

    /// The same for the arguments of a macro.
    pub(super) fn arguments<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        self.checks.arguments += 1;
        let result = self.branch(work);
        self.checks.arguments -= 1;
        result
    }

    /// Notes that a site is an entry.
    pub(super) fn note_entry(&mut self, site: Option<usize>) {
        if let Some(site) = site {
            self.found.sites[site].recorded = true;
        }
    }

    /// Notes in a site what was passed since.
    pub(super) fn note_awaits(&mut self, site: Option<usize>, before: u32) {
        if let Some(site) = site.filter(|_| self.checks.awaits != before) {
            self.found.sites[site].awaits = true;
        }
    }
}
