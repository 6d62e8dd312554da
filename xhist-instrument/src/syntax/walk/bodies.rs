//! Bodies, branches and loops: their effect on the room checks, and the flags of their sites.

use super::Walker;
use super::room_checks::{AwaitCounts, RoomChecks};
use crate::site::TaskBody;
use proc_macro2::{Ident, TokenStream, TokenTree};
use std::rc::Rc;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, ExprAsync, ExprAwait, ExprClosure, Item, Macro, Path};

/// Macros that wait for the futures in their arguments.
const WAITING: [&str; 6] = ["select", "select_biased", "join", "try_join", "poll", "pending"];

impl Walker<'_> {
    /// Runs `work` on the body of a function, a closure or an async block, which starts its own checks.
    pub(super) fn separate_body(
        &mut self,
        is_async: bool,
        function: Option<&Ident>,
        work: impl FnOnce(&mut Self),
    ) -> RoomChecks {
        let name = function.map(|name| Rc::from(name.to_string()));
        let function = name.or_else(|| self.checks.function.clone());
        let inner = RoomChecks { is_due: true, is_entry: true, is_async, function, ..RoomChecks::default() };
        let outer = std::mem::replace(&mut self.checks, inner);
        let repeated_from = self.repeated_from.take();
        work(self);
        self.repeated_from = repeated_from;
        std::mem::replace(&mut self.checks, outer)
    }

    /// [`Walker::separate_body`] of an async body, whose tasks are recorded if it has an `.await`.
    pub(super) fn async_body(
        &mut self,
        function: Option<&Ident>,
        (block, attributes): (&Block, &[Attribute]),
        work: impl FnOnce(&mut Self),
    ) {
        let outer = std::mem::take(&mut self.resumes);
        let checks = self.separate_body(true, function, work);
        let resumes = std::mem::replace(&mut self.resumes, outer);
        let is_skipped = self.skipped_as.or(self.constant).is_some();
        // What a macro makes of a variable in its arguments is not known.
        if checks.awaits == 0 || is_skipped || self.expansions.is_under_way() {
            return;
        }
        let braces = &block.brace_token.span;
        let body = self.start_of(braces.open())..self.end_of(braces.close());
        if let Some(at) = self.main_at(block, attributes)
            && !self.code.directives.is_off(self.code.lines.line(at))
        {
            self.found.tasks.push(TaskBody { at, body, resumes });
        }
    }

    /// The statement at this site may follow an `.await`. One under `cfg` does not in every configuration.
    pub(super) fn note_resume(&mut self, site: usize, may_vanish: bool) {
        if self.checks.is_resumed && self.checks.arguments == 0 && !self.expansions.is_under_way() {
            self.resumes.push(self.found.sites[site].range.start);
            self.checks.is_resumed = may_vanish;
        }
    }

    /// Passes a call of this macro, which may wait.
    pub(super) fn pass_macro(&mut self, path: &Path) {
        if self.checks.is_async && waits(path) {
            self.checks.awaited();
        }
    }

    /// Runs `work` on code that may not run, such as a match arm.
    pub(super) fn branch<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let RoomChecks { is_due, run, returns, arguments, is_resumed, awaits, .. } = self.checks;
        // A macro may run a block of its arguments several times.
        self.checks.is_due |= arguments > 0;
        let result = work(self);
        self.checks.is_due = is_due || self.checks.returns != returns;
        self.checks.run = self.checks.run.max(run);
        self.checks.is_resumed = is_resumed || self.checks.awaits != awaits;
        result
    }

    /// Runs `work` on the body of a loop. `block` is its block.
    pub(super) fn loop_body<R>(&mut self, block: Option<&Block>, work: impl FnOnce(&mut Self) -> R) -> R {
        self.branch(|walker| {
            walker.checks.is_due = true;
            walker.checks.is_resumed |= walker.checks.is_async && block.is_some_and(awaits);
            work(walker)
        })
    }

    /// Runs `work` on the arguments of a macro.
    pub(super) fn arguments<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        self.checks.arguments += 1;
        let result = self.branch(work);
        self.checks.arguments -= 1;
        result
    }

    /// Marks a site as an entry.
    pub(super) fn note_entry(&mut self, site: Option<usize>) {
        if let Some(site) = site {
            self.found.sites[site].recorded = true;
        }
    }

    /// Marks the site if an `.await` was passed since the counts were `before`, other than those of the sites inside it.
    pub(super) fn note_awaits(&mut self, site: Option<usize>, before: AwaitCounts) {
        let passed = self.checks.awaits_passed();
        let own =
            passed.all.wrapping_sub(before.all).wrapping_sub(passed.of_sites.wrapping_sub(before.of_sites));
        if let Some(site) = site.filter(|_| own != 0) {
            self.found.sites[site].awaits = true;
            self.checks.awaits_of_sites = passed.of_sites.wrapping_add(own);
        }
    }
}

fn waits(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| WAITING.iter().any(|known| last.ident == known))
}

/// Whether a block has an `.await` of its own body.
fn awaits(block: &Block) -> bool {
    let mut search = AwaitSearch { found: false };
    search.visit_block(block);
    search.found
}

struct AwaitSearch {
    found: bool,
}

impl<'ast> Visit<'ast> for AwaitSearch {
    fn visit_expr(&mut self, node: &'ast Expr) {
        if !self.found {
            visit::visit_expr(self, node);
        }
    }

    fn visit_expr_await(&mut self, _: &'ast ExprAwait) {
        self.found = true;
    }

    fn visit_macro(&mut self, node: &'ast Macro) {
        self.found |= waits(&node.path) || has_await(&node.tokens);
    }

    // Bodies of their own.
    fn visit_expr_async(&mut self, _: &'ast ExprAsync) {}
    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}
    fn visit_item(&mut self, _: &'ast Item) {}
}

fn has_await(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|tree| match tree {
        TokenTree::Group(group) => has_await(&group.stream()),
        TokenTree::Ident(word) => word == "await",
        _ => false,
    })
}
