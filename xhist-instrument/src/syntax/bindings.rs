//! The names that patterns bind, and types and expressions whose values are copied when they are used.

use crate::site::value_site::ValueReason;
use proc_macro2::Ident;
use syn::{BinOp, Expr, Pat, Type};

/// Types of the language that are `Copy`.
const PRIMITIVES: [&str; 16] = [
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64",
    "u128", "usize",
];

/// A name in a pattern.
pub(super) struct Bound<'a> {
    pub ident: &'a Ident,
    /// Why its value cannot be recorded.
    pub refused: Option<ValueReason>,
}

/// Adds the names that a pattern binds. Of alternatives, all bind the same names.
pub(super) fn bound<'a>(pattern: &'a Pat, into: &mut Vec<Bound<'a>>) {
    let mut each = |patterns: &mut dyn Iterator<Item = &'a Pat>| patterns.for_each(|each| bound(each, into));
    match pattern {
        Pat::Ident(name) => {
            let is_bare = name.by_ref.is_none() && name.mutability.is_none() && name.subpat.is_none();
            let has_capital = name.ident.to_string().starts_with(char::is_uppercase);
            let refused = if is_bare && has_capital {
                Some(ValueReason::MaybeConstant)
            } else {
                (!name.attrs.is_empty()).then_some(ValueReason::Attributes)
            };
            into.push(Bound { ident: &name.ident, refused });
            if let Some((_, inner)) = &name.subpat {
                bound(inner, into);
            }
        }
        Pat::Struct(fields) => {
            for field in &fields.fields {
                let first = into.len();
                bound(&field.pat, into);
                if !field.attrs.is_empty() {
                    into[first..].iter_mut().for_each(|name| name.refused = Some(ValueReason::Attributes));
                }
            }
        }
        Pat::Guard(guarded) => {
            bound(&guarded.pat, into);
            in_condition(&guarded.guard, into);
        }
        Pat::Or(alternatives) => each(&mut alternatives.cases.iter().take(1)),
        Pat::Paren(inner) => bound(&inner.pat, into),
        Pat::Reference(inner) => bound(&inner.pat, into),
        Pat::Type(typed) => bound(&typed.pat, into),
        Pat::Slice(elements) => each(&mut elements.elems.iter()),
        Pat::Tuple(elements) => each(&mut elements.elems.iter()),
        Pat::TupleStruct(elements) => each(&mut elements.elems.iter()),
        _ => {}
    }
}

/// Adds the names that the `let`s of a condition bind.
pub(super) fn in_condition<'a>(condition: &'a Expr, into: &mut Vec<Bound<'a>>) {
    match condition {
        Expr::Let(condition) => bound(&condition.pat, into),
        Expr::Binary(both) if matches!(both.op, BinOp::And(_)) => {
            in_condition(&both.left, into);
            in_condition(&both.right, into);
        }
        _ => {}
    }
}

/// Whether a pattern is one name, and its value is copied when it is used: by its type, or by its first value.
pub(super) fn is_copied(pattern: &Pat, value: Option<&Expr>) -> bool {
    match pattern {
        Pat::Type(typed) => is_name(&typed.pat) && (is_copy(&typed.ty) || value.is_some_and(makes_copy)),
        pattern => is_name(pattern) && value.is_some_and(makes_copy),
    }
}

/// Whether a pattern is one name whose value is a reference, by its type or else by how the value is written. What it refers
/// to need not be known.
pub(super) fn is_bound_to_reference(pattern: &Pat, value: Option<&Expr>) -> bool {
    match pattern {
        Pat::Type(typed) => is_name(&typed.pat) && is_reference(&typed.ty),
        pattern => is_name(pattern) && value.is_some_and(makes_reference),
    }
}

/// Whether the text of a type is that of a reference.
pub(super) fn is_reference(of: &Type) -> bool {
    match of {
        Type::Reference(_) => true,
        Type::Paren(inner) => is_reference(&inner.elem),
        Type::Group(inner) => is_reference(&inner.elem),
        _ => false,
    }
}

fn makes_reference(expr: &Expr) -> bool {
    match expr {
        Expr::Reference(_) => true,
        Expr::Paren(inner) => makes_reference(&inner.expr),
        _ => false,
    }
}

fn is_name(pattern: &Pat) -> bool {
    matches!(pattern, Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none())
}

/// Whether the text of a type says that it is `Copy`.
pub(super) fn is_copy(of: &Type) -> bool {
    match of {
        Type::Reference(reference) => reference.mutability.is_none(),
        Type::Ptr(_) => true,
        Type::Paren(inner) => is_copy(&inner.elem),
        Type::Group(inner) => is_copy(&inner.elem),
        Type::Path(path) => {
            path.qself.is_none()
                && path.path.get_ident().is_some_and(|name| PRIMITIVES.iter().any(|known| name == known))
        }
        _ => false,
    }
}

/// Whether the value of an expression is `Copy`, whatever its operands are.
fn makes_copy(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) => true,
        Expr::Reference(reference) => reference.mutability.is_none(),
        Expr::Cast(cast) => is_copy(&cast.ty),
        Expr::Paren(inner) => makes_copy(&inner.expr),
        Expr::Unary(unary) => matches!(&*unary.expr, Expr::Lit(_)),
        Expr::Binary(binary) => {
            use BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
            matches!(binary.op, And(_) | Eq(_) | Ge(_) | Gt(_) | Le(_) | Lt(_) | Ne(_) | Or(_))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_pattern_is_found_once() {
        let text = "A { a, b: (c, ref d), #[cfg(x)] e, .. } | A { .. }";
        let pattern: syn::Arm = syn::parse_str(&format!("{text} => ()")).unwrap();
        let mut names = Vec::new();
        bound(&pattern.pat, &mut names);
        let names: Vec<_> = names.iter().map(|name| (name.ident.to_string(), name.refused)).collect();
        let plain = |name: &str| (name.to_owned(), None);
        let refused = ("e".to_owned(), Some(ValueReason::Attributes));
        assert_eq!(names, [plain("a"), plain("c"), plain("d"), refused]);
    }

    #[test]
    fn references_are_known_by_the_text_of_the_source() {
        let is_one = |text: &str| match syn::parse_str::<syn::Stmt>(text).unwrap() {
            syn::Stmt::Local(local) => {
                is_bound_to_reference(&local.pat, local.init.as_ref().map(|init| &*init.expr))
            }
            _ => panic!("not a let"),
        };
        for text in ["let a = &b;", "let mut a = (&mut b);", "let a: &T = f();", "let a: &mut [u8] = f();"] {
            assert!(is_one(text), "{text}");
        }
        for text in [
            "let a = f();",
            "let a: R = &b;",
            "let (a, b) = &c;",
            "let a = &raw const b;",
            "let ref a = b;",
            "let a = *&b;",
        ] {
            assert!(!is_one(text), "{text}");
        }
    }

    #[test]
    fn types_and_values_that_are_copied_are_known() {
        let copied = |text: &str| match syn::parse_str::<syn::Stmt>(text).unwrap() {
            syn::Stmt::Local(local) => is_copied(&local.pat, local.init.as_ref().map(|init| &*init.expr)),
            _ => panic!("not a let"),
        };
        for text in
            ["let a = 1;", "let a: u8 = f();", "let mut a = x == y;", "let a = &x;", "let a = x as u8;"]
        {
            assert!(copied(text), "{text}");
        }
        for text in
            ["let a = f();", "let a: T = f();", "let a = &mut x;", "let ref a = 1;", "let (a, b) = &x;"]
        {
            assert!(!copied(text), "{text}");
        }
    }
}
