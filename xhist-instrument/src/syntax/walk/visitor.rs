//! Dispatches syntax to the walker. Syntax without a method here is walked by default.

use super::super::edges;
use super::super::token_scan::TokenScan;
use super::Walker;
use super::parsed_expansion::MacroPosition;
use super::value_search::{block_waits, expression_waits};
use crate::site::structure::BodyKind;
use crate::site::value_site::ValueKind;
use crate::site::{Reason, SiteKind};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ImplItem, Item, Macro, TraitItem};

impl<'ast> Visit<'ast> for Walker<'_> {
    // Blocks that may become sites.

    fn visit_block(&mut self, node: &'ast syn::Block) {
        self.block(node);
    }

    fn visit_expr_match(&mut self, node: &'ast syn::ExprMatch) {
        let end = Some(node.brace_token.span.close());
        for arm in node.arms.iter().rev().skip(1) {
            self.note_branch(self.source_range(&arm.body), end);
        }
        visit::visit_expr_match(self, node);
    }

    fn visit_arm(&mut self, node: &'ast syn::Arm) {
        self.visit_pat(&node.pat);
        self.branch(|walker| {
            walker.enter_with(ValueKind::Match, [&node.pat], || expression_waits(&node.body));
            walker.body(&node.body, SiteKind::Arm);
        });
    }

    fn visit_expr_closure(&mut self, node: &'ast syn::ExprClosure) {
        node.inputs.iter().for_each(|input| self.visit_pat(input));
        self.visit_return_type(&node.output);
        let constant = node.constness.is_some() && !self.options.constants;
        self.constant_as(constant.then_some(Reason::ConstFn), |walker| walker.closure(node));
    }

    fn visit_expr_if(&mut self, node: &'ast syn::ExprIf) {
        self.visit_expr(&node.cond);
        if let Some((_, otherwise)) = &node.else_branch {
            self.note_branch(self.block_range(&node.then_branch), edges::last_token(otherwise));
        }
        self.enter_with_condition(ValueKind::If, &node.cond, &node.then_branch);
        self.entered_block(&node.then_branch, &[], SiteKind::Then);
        if let Some((_, otherwise)) = &node.else_branch {
            self.branch(|walker| walker.else_branch(otherwise));
        }
    }

    fn visit_expr_async(&mut self, node: &'ast syn::ExprAsync) {
        self.note_body(self.block_range(&node.block), BodyKind::AsyncBlock);
        self.with_waits(
            || block_waits(&node.block),
            |walker| {
                walker.async_body(None, (&node.block, &node.attrs), |walker| {
                    visit::visit_expr_async(walker, node)
                });
            },
        );
    }

    // What the text calls.

    fn visit_pat_ident(&mut self, node: &'ast syn::PatIdent) {
        self.note_local(&node.ident);
        visit::visit_pat_ident(self, node);
    }

    fn visit_expr_path(&mut self, node: &'ast syn::ExprPath) {
        self.note_value(&node.path);
        visit::visit_expr_path(self, node);
    }

    fn visit_expr_struct(&mut self, node: &'ast syn::ExprStruct) {
        self.note_struct(&node.path);
        visit::visit_expr_struct(self, node);
    }

    fn visit_expr_binary(&mut self, node: &'ast syn::ExprBinary) {
        visit::visit_expr_binary(self, node);
        self.note_binary(&node.op);
    }

    fn visit_expr_unary(&mut self, node: &'ast syn::ExprUnary) {
        visit::visit_expr_unary(self, node);
        self.note_unary(&node.op);
    }

    fn visit_expr_index(&mut self, node: &'ast syn::ExprIndex) {
        visit::visit_expr_index(self, node);
        self.note_operator(node.bracket_token.span.open(), "Index");
    }

    fn visit_item_struct(&mut self, node: &'ast syn::ItemStruct) {
        self.note_derives(&node.attrs, node.fields.iter());
        visit::visit_item_struct(self, node);
    }

    fn visit_item_enum(&mut self, node: &'ast syn::ItemEnum) {
        self.note_derives(&node.attrs, node.variants.iter().flat_map(|variant| &variant.fields));
        visit::visit_item_enum(self, node);
    }

    fn visit_expr_try(&mut self, node: &'ast syn::ExprTry) {
        visit::visit_expr_try(self, node);
        self.note_question(node.question_token.span);
    }

    // Points to which the program may return late.

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
        self.note_callee(&node.func);
        self.note_arguments(node.args.iter());
        if let Expr::Path(function) = &*node.func
            && let Some(last) = function.path.segments.last()
        {
            self.checks.called(&last.ident);
        }
    }

    fn visit_expr_method_call(&mut self, node: &'ast syn::ExprMethodCall) {
        visit::visit_expr_method_call(self, node);
        self.note_method(&node.method);
        self.note_arguments(node.args.iter());
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
        self.branch(|walker| walker.else_branch(otherwise));
    }

    fn visit_expr_loop(&mut self, node: &'ast syn::ExprLoop) {
        let start = self.note_loop(&node.loop_token.span, node.label.as_ref(), &node.body);
        self.repeated(start, |walker| walker.entered_block(&node.body, &node.attrs, SiteKind::Loop));
    }

    fn visit_expr_while(&mut self, node: &'ast syn::ExprWhile) {
        let start = self.note_loop(&node.while_token.span, node.label.as_ref(), &node.body);
        self.repeated(start, |walker| {
            walker.loop_body(Some(&node.body), |walker| walker.visit_expr(&node.cond));
            walker.enter_with_condition(ValueKind::While, &node.cond, &node.body);
            walker.entered_block(&node.body, &node.attrs, SiteKind::Loop);
        });
    }

    fn visit_expr_for_loop(&mut self, node: &'ast syn::ExprForLoop) {
        self.visit_pat(&node.pat);
        self.visit_expr(&node.expr);
        let start = self.note_loop(&node.for_token.span, node.label.as_ref(), &node.body);
        self.repeated(start, |walker| {
            walker.enter_with(ValueKind::For, [&*node.pat], || block_waits(&node.body));
            walker.entered_block(&node.body, &node.attrs, SiteKind::Loop);
        });
    }

    // Functions and their containers.

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.function(&node.attrs, &node.sig, &node.block, false);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.function(&node.attrs, &node.sig, &node.block, self.values.generic);
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        match &node.default {
            Some(block) => self.function(&node.attrs, &node.sig, block, true),
            None => visit::visit_trait_item_fn(self, node),
        }
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        self.implementation(node);
    }

    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        let name = super::super::token_scan::unraw(&node.ident);
        let reason = super::super::attributes::skip_reason(&node.attrs);
        self.skipping(reason, |walker| {
            walker.constant_items(&node.attrs, |walker| {
                walker.in_trait(Some(name.clone()), |walker| {
                    walker.named(name, |walker| visit::visit_item_trait(walker, node));
                });
            });
        });
    }

    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        self.module(node);
    }

    // Const contexts.

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
            None => self.call(&node.attrs, &node.mac, MacroPosition::Items),
        }
    }

    fn visit_impl_item_macro(&mut self, node: &'ast syn::ImplItemMacro) {
        self.call(&node.attrs, &node.mac, MacroPosition::ImplItems);
    }

    fn visit_trait_item_macro(&mut self, node: &'ast syn::TraitItemMacro) {
        self.call(&node.attrs, &node.mac, MacroPosition::TraitItems);
    }

    fn visit_stmt_macro(&mut self, node: &'ast syn::StmtMacro) {
        self.call(&node.attrs, &node.mac, MacroPosition::Statements);
    }

    fn visit_expr_macro(&mut self, node: &'ast syn::ExprMacro) {
        self.call(&node.attrs, &node.mac, MacroPosition::Expression);
    }

    fn visit_meta_list(&mut self, node: &'ast syn::MetaList) {
        self.opaque(&node.tokens);
        // Most attributes do not name files.
        if self.has_includes {
            self.scan(TokenScan::default(), node.tokens.clone(), false);
        }
    }

    fn visit_item(&mut self, node: &'ast Item) {
        match node {
            Item::Verbatim(tokens) => self.unknown_syntax(tokens),
            _ => visit::visit_item(self, node),
        }
    }

    fn visit_impl_item(&mut self, node: &'ast ImplItem) {
        match node {
            ImplItem::Verbatim(tokens) => self.unknown_syntax(tokens),
            _ => visit::visit_impl_item(self, node),
        }
    }

    fn visit_trait_item(&mut self, node: &'ast TraitItem) {
        match node {
            TraitItem::Verbatim(tokens) => self.unknown_syntax(tokens),
            _ => visit::visit_trait_item(self, node),
        }
    }

    fn visit_expr(&mut self, node: &'ast Expr) {
        match node {
            Expr::Verbatim(tokens) => self.unknown_syntax(tokens),
            _ => visit::visit_expr(self, node),
        }
    }
}

impl Walker<'_> {
    /// A macro call whose expansion may hold statements.
    fn call(&mut self, attributes: &[Attribute], mac: &Macro, place: MacroPosition) {
        attributes.iter().for_each(|attribute| self.visit_attribute(attribute));
        self.macro_call(mac, Some(place));
    }

    /// After `else`: a block, or the next `if`, whose test becomes a site.
    fn else_branch(&mut self, otherwise: &Expr) {
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
