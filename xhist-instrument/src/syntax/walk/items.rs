//! Functions, impls, traits and modules: names, and what is left alone as a whole.

use super::super::{attributes, edges, tokens};
use super::Walker;
use crate::site::{Function, InlineMod, ModDecl, Reason, SiteKind};
use proc_macro2::Span;
use std::ops::Range;
use syn::visit::{self, Visit as _};
use syn::{Attribute, Block, Expr, ItemImpl, ItemMod, Meta, Path, Signature, Type};

impl Walker<'_> {
    /// Runs `work`, everything in it left alone when there is a reason.
    pub(super) fn hands_off(&mut self, reason: Option<Reason>, work: impl FnOnce(&mut Self)) {
        let outer = self.hands_off;
        self.hands_off = outer.or(reason);
        work(self);
        self.hands_off = outer;
    }

    /// Runs `work` on items whose functions may be const without saying so.
    pub(super) fn constant_items(&mut self, attributes: &[Attribute], work: impl FnOnce(&mut Self)) {
        let constant = attributes::hidden_const(attributes);
        let outer = std::mem::replace(&mut self.constant_items, constant);
        work(self);
        self.constant_items = outer;
    }

    pub(super) fn function(&mut self, attributes: &[Attribute], signature: &Signature, block: &Block) {
        attributes.iter().for_each(|attribute| self.visit_attribute(attribute));
        self.visit_signature(signature);
        let constant =
            signature.constness.is_some() || self.constant_items || attributes::hidden_const(attributes);
        let primitive =
            attributes::is_memory_primitive(attributes, signature).then_some(Reason::MemoryPrimitive);
        let reason = attributes::hands_off(attributes).or(primitive);
        let is_main = self.names.is_empty() && signature.ident == "main" && !constant && reason.is_none();
        if is_main && self.hands_off.is_none() {
            let at = self.main_at(block, attributes);
            self.found.main_at.extend(at);
        }
        self.hands_off(reason, |walker| {
            walker.named(tokens::unraw(&signature.ident), |walker| {
                let braces = &block.brace_token.span;
                let is_written = walker.is_written(braces.open());
                let body = is_written.then(|| walker.start_of(braces.open())..walker.end_of(braces.close()));
                walker.noted(body, false, |walker| {
                    walker.constant_as(constant.then_some(Reason::ConstFn), |walker| {
                        let constant_items = std::mem::replace(&mut walker.constant_items, false);
                        walker.own_body(signature.asyncness.is_some(), Some(&signature.ident), |walker| {
                            walker.block(block);
                        });
                        walker.constant_items = constant_items;
                    });
                });
            });
        });
    }

    /// Runs `work` on the body of the current function, and notes where that stands, if it stands in the source.
    fn noted(&mut self, body: Option<Range<usize>>, is_closure: bool, work: impl FnOnce(&mut Self)) {
        if let Some(body) = body {
            let ((line, column), (end_line, end_column)) =
                (self.code.lines.position(body.start), self.code.lines.position(body.end));
            let place = [line, column, end_line, end_column];
            self.found.functions.push(Function { path: self.function.clone(), place, body, is_closure });
        }
        let outer = std::mem::replace(&mut self.body, self.function.clone());
        work(self);
        self.body = outer;
    }

    /// The body of a closure. In a function it is a part of that.
    pub(super) fn closure(&mut self, is_async: bool, body: &Expr) {
        let ends = edges::first_token(body).zip(edges::last_token(body));
        let is_written = |(first, last): &(Span, Span)| self.is_written(*first) && self.is_written(*last);
        let ends = ends.filter(|ends| self.body != self.function && is_written(ends));
        let range = ends.map(|(first, last)| self.start_of(first)..self.end_of(last));
        self.noted(range, true, |walker| {
            walker.own_body(is_async, None, |walker| walker.body(body, SiteKind::Closure));
        });
    }

    pub(super) fn implementation(&mut self, item: &ItemImpl) {
        let for_trait = item.trait_.as_ref().and_then(|(path, _)| trait_reason(path));
        let reason = attributes::hands_off(&item.attrs).or(for_trait);
        self.hands_off(reason, |walker| {
            walker.constant_items(&item.attrs, |walker| {
                walker.named(type_name(&item.self_ty), |walker| visit::visit_item_impl(walker, item));
            });
        });
    }

    pub(super) fn module(&mut self, item: &ItemMod) {
        let name = tokens::unraw(&item.ident);
        if self.options.edition2015 && name == "xhist_rt" && self.refusal.is_none() {
            let at = self.start_of(item.ident.span());
            let reason = "a module named xhist_rt hides the recorder in edition 2015; rename it";
            self.refusal = Some(self.code.refusal(at, reason));
        }
        let (paths, path_is_certain) = path_attributes(&item.attrs);
        let line = self.code.lines.line(self.start_of(item.ident.span()));
        if item.content.is_none() {
            // What stands in the arguments of a call was found there.
            if self.expansions.is_under_way() && self.is_written(item.mod_token.span) {
                return;
            }
            let inside = self.inside.clone();
            self.found.modules.push(ModDecl { name, inside, paths, path_is_certain, line });
            return;
        }
        self.inside.push(InlineMod { name: name.clone(), paths });
        self.hands_off(attributes::hands_off(&item.attrs), |walker| {
            walker.named(name, |walker| visit::visit_item_mod(walker, item));
        });
        self.inside.pop();
    }
}

/// Values of `#[path]`, and whether one of them stands without `cfg_attr`.
fn path_attributes(attributes: &[Attribute]) -> (Vec<String>, bool) {
    let mut paths = Vec::new();
    let mut certain = false;
    for attribute in attributes {
        match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("path") => {
                if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value {
                    paths.push(text.value());
                    certain = true;
                }
            }
            Meta::List(list) if list.path.is_ident("cfg_attr") => {
                paths.extend(tokens::path_values(list.tokens.clone()))
            }
            _ => {}
        }
    }
    (paths, certain)
}

/// Traits whose methods run where the recorder must not.
fn trait_reason(path: &Path) -> Option<Reason> {
    let name = &path.segments.last()?.ident;
    if name == "GlobalAlloc" {
        return Some(Reason::GlobalAlloc);
    }
    let of_critical_section = path.segments.iter().any(|segment| segment.ident == "critical_section");
    (name == "Impl" && (of_critical_section || path.segments.len() == 1)).then_some(Reason::CriticalSection)
}

/// A short name for the type of an impl.
fn type_name(of: &Type) -> String {
    match of {
        Type::Path(path) => {
            path.path.segments.last().map(|segment| tokens::unraw(&segment.ident)).unwrap_or_default()
        }
        Type::Reference(reference) => type_name(&reference.elem),
        Type::Paren(paren) => type_name(&paren.elem),
        Type::Group(group) => type_name(&group.elem),
        Type::Slice(slice) => format!("[{}]", type_name(&slice.elem)),
        Type::Array(array) => format!("[{}]", type_name(&array.elem)),
        Type::Ptr(pointer) => format!("*{}", type_name(&pointer.elem)),
        Type::Tuple(_) => "()".to_owned(),
        Type::TraitObject(_) => "dyn".to_owned(),
        _ => "_".to_owned(),
    }
}
