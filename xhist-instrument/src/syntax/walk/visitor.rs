//! Which syntax goes where. Everything not named here is walked as it comes.

use super::super::tokens::Scan;
use super::Walker;
use super::expansions::Place;
use crate::site::{Reason, SiteKind};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ImplItem, Item, Macro, TraitItem};

impl<'ast> Visit<'ast> for Walker<'_> {
    // Blocks that show that they were entered.

    fn visit_block(&mut self, node: &'ast syn::Block) {
        self.block(node);
    }

    fn visit_arm(&mut self, node: &'ast syn::Arm) {
        self.visit_pat(&node.pat);
        self.branch(|walker| walker.body(&node.body, SiteKind::Arm));
    }

    fn visit_expr_closure(&mut self, node: &'ast syn::ExprClosure) {
        node.inputs.iter().for_each(|input| self.visit_pat(input));
        self.visit_return_type(&node.output);
        let constant = node.constness.is_some().then_some(Reason::ConstFn);
        self.constant_as(constant, |walker| walker.closure(node.asyncness.is_some(), &node.body));
    }

    fn visit_expr_if(&mut self, node: &'ast syn::ExprIf) {
        self.visit_expr(&node.cond);
        self.entered_block(&node.then_branch, &[], SiteKind::Then);
        if let Some((_, otherwise)) = &node.else_branch {
            self.branch(|walker| walker.otherwise(otherwise));
        }
    }

    fn visit_expr_async(&mut self, node: &'ast syn::ExprAsync) {
        self.own_body(true, None, |walker| visit::visit_expr_async(walker, node));
    }

    // What the program may come back to late.

    fn visit_expr_await(&mut self, node: &'ast syn::ExprAwait) {
        visit::visit_expr_await(self, node);
        self.checks.awaited();
    }

    fn visit_expr_yield(&mut self, node: &'ast syn::ExprYield) {
        visit::visit_expr_yield(self, node);
        self.checks.yielded();
    }

    fn visit_expr_call(&mut self, node: &'ast syn::ExprCall) {
        visit::visit_expr_call(self, node);
        if let Expr::Path(function) = &*node.func
            && let Some(last) = function.path.segments.last()
        {
            self.checks.called(&last.ident);
        }
    }

    fn visit_expr_method_call(&mut self, node: &'ast syn::ExprMethodCall) {
        visit::visit_expr_method_call(self, node);
        self.checks.called(&node.method);
    }

    fn visit_local_init(&mut self, node: &'ast syn::LocalInit) {
        let Some((_, otherwise)) = &node.diverge else {
            return self.visit_expr(&node.expr);
        };
        let end = self.end_of_expr(&node.expr);
        let outer = std::mem::replace(&mut self.before_else, end);
        self.visit_expr(&node.expr);
        self.before_else = outer;
        self.branch(|walker| walker.otherwise(otherwise));
    }

    fn visit_expr_loop(&mut self, node: &'ast syn::ExprLoop) {
        self.entered_block(&node.body, &node.attrs, SiteKind::Loop);
    }

    fn visit_expr_while(&mut self, node: &'ast syn::ExprWhile) {
        self.round(|walker| walker.visit_expr(&node.cond));
        self.entered_block(&node.body, &node.attrs, SiteKind::Loop);
    }

    fn visit_expr_for_loop(&mut self, node: &'ast syn::ExprForLoop) {
        self.visit_pat(&node.pat);
        self.visit_expr(&node.expr);
        self.entered_block(&node.body, &node.attrs, SiteKind::Loop);
    }

    // Functions, and what they stand in.

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.function(&node.attrs, &node.sig, &node.block);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.function(&node.attrs, &node.sig, &node.block);
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        match &node.default {
            Some(block) => self.function(&node.attrs, &node.sig, block),
            None => visit::visit_trait_item_fn(self, node),
        }
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        self.implementation(node);
    }

    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        let name = super::super::tokens::unraw(&node.ident);
        let reason = super::super::attributes::hands_off(&node.attrs);
        self.hands_off(reason, |walker| {
            walker.constant_items(&node.attrs, |walker| {
                walker.named(name, |walker| visit::visit_item_trait(walker, node));
            });
        });
    }

    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        self.module(node);
    }

    // What the compiler evaluates.

    fn visit_item_const(&mut self, node: &'ast syn::ItemConst) {
        let name = node.ident.to_string();
        self.named(name, |walker| walker.constant(true, |walker| visit::visit_item_const(walker, node)));
    }

    fn visit_item_static(&mut self, node: &'ast syn::ItemStatic) {
        let name = node.ident.to_string();
        self.named(name, |walker| walker.constant(true, |walker| visit::visit_item_static(walker, node)));
    }

    fn visit_impl_item_const(&mut self, node: &'ast syn::ImplItemConst) {
        let name = node.ident.to_string();
        self.named(name, |walker| walker.constant(true, |walker| visit::visit_impl_item_const(walker, node)));
    }

    fn visit_trait_item_const(&mut self, node: &'ast syn::TraitItemConst) {
        let name = node.ident.to_string();
        self.named(name, |walker| {
            walker.constant(true, |walker| visit::visit_trait_item_const(walker, node))
        });
    }

    fn visit_type(&mut self, node: &'ast syn::Type) {
        self.constant(true, |walker| visit::visit_type(walker, node));
    }

    fn visit_generic_argument(&mut self, node: &'ast syn::GenericArgument) {
        self.constant(true, |walker| visit::visit_generic_argument(walker, node));
    }

    fn visit_const_param(&mut self, node: &'ast syn::ConstParam) {
        self.constant(true, |walker| visit::visit_const_param(walker, node));
    }

    fn visit_field(&mut self, node: &'ast syn::Field) {
        self.constant(true, |walker| visit::visit_field(walker, node));
    }

    fn visit_variant(&mut self, node: &'ast syn::Variant) {
        self.constant(true, |walker| visit::visit_variant(walker, node));
    }

    fn visit_expr_const(&mut self, node: &'ast syn::ExprConst) {
        self.constant(true, |walker| visit::visit_expr_const(walker, node));
    }

    fn visit_expr_repeat(&mut self, node: &'ast syn::ExprRepeat) {
        self.visit_expr(&node.expr);
        self.constant(true, |walker| walker.visit_expr(&node.len));
    }

    // Tokens.

    fn visit_macro(&mut self, node: &'ast syn::Macro) {
        self.macro_call(node, None);
    }

    fn visit_item_macro(&mut self, node: &'ast syn::ItemMacro) {
        match node.ident {
            Some(_) => {
                node.attrs.iter().for_each(|attribute| self.visit_attribute(attribute));
                self.macro_definition(node);
            }
            None => self.call(&node.attrs, &node.mac, Place::Items),
        }
    }

    fn visit_impl_item_macro(&mut self, node: &'ast syn::ImplItemMacro) {
        self.call(&node.attrs, &node.mac, Place::ImplItems);
    }

    fn visit_trait_item_macro(&mut self, node: &'ast syn::TraitItemMacro) {
        self.call(&node.attrs, &node.mac, Place::TraitItems);
    }

    fn visit_stmt_macro(&mut self, node: &'ast syn::StmtMacro) {
        self.call(&node.attrs, &node.mac, Place::Statements);
    }

    fn visit_expr_macro(&mut self, node: &'ast syn::ExprMacro) {
        self.call(&node.attrs, &node.mac, Place::Expression);
    }

    fn visit_meta_list(&mut self, node: &'ast syn::MetaList) {
        self.opaque(&node.tokens);
        // Attributes are many, and nearly never lead to a file.
        if self.has_includes {
            self.scan(Scan::default(), node.tokens.clone(), false);
        }
    }

    fn visit_item(&mut self, node: &'ast Item) {
        match node {
            Item::Verbatim(tokens) => self.unknown(tokens),
            _ => visit::visit_item(self, node),
        }
    }

    fn visit_impl_item(&mut self, node: &'ast ImplItem) {
        match node {
            ImplItem::Verbatim(tokens) => self.unknown(tokens),
            _ => visit::visit_impl_item(self, node),
        }
    }

    fn visit_trait_item(&mut self, node: &'ast TraitItem) {
        match node {
            TraitItem::Verbatim(tokens) => self.unknown(tokens),
            _ => visit::visit_trait_item(self, node),
        }
    }

    fn visit_expr(&mut self, node: &'ast Expr) {
        match node {
            Expr::Verbatim(tokens) => self.unknown(tokens),
            _ => visit::visit_expr(self, node),
        }
    }
}

impl Walker<'_> {
    /// A macro call where statements may come out.
    fn call(&mut self, attributes: &[Attribute], mac: &Macro, place: Place) {
        attributes.iter().for_each(|attribute| self.visit_attribute(attribute));
        self.macro_call(mac, Some(place));
    }

    /// Behind `else`: a block, or the next `if`, which says that its test was reached.
    fn otherwise(&mut self, otherwise: &Expr) {
        match otherwise {
            Expr::Block(block) => self.entered_block(&block.block, &block.attrs, SiteKind::Else),
            Expr::If(next) => {
                self.tests += 1;
                self.wrapped(otherwise, Some(&next.cond), SiteKind::Test);
                self.tests -= 1;
            }
            _ => self.visit_expr(otherwise),
        }
    }
}
