//! Whether a statement diverges, judged by syntax.

use syn::{Block, Expr, Macro, Stmt};

/// The certainty that the caller needs.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Certainty {
    /// Code after it never runs.
    Certainly,
    /// Code after it may never run: includes endless loops, and functions known never to return.
    Possibly,
}

/// Whether control never passes this statement.
pub(super) fn statement(stmt: &Stmt, sure: Certainty) -> bool {
    let has_cfg =
        |attrs: &[syn::Attribute]| sure == Certainty::Certainly && super::attributes::has_cfg(attrs);
    match stmt {
        Stmt::Expr(expr, _) => !has_cfg(super::edges::attributes(expr)) && expression(expr, sure),
        Stmt::Macro(stmt) => !has_cfg(&stmt.attrs) && macro_call(&stmt.mac),
        Stmt::Local(_) | Stmt::Item(_) => false,
    }
}

/// Whether control never passes this expression.
pub(super) fn expression(expr: &Expr, sure: Certainty) -> bool {
    match expr {
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => true,
        Expr::Macro(e) => macro_call(&e.mac),
        Expr::Block(e) => e.label.is_none() && block(&e.block, sure),
        Expr::Unsafe(e) => block(&e.block, sure),
        Expr::If(e) => match &e.else_branch {
            Some((_, otherwise)) => block(&e.then_branch, sure) && expression(otherwise, sure),
            None => false,
        },
        Expr::Match(e) => !e.arms.is_empty() && e.arms.iter().all(|arm| expression(&arm.body, sure)),
        Expr::Paren(e) => expression(&e.expr, sure),
        Expr::Loop(_) => sure == Certainty::Possibly,
        Expr::Call(e) => sure == Certainty::Possibly && never_returns(&e.func),
        _ => false,
    }
}

fn block(block: &Block, sure: Certainty) -> bool {
    block.stmts.iter().any(|stmt| statement(stmt, sure))
}

fn macro_call(mac: &Macro) -> bool {
    let name = mac.path.segments.last().map(|segment| segment.ident.to_string());
    matches!(name.as_deref(), Some("panic" | "unreachable" | "todo" | "unimplemented"))
}

fn never_returns(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    let name = path.path.segments.last().map(|segment| segment.ident.to_string());
    matches!(
        name.as_deref(),
        Some("exit" | "abort" | "panic_any" | "resume_unwind" | "unreachable_unchecked")
    )
}
