//! What is recorded, and when, as the documents say it: which statements count, which bodies show that they were
//! entered, and which statements come before their record even in after mode.

use super::language::{Block, Cfg, Else, Expr, If, Kind, Stmt};

/// How sure one must be that control does not pass.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sure {
    Certainly,
    /// Endless loops and statements under `cfg` count too.
    Possibly,
}

/// `let` with initialiser, expression, macro call: yes. `let x;`, items, `;` alone: no.
pub fn executes(stmt: &Stmt) -> bool {
    matches!(stmt.kind, Kind::Let { .. } | Kind::Expr { .. })
}

/// A body with one of these needs no record of its own entry. `is_on`: whether recording is on there.
pub fn shows_itself(body: &Block, is_on: impl Fn(&Stmt) -> bool) -> bool {
    for stmt in &body.stmts {
        if executes(stmt) && is_on(stmt) && stmt.cfg.is_none() {
            return true;
        }
        if diverges(stmt, Sure::Certainly) {
            return false;
        }
    }
    false
}

/// In after mode this statement is recorded once it is done.
pub fn comes_after(block: &Block, index: usize) -> bool {
    index < first_tail(block) && !diverges(&block.stmts[index], Sure::Possibly)
}

/// The first statement that may be the value: the last one without `;`, and with `cfg` also those before it.
fn first_tail(block: &Block) -> usize {
    let mut first = block.stmts.len();
    for (index, stmt) in block.stmts.iter().enumerate().rev() {
        if matches!(stmt.kind, Kind::Expr { semi: false, .. }) {
            first = index;
        }
        let may_vanish = stmt.cfg.is_some();
        let is_nothing = matches!(stmt.kind, Kind::Function(_) | Kind::Const(..) | Kind::Directive(_));
        if !may_vanish && !is_nothing {
            break;
        }
    }
    first
}

fn diverges(stmt: &Stmt, sure: Sure) -> bool {
    let may_vanish = stmt.cfg.is_some() && sure == Sure::Certainly;
    match &stmt.kind {
        Kind::Expr { expr, .. } => !may_vanish && never_passes(expr, sure),
        _ => false,
    }
}

fn never_passes(expr: &Expr, sure: Sure) -> bool {
    match expr {
        Expr::Return(_) | Expr::Break(..) | Expr::Continue(_) | Expr::Panic => true,
        Expr::Loop(..) => sure == Sure::Possibly,
        Expr::Block(block) | Expr::Unsafe(block) => block_never_ends(block, sure),
        Expr::If(chain) => no_branch_ends(chain, sure),
        Expr::Match(_, arms) => arms.iter().all(|arm| never_passes(&arm.body, sure)),
        _ => false,
    }
}

fn block_never_ends(block: &Block, sure: Sure) -> bool {
    block.stmts.iter().any(|stmt| diverges(stmt, sure))
}

fn no_branch_ends(chain: &If, sure: Sure) -> bool {
    block_never_ends(&chain.then, sure)
        && match &chain.otherwise {
            None => false,
            Some(Else::Block(block)) => block_never_ends(block, sure),
            Some(Else::If(next)) => no_branch_ends(next, sure),
        }
}

/// Whether the compiler sees the statement at all.
pub fn is_kept(cfg: Option<Cfg>) -> bool {
    cfg != Some(Cfg::Dropped)
}
