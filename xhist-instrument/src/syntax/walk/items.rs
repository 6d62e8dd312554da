//! Functions, impls, traits and modules: their names, and the reasons to skip them as a whole.

use super::super::{attributes, priorities, token_scan, wrap};
use super::Walker;
use super::value_search::{block_waits, expression_waits};
use super::values::{is_generic, is_generic_function};
use crate::refusal::RefusalReason;
use crate::site::structure::BodyKind;
use crate::site::value_site::ValueKind;
use crate::site::{InlineMod, ModDecl, Reason, SiteKind};
use std::sync::Arc;
use syn::visit::{self, Visit as _};
use syn::{Attribute, Block, Expr, ExprClosure, ItemImpl, ItemMod, Meta, Path, Signature, Type};

impl Walker<'_> {
    /// Runs `work`; with a reason, all its code is skipped.
    pub(super) fn skipping(&mut self, reason: Option<Reason>, work: impl FnOnce(&mut Self)) {
        let outer = self.skipped_as;
        self.skipped_as = outer.or(reason);
        work(self);
        self.skipped_as = outer;
    }

    /// Runs `work` on items whose functions may be const without the keyword.
    pub(super) fn constant_items(&mut self, attributes: &[Attribute], work: impl FnOnce(&mut Self)) {
        let constant = attributes::hidden_const(attributes);
        let outer = std::mem::replace(&mut self.constant_items, constant);
        work(self);
        self.constant_items = outer;
    }

    pub(super) fn function(
        &mut self,
        attributes: &[Attribute],
        signature: &Signature,
        block: &Block,
        generic: bool,
    ) {
        attributes.iter().for_each(|attribute| self.visit_attribute(attribute));
        let locals = std::mem::take(&mut self.locals);
        self.visit_signature(signature);
        let constant =
            signature.constness.is_some() || self.constant_items || attributes::hidden_const(attributes);
        let primitive =
            attributes::is_memory_primitive(attributes, signature).then_some(Reason::MemoryPrimitive);
        let reason = attributes::skip_reason(attributes).or(primitive);
        let is_first = match self.names.len() {
            0 => signature.ident == "main" || attributes::is_entry(attributes),
            _ => self.main_by.is_some_and(|main_by| main_by.calls_first(attributes)),
        };
        if is_first && !constant && reason.is_none() && self.skipped_as.is_none() {
            let at = self.main_at(block, attributes);
            self.found.main_at.extend(at);
        }
        self.skipping(reason, |walker| {
            walker.named(token_scan::unraw(&signature.ident), |walker| {
                let is_async = signature.asyncness.is_some();
                walker.note_body(
                    walker.block_range(block),
                    if is_async { BodyKind::AsyncFunction } else { BodyKind::Function },
                );
                let of_trait = std::mem::replace(&mut walker.of_trait, Arc::from(""));
                walker.constant_as(constant.then_some(Reason::ConstFn), |walker| {
                    let constant_items = std::mem::replace(&mut walker.constant_items, false);
                    let name = Some(&signature.ident);
                    let work = |walker: &mut Self| {
                        walker.enter_with_parameters(signature);
                        walker.block(block);
                        let entry = walker.take_entry();
                        walker.attach_entry(entry, None, None);
                    };
                    let generic = generic || is_generic_function(signature);
                    walker.with_values(attributes, generic, |walker| match is_async {
                        true => walker.with_waits(
                            || block_waits(block),
                            |walker| {
                                walker.async_body(name, (block, attributes), work);
                            },
                        ),
                        false => drop(walker.separate_body(false, name, work)),
                    });
                    walker.constant_items = constant_items;
                });
                walker.of_trait = of_trait;
            });
        });
        self.locals = locals;
    }

    /// Walks the body of a closure.
    pub(super) fn closure(&mut self, closure: &ExprClosure) {
        let (is_async, body) = (closure.asyncness.is_some(), &*closure.body);
        let kind = if is_async { BodyKind::AsyncClosure } else { BodyKind::Closure };
        self.note_body(self.source_range(body), kind);
        let work = |walker: &mut Self| {
            walker.enter_with(ValueKind::Closure, &closure.inputs, || expression_waits(body));
            walker.body(body, SiteKind::Closure);
        };
        self.with_waits(
            || is_async && expression_waits(body),
            |walker| walker.closure_body(is_async, body, work),
        );
    }

    fn closure_body(&mut self, is_async: bool, body: &Expr, work: impl FnOnce(&mut Self)) {
        match wrap::existing_block(body).filter(|_| is_async) {
            Some(block) => self.async_body(None, block, work),
            None => {
                // An expression that becomes a block has no place for a variable.
                let resumes = std::mem::take(&mut self.resumes);
                self.separate_body(is_async, None, work);
                self.resumes = resumes;
            }
        }
    }

    /// Runs `work` on functions of this trait.
    pub(super) fn in_trait(&mut self, name: Option<String>, work: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.of_trait, Arc::from(name.unwrap_or_default()));
        work(self);
        self.of_trait = outer;
    }

    pub(super) fn implementation(&mut self, item: &ItemImpl) {
        let for_trait = item.trait_.as_ref().and_then(|(path, _)| trait_reason(path));
        let reason = attributes::skip_reason(&item.attrs).or(for_trait);
        self.skipping(reason, |walker| {
            walker.constant_items(&item.attrs, |walker| {
                let last = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
                let of_trait = last.map(|segment| token_scan::unraw(&segment.ident));
                walker.in_trait(of_trait, |walker| {
                    walker.with_values(&item.attrs, is_generic(&item.generics), |walker| {
                        walker.named(type_name(&item.self_ty), |walker| visit::visit_item_impl(walker, item));
                    });
                });
            });
        });
    }

    pub(super) fn module(&mut self, item: &ItemMod) {
        let name = token_scan::unraw(&item.ident);
        if self.options.edition2015 && name == "xhist_rt" && self.refusal.is_none() {
            let at = self.start_of(item.ident.span());
            self.refusal = Some(self.code.refusal(at, RefusalReason::HidesRecorder));
        }
        let (paths, path_is_certain) = path_attributes(&item.attrs);
        let line = self.code.lines.line(self.start_of(item.ident.span()));
        if item.content.is_none() {
            // The walk over the arguments has found this one already.
            if self.expansions.is_under_way() && self.is_from_source(item.mod_token.span) {
                return;
            }
            let inside = self.inside.clone();
            self.found.modules.push(ModDecl { name, inside, paths, path_is_certain, line });
            return;
        }
        self.inside.push(InlineMod { name: name.clone(), paths });
        for (interrupt, levels) in priorities::of_app(item) {
            self.found.structure.priorities.entry(interrupt).or_default().extend(levels);
        }
        let outer = std::mem::replace(&mut self.main_by, attributes::MainBy::of_module(&item.attrs));
        self.skipping(attributes::skip_reason(&item.attrs), |walker| {
            walker.with_values(&item.attrs, false, |walker| {
                walker.named(name, |walker| visit::visit_item_mod(walker, item));
            });
        });
        self.main_by = outer;
        self.inside.pop();
    }
}

/// Values of `#[path]`, and whether one of them has no `cfg_attr`.
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
                paths.extend(token_scan::path_values(list.tokens.clone()))
            }
            _ => {}
        }
    }
    (paths, certain)
}

/// The reason to skip impls of this trait: its methods run where the recorder must not be called.
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
            path.path.segments.last().map(|segment| token_scan::unraw(&segment.ident)).unwrap_or_default()
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
