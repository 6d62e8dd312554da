//! First and last token of an expression, found by walking down its left or right edge.
//! (`Spanned` converts the whole node to tokens, which takes quadratic time in nested code.)

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, Label, Lifetime, Path, PathArguments, QSelf, RangeLimits};

/// The sub-expression that an expression starts with.
pub(super) fn left_child(expr: &Expr) -> Option<&Expr> {
    Some(match expr {
        Expr::Assign(e) => &e.left,
        Expr::Await(e) => &e.base,
        Expr::Binary(e) => &e.left,
        Expr::Call(e) => &e.func,
        Expr::Cast(e) => &e.expr,
        Expr::Field(e) => &e.base,
        // A macro argument in an expansion.
        Expr::Group(e) => &e.expr,
        Expr::Index(e) => &e.expr,
        Expr::MethodCall(e) => &e.receiver,
        Expr::Range(e) => e.start.as_deref()?,
        Expr::Try(e) => &e.expr,
        _ => return None,
    })
}

/// The sub-expression that an expression ends with.
fn right_child(expr: &Expr) -> Option<&Expr> {
    Some(match expr {
        Expr::Assign(e) => &e.right,
        Expr::Binary(e) => &e.right,
        Expr::Break(e) => e.expr.as_deref()?,
        Expr::Closure(e) => &e.body,
        Expr::Group(e) => &e.expr,
        Expr::If(e) => &e.else_branch.as_ref()?.1,
        Expr::Let(e) => &e.expr,
        Expr::Range(e) => e.end.as_deref()?,
        Expr::RawAddr(e) => &e.expr,
        Expr::Reference(e) => &e.expr,
        Expr::Return(e) => e.expr.as_deref()?,
        Expr::Unary(e) => &e.expr,
        Expr::Yield(e) => e.expr.as_deref()?,
        _ => return None,
    })
}

/// The expression, its first sub-expression, the first sub-expression of that, and so on.
pub(super) fn left_edge(expr: &Expr) -> impl Iterator<Item = &Expr> {
    std::iter::successors(Some(expr), |expr| left_child(expr))
}

/// First token after the attributes; `None` for syntax that the parser keeps as tokens.
pub(super) fn first_token(expr: &Expr) -> Option<Span> {
    own_first(left_edge(expr).last()?)
}

/// Last token; `None` for syntax that the parser keeps as tokens.
pub(super) fn last_token(expr: &Expr) -> Option<Span> {
    own_last(std::iter::successors(Some(expr), |expr| right_child(expr)).last()?)
}

/// The outer attributes before the first token. The parser attaches them to the innermost expression of the left
/// edge.
pub(super) fn leading_attributes(expr: &Expr) -> Vec<&Attribute> {
    left_edge(expr).flat_map(attributes).filter(|attribute| super::attributes::is_outer(attribute)).collect()
}

fn own_first(expr: &Expr) -> Option<Span> {
    Some(match expr {
        Expr::Array(e) => e.bracket_token.span.open(),
        Expr::Async(e) => e.async_token.span,
        Expr::Block(e) => labelled(&e.label, e.block.brace_token.span.open()),
        Expr::Break(e) => e.break_token.span,
        Expr::Closure(e) => closure_first(e),
        Expr::Const(e) => e.const_token.span,
        Expr::Continue(e) => e.continue_token.span,
        Expr::ForLoop(e) => labelled(&e.label, e.for_token.span),
        Expr::If(e) => e.if_token.span,
        Expr::Infer(e) => e.underscore_token.span,
        Expr::Let(e) => e.let_token.span,
        Expr::Lit(e) => e.lit.span(),
        Expr::Loop(e) => labelled(&e.label, e.loop_token.span),
        Expr::Macro(e) => path_first(&None, &e.mac.path)?,
        Expr::Match(e) => e.match_token.span,
        Expr::Paren(e) => e.paren_token.span.open(),
        Expr::Path(e) => path_first(&e.qself, &e.path)?,
        Expr::Range(e) => limits(&e.limits).0,
        Expr::RawAddr(e) => e.and_token.span,
        Expr::Reference(e) => e.and_token.span,
        Expr::Repeat(e) => e.bracket_token.span.open(),
        Expr::Return(e) => e.return_token.span,
        Expr::Struct(e) => path_first(&e.qself, &e.path)?,
        Expr::TryBlock(e) => e.try_token.span,
        Expr::Tuple(e) => e.paren_token.span.open(),
        Expr::Unary(e) => e.op.span(),
        Expr::Unsafe(e) => e.unsafe_token.span,
        Expr::While(e) => labelled(&e.label, e.while_token.span),
        Expr::Yield(e) => e.yield_token.span,
        _ => return None,
    })
}

fn own_last(expr: &Expr) -> Option<Span> {
    Some(match expr {
        Expr::Array(e) => e.bracket_token.span.close(),
        Expr::Async(e) => e.block.brace_token.span.close(),
        Expr::Await(e) => e.await_token.span,
        Expr::Block(e) => e.block.brace_token.span.close(),
        Expr::Break(e) => jump_last(&e.label, e.break_token.span),
        Expr::Call(e) => e.paren_token.span.close(),
        Expr::Cast(e) => e.ty.span(),
        Expr::Const(e) => e.block.brace_token.span.close(),
        Expr::Continue(e) => jump_last(&e.label, e.continue_token.span),
        Expr::Field(e) => e.member.span(),
        Expr::ForLoop(e) => e.body.brace_token.span.close(),
        Expr::If(e) => e.then_branch.brace_token.span.close(),
        Expr::Index(e) => e.bracket_token.span.close(),
        Expr::Infer(e) => e.underscore_token.span,
        Expr::Lit(e) => e.lit.span(),
        Expr::Loop(e) => e.body.brace_token.span.close(),
        Expr::Macro(e) => e.mac.delimiter.span().close(),
        Expr::Match(e) => e.brace_token.span.close(),
        Expr::MethodCall(e) => e.paren_token.span.close(),
        Expr::Paren(e) => e.paren_token.span.close(),
        Expr::Path(e) => path_last(&e.path)?,
        Expr::Range(e) => limits(&e.limits).1,
        Expr::Repeat(e) => e.bracket_token.span.close(),
        Expr::Return(e) => e.return_token.span,
        Expr::Struct(e) => e.brace_token.span.close(),
        Expr::Try(e) => e.question_token.span,
        Expr::TryBlock(e) => e.block.brace_token.span.close(),
        Expr::Tuple(e) => e.paren_token.span.close(),
        Expr::Unsafe(e) => e.block.brace_token.span.close(),
        Expr::While(e) => e.body.brace_token.span.close(),
        Expr::Yield(e) => e.yield_token.span,
        _ => return None,
    })
}

fn labelled(label: &Option<Label>, otherwise: Span) -> Span {
    label.as_ref().map_or(otherwise, |label| label.name.apostrophe)
}

fn jump_last(label: &Option<Lifetime>, otherwise: Span) -> Span {
    label.as_ref().map_or(otherwise, |label| label.ident.span())
}

fn closure_first(closure: &syn::ExprClosure) -> Span {
    let keywords = [
        closure.lifetimes.as_ref().map(|lifetimes| lifetimes.for_token.span),
        closure.constness.as_ref().map(|token| token.span),
        closure.asyncness.as_ref().map(|token| token.span),
        closure.capture.as_ref().map(|token| token.span),
    ];
    keywords.into_iter().flatten().next().unwrap_or(closure.inputs_begin.span)
}

pub(super) fn path_first(qself: &Option<QSelf>, path: &Path) -> Option<Span> {
    if let Some(qself) = qself {
        return Some(qself.lt_token.span);
    }
    match &path.leading_colon {
        Some(colons) => Some(colons.spans[0]),
        None => Some(path.segments.first()?.ident.span()),
    }
}

fn path_last(path: &Path) -> Option<Span> {
    let segment = path.segments.last()?;
    Some(match &segment.arguments {
        PathArguments::None => segment.ident.span(),
        PathArguments::AngleBracketed(arguments) => arguments.gt_token.span,
        PathArguments::Parenthesized(arguments) => arguments.span(),
    })
}

/// First and last character of `..` or `..=`.
fn limits(limits: &RangeLimits) -> (Span, Span) {
    match limits {
        RangeLimits::HalfOpen(token) => (token.spans[0], token.spans[1]),
        RangeLimits::Closed(token) => (token.spans[0], token.spans[2]),
    }
}

/// The attributes of an expression.
pub(super) fn attributes(expr: &Expr) -> &[Attribute] {
    macro_rules! of {
        ($($variant:ident)*) => {
            match expr {
                $(Expr::$variant(e) => &e.attrs,)*
                _ => &[],
            }
        };
    }
    of!(Array Assign Async Await Binary Block Break Call Cast Closure Const Continue Field ForLoop Group If Index
        Infer Let Lit Loop Macro Match MethodCall Paren Path Range RawAddr Reference Repeat Return Struct Try TryBlock
        Tuple Unary Unsafe While Yield)
}
