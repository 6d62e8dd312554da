//! Searches code for places where an async body may wait, beyond which a reference must not live.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprAsync, ExprAwait, ExprClosure, ExprYield, Item, Macro, Stmt};

/// Macros that do not wait, unless their arguments do. Any other may.
const PLAIN: [&str; 30] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "cfg",
    "concat",
    "dbg",
    "debug",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "env",
    "eprint",
    "eprintln",
    "error",
    "format",
    "format_args",
    "info",
    "line",
    "matches",
    "panic",
    "print",
    "println",
    "stringify",
    "todo",
    "trace",
    "unreachable",
    "vec",
    "warn",
    "write",
    "writeln",
];

/// Whether these statements may wait.
pub(super) fn statements_wait(statements: &[Stmt]) -> bool {
    let mut search = WaitSearch { found: false };
    statements.iter().for_each(|statement| search.visit_stmt(statement));
    search.found
}

/// Whether this block may wait.
pub(super) fn block_waits(block: &Block) -> bool {
    statements_wait(&block.stmts)
}

/// Whether this expression may wait.
pub(super) fn expression_waits(expr: &Expr) -> bool {
    let mut search = WaitSearch { found: false };
    search.visit_expr(expr);
    search.found
}

struct WaitSearch {
    found: bool,
}

impl<'ast> Visit<'ast> for WaitSearch {
    fn visit_expr(&mut self, node: &'ast Expr) {
        match node {
            _ if self.found => {}
            Expr::Verbatim(_) => self.found = true,
            _ => visit::visit_expr(self, node),
        }
    }

    fn visit_expr_await(&mut self, _: &'ast ExprAwait) {
        self.found = true;
    }

    fn visit_expr_yield(&mut self, _: &'ast ExprYield) {
        self.found = true;
    }

    fn visit_macro(&mut self, node: &'ast Macro) {
        let name = node.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        self.found |= !PLAIN.contains(&name.as_str()) || mentions_await(&node.tokens);
    }

    // Bodies of their own.
    fn visit_expr_async(&mut self, _: &'ast ExprAsync) {}
    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}
    fn visit_item(&mut self, _: &'ast Item) {}
}

fn mentions_await(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|tree| match tree {
        TokenTree::Group(group) => mentions_await(&group.stream()),
        TokenTree::Ident(word) => word == "await",
        TokenTree::Punct(mark) => mark.as_char() == '!',
        TokenTree::Literal(_) => false,
    })
}
