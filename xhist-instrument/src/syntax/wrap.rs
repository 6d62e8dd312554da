//! Expressions that become blocks, and whether they need parentheses there.

use super::edges::{left_child, left_edge};
use syn::{Attribute, Block, Expr, MacroDelimiter};

/// The block of an arm or closure that has one, with its inner attributes.
pub(super) fn existing_block(body: &Expr) -> Option<(&Block, &[Attribute])> {
    let (block, attributes) = match body {
        Expr::Block(e) => (&e.block, &e.attrs),
        Expr::Unsafe(e) => (&e.block, &e.attrs),
        Expr::Group(e) => return existing_block(&e.expr),
        _ => return None,
    };
    (!attributes.iter().any(super::attributes::is_outer)).then_some((block, attributes))
}

/// Whether the expression needs parentheses as a statement, where a leading block ends the statement: `match x {..} +
/// 1`.
pub(super) fn needs_parens(expr: &Expr) -> bool {
    left_edge(expr).any(|expr| goes_on_as_operator(expr) && left_child(expr).is_some_and(ends_statement))
}

/// Whether an operator continues the left sub-expression. A statement would end there.
fn goes_on_as_operator(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Call(_) | Expr::Index(_) | Expr::Cast(_) | Expr::Binary(_) | Expr::Assign(_) | Expr::Range(_)
    )
}

fn ends_statement(expr: &Expr) -> bool {
    match expr {
        Expr::Block(_) | Expr::Unsafe(_) | Expr::Const(_) | Expr::TryBlock(_) => true,
        Expr::If(_) | Expr::Match(_) | Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) => true,
        Expr::Macro(e) => matches!(e.mac.delimiter, MacroDelimiter::Brace(_)),
        _ => false,
    }
}
