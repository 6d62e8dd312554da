//! The statements of a block: which of them get a call, where, and with which attributes.

use super::super::{attributes, diverge, edges};
use super::Walker;
use crate::site::{Insertion, Reason, SiteKind};
use diverge::Certainty;
use proc_macro2::Span;
use syn::visit::Visit as _;
use syn::{Attribute, Block, Expr, Stmt};

/// A statement that can be recorded.
struct RecordableStatement<'a> {
    kind: SiteKind,
    attributes: Vec<&'a Attribute>,
    first: Span,
    last: Span,
}

/// Whether the statement is recorded in every configuration.
struct Unconditional(bool);

impl Walker<'_> {
    /// Walks a block. Returns whether one of its own statements is recorded in every configuration.
    pub(super) fn block(&mut self, block: &Block) -> bool {
        self.branch(|walker| walker.statements(block))
    }

    fn statements(&mut self, block: &Block) -> bool {
        let has_own_braces = self.is_from_source(block.brace_token.span.open());
        let in_braces = self.expansions.in_braces;
        self.expansions.in_braces = has_own_braces;
        // In a block that a macro composed, any statement may be the value.
        let tail = if has_own_braces { tail_start(block) } else { 0 };
        let mut is_entry = std::mem::take(&mut self.checks.is_entry);
        let mut recorded = false;
        let mut unreachable = false;
        // The names that are bound at the start of the block; behind a statement under `cfg` they may be moved.
        let (mut entry, mut late) = (self.take_entry(), Vec::new());
        for (index, stmt) in block.stmts.iter().enumerate() {
            let after = self.options.records_after()
                && index < tail
                && entry.is_empty()
                && !diverge::statement(stmt, Certainty::Possibly);
            self.last_reason = None;
            let site = self.statement(stmt, after, unreachable);
            let reason = self.last_reason;
            match site {
                Some((_, Unconditional(false))) => late.append(&mut entry),
                _ if entry.is_empty() => {}
                _ => entry = self.enter_at(entry, stmt, site.as_ref().map(|(site, _)| *site), reason),
            }
            self.note_entry(site.as_ref().filter(|_| is_entry).map(|(site, _)| *site));
            // A statement under `cfg` does not prove that the body was entered.
            is_entry &= !matches!(site, Some((_, Unconditional(true))));
            recorded |= matches!(site, Some((_, Unconditional(true))));
            let awaits = self.checks.awaits_passed();
            self.visit_stmt(stmt);
            let site = site.map(|(site, _)| site);
            self.note_awaits(site, awaits);
            self.values_behind(stmt, site, reason, &block.stmts[index + 1..]);
            unreachable = unreachable || diverge::statement(stmt, Certainty::Certainly);
        }
        self.expansions.in_braces = in_braces;
        entry.append(&mut late);
        self.keep_entry(entry);
        recorded
    }

    /// Index of the statement's site if it is recorded, and whether it is in every configuration.
    fn statement(&mut self, stmt: &Stmt, after: bool, unreachable: bool) -> Option<(usize, Unconditional)> {
        let statement = statement(stmt)?;
        if !self.is_from_source(statement.first) || !self.is_from_source(statement.last) {
            return None;
        }
        let (first, end) = (self.start_of(statement.first), self.end_of(statement.last));
        let shape = if unreachable {
            Err(Reason::Unreachable)
        } else {
            attributes::carried(&statement.attributes).map(|attributes| {
                let at = if after { end } else { self.start(&statement.attributes, first) };
                Insertion::Call { at, attributes }
            })
        };
        let may_vanish = attributes::has_cfg(statement.attributes);
        let before = self.checks.clone();
        let site = self.site(statement.kind, first..end, shape)?;
        match may_vanish {
            true => self.checks.may_vanish(&before),
            false => self.checks.is_due = false,
        }
        self.note_resume(site, may_vanish);
        Some((site, Unconditional(!may_vanish)))
    }

    /// Offset for the hash: before the first statement of `main`, after leading items.
    pub(super) fn main_at(&self, block: &Block, attributes: &[Attribute]) -> Option<usize> {
        if block.stmts.is_empty() {
            return Some(self.after_head(block, attributes));
        }
        let statement = block.stmts.iter().find_map(statement)?;
        Some(self.start(&statement.attributes, self.start_of(statement.first)))
    }
}

/// The parts of a statement that executes something.
fn statement(stmt: &Stmt) -> Option<RecordableStatement<'_>> {
    match stmt {
        Stmt::Local(local) => local.init.as_ref().map(|_| RecordableStatement {
            kind: SiteKind::Let,
            attributes: local.attrs.iter().collect(),
            first: local.let_token.span,
            last: local.semi_token.span,
        }),
        Stmt::Expr(expr, semi) => {
            let last = edges::last_token(expr)?;
            Some(RecordableStatement {
                kind: if matches!(expr, Expr::Macro(_)) { SiteKind::Macro } else { SiteKind::Expr },
                attributes: edges::leading_attributes(expr),
                first: edges::first_token(expr)?,
                last: semi.as_ref().map_or(last, |semi| semi.span),
            })
        }
        Stmt::Macro(stmt) => Some(RecordableStatement {
            kind: SiteKind::Macro,
            attributes: stmt.attrs.iter().collect(),
            first: edges::path_first(&None, &stmt.mac.path)?,
            last: stmt.semi_token.as_ref().map_or(stmt.mac.delimiter.span().close(), |semi| semi.span),
        }),
        Stmt::Item(_) => None,
    }
}

/// Index of the first statement that may be the value of the block. With `cfg` there can be several.
fn tail_start(block: &Block) -> usize {
    let mut start = block.stmts.len();
    for (index, stmt) in block.stmts.iter().enumerate().rev() {
        let has_cfg = match stmt {
            Stmt::Item(_) => true,
            Stmt::Local(_) | Stmt::Expr(_, Some(_)) => statement_has_cfg(stmt),
            Stmt::Expr(_, None) => {
                start = index;
                statement_has_cfg(stmt)
            }
            Stmt::Macro(mac) => {
                if mac.semi_token.is_none() {
                    start = index;
                }
                statement_has_cfg(stmt)
            }
        };
        if !has_cfg {
            break;
        }
    }
    start
}

fn statement_has_cfg(stmt: &Stmt) -> bool {
    statement(stmt).is_some_and(|statement| attributes::has_cfg(statement.attributes))
}
