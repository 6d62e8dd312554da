//! Expressions that become blocks: when is the expression still one behind a statement?

use super::edges::{left_child, left_edge};
use syn::{Attribute, Block, Expr, MacroDelimiter};

/// The block of an arm or closure that needs no wrapping, and the attributes that may stand inside it.
pub(super) fn own_block(body: &Expr) -> Option<(&Block, &[Attribute])> {
    let (block, attributes) = match body {
        Expr::Block(e) => (&e.block, &e.attrs),
        Expr::Unsafe(e) => (&e.block, &e.attrs),
        Expr::Group(e) => return own_block(&e.expr),
        _ => return None,
    };
    (!attributes.iter().any(super::attributes::is_outer)).then_some((block, attributes))
}

/// In statement position a leading block ends the statement: `match x {..} + 1` would fall apart.
pub(super) fn needs_parens(expr: &Expr) -> bool {
    left_edge(expr).any(|expr| goes_on_as_operator(expr) && left_child(expr).is_some_and(ends_statement))
}

/// Continues its left child in a way that a statement does not.
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
