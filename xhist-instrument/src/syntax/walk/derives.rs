//! Notes what runs without being named: implementations that an operator calls, and those that derived code calls.

use super::super::token_scan;
use super::Walker;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use std::collections::BTreeSet;
use syn::spanned::Spanned as _;
use syn::visit::Visit;
use syn::{Attribute, BinOp, Field, UnOp};

/// Derived traits of the standard library whose methods call those of the fields.
const DERIVED: [&str; 8] = ["Clone", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

impl Walker<'_> {
    /// Notes an operator by the trait that its implementation is of.
    pub(super) fn note_operator(&mut self, at: Span, of_trait: &str) {
        self.note_call(at, format!("@{of_trait}"));
    }

    pub(super) fn note_binary(&mut self, op: &BinOp) {
        let of_trait = match op {
            BinOp::Add(_) => "Add",
            BinOp::Sub(_) => "Sub",
            BinOp::Mul(_) => "Mul",
            BinOp::Div(_) => "Div",
            BinOp::Rem(_) => "Rem",
            BinOp::BitXor(_) => "BitXor",
            BinOp::BitAnd(_) => "BitAnd",
            BinOp::BitOr(_) => "BitOr",
            BinOp::Shl(_) => "Shl",
            BinOp::Shr(_) => "Shr",
            BinOp::Eq(_) | BinOp::Ne(_) => "PartialEq",
            BinOp::Lt(_) | BinOp::Le(_) | BinOp::Ge(_) | BinOp::Gt(_) => "PartialOrd",
            BinOp::AddAssign(_) => "AddAssign",
            BinOp::SubAssign(_) => "SubAssign",
            BinOp::MulAssign(_) => "MulAssign",
            BinOp::DivAssign(_) => "DivAssign",
            BinOp::RemAssign(_) => "RemAssign",
            BinOp::BitXorAssign(_) => "BitXorAssign",
            BinOp::BitAndAssign(_) => "BitAndAssign",
            BinOp::BitOrAssign(_) => "BitOrAssign",
            BinOp::ShlAssign(_) => "ShlAssign",
            BinOp::ShrAssign(_) => "ShrAssign",
            // `&&` and `||` have no trait.
            _ => return,
        };
        self.note_operator(op.span(), of_trait);
    }

    pub(super) fn note_unary(&mut self, op: &UnOp) {
        match op {
            UnOp::Not(not) => self.note_operator(not.span(), "Not"),
            UnOp::Neg(minus) => self.note_operator(minus.span(), "Neg"),
            // Most dereferences have no operator.
            _ => {}
        }
    }

    /// Notes the traits that a type derives, with the types in its fields.
    pub(super) fn note_derives<'a>(
        &mut self,
        attributes: &[Attribute],
        fields: impl Iterator<Item = &'a Field>,
    ) {
        let mut derived = Vec::new();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
            let Ok(list) = attribute.meta.require_list() else { continue };
            derived.extend(idents(&list.tokens).filter(|name| DERIVED.contains(&name.as_str())));
        }
        if derived.is_empty() {
            return;
        }
        let mut types = TypeNames::default();
        fields.for_each(|field| types.visit_type(&field.ty));
        for of_trait in derived {
            self.found.structure.derived.entry(of_trait).or_default().extend(types.0.iter().cloned());
        }
    }
}

/// The words of tokens, without those in groups.
fn idents(tokens: &TokenStream) -> impl Iterator<Item = String> {
    tokens.clone().into_iter().filter_map(|tree| match tree {
        TokenTree::Ident(word) => Some(token_scan::unraw(&word)),
        _ => None,
    })
}

/// The names of types in a type.
#[derive(Default)]
struct TypeNames(BTreeSet<String>);

impl<'ast> Visit<'ast> for TypeNames {
    fn visit_ident(&mut self, word: &'ast Ident) {
        let word = token_scan::unraw(word);
        if word.starts_with(char::is_uppercase) {
            self.0.insert(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, analyze};

    #[test]
    fn operators_are_noted_by_their_traits() {
        let text = "fn f() { let c = a == b[-1] && !(c < d); e += *f; }";
        let found = analyze(text.as_bytes(), &Options::default()).unwrap();
        let calls: Vec<&str> = found.sites.iter().map(|site| &*site.calls).collect();
        assert_eq!(calls, ["@PartialEq @Index @Neg @Not @PartialOrd", "@AddAssign"]);
    }

    #[test]
    fn derives_are_noted_with_the_types_of_fields() {
        let text = "#[derive(std::fmt::Debug, PartialEq, serde::Serialize)]\nstruct A { a: [Vec<m::B>; 2], c: u8 }\n\
                    #[derive(PartialEq)]\nenum D { E(F), G { h: (I, J) } }\nstruct K(L);";
        let derived = analyze(text.as_bytes(), &Options::default()).unwrap().structure.derived;
        let text = |of: &str| derived[of].iter().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!((text("Debug"), text("PartialEq")), ("B Vec".to_owned(), "B F I J Vec".to_owned()));
        assert_eq!(derived.len(), 2);
    }
}
