//! Proves that a macro expands to the same code with the calls in its arguments.

use super::super::macro_expander::Expansion;
use super::Walker;
use super::call_diff::differ_by_calls;
use super::expansions::holds_code;
use super::parsed_expansion::MacroPosition;
use crate::insert::splice;
use crate::site::Site;
use proc_macro2::TokenStream;
use std::ops::Range;
use syn::visit::Visit;
use syn::{Macro, Path};

impl Walker<'_> {
    /// Whether the macro expands to the same code when its arguments hold the calls of these sites.
    pub(super) fn is_proved(
        &mut self,
        mac: &Macro,
        arguments: &Range<usize>,
        place: MacroPosition,
        sites: &[Site],
    ) -> bool {
        if sites.is_empty() {
            return true;
        }
        let plain = std::mem::take(&mut self.expansions.done);
        let triggers = self.options.triggers;
        let mut proves = |triggers| {
            let text = splice::splice_part(self.code.text, arguments.clone(), sites, triggers);
            text.is_some_and(|text| self.expands_equally(mac, &text, place, &plain))
        };
        proves(false) && (!triggers || proves(true))
    }

    /// Whether these arguments, which hold calls, expand to the `plain` expansions plus calls.
    fn expands_equally(
        &mut self,
        mac: &Macro,
        arguments: &str,
        place: MacroPosition,
        plain: &[TokenStream],
    ) -> bool {
        let Ok(with_calls) = arguments.parse::<TokenStream>() else { return false };
        self.expansions.set_budget(arguments.len());
        let mut each = Reexpansion {
            walker: self,
            expansions: Vec::new(),
            is_supported: true,
            has_inner_calls: plain.len() > 1,
        };
        each.call(&mac.path, with_calls, place);
        let with_calls = each.expansions;
        if !each.is_supported {
            return false;
        }
        plain.len() == with_calls.len() && plain.iter().zip(&with_calls).all(|(a, b)| differ_by_calls(a, b))
    }
}

/// Expands a call, then the calls in its expansion, in the order of the walk.
struct Reexpansion<'a, 'c> {
    walker: &'a mut Walker<'c>,
    expansions: Vec<TokenStream>,
    is_supported: bool,
    /// The expansion holds macro calls.
    has_inner_calls: bool,
}

impl Reexpansion<'_, '_> {
    fn call(&mut self, path: &Path, tokens: TokenStream, place: MacroPosition) {
        if let Some(arguments) = self.walker.expressions_of(path, &tokens) {
            arguments.iter().for_each(|argument| self.visit_expr(argument));
            return;
        }
        if self.walker.expansions.is_too_deep() || !holds_code(&tokens) {
            return;
        }
        let Some(definitions) = self.walker.definitions(path) else { return };
        for definition in &*definitions {
            let tokens = match definition.expand(tokens.clone(), &mut self.walker.expansions.budget) {
                Expansion::NoRule => continue,
                Expansion::Unsupported => return self.is_supported = false,
                Expansion::Tokens(tokens) => tokens,
            };
            self.expansions.push(tokens.clone());
            if !self.has_inner_calls {
                continue;
            }
            let Some(syntax) = place.parse(tokens) else { return self.is_supported = false };
            self.walker.expansions.depth += 1;
            syntax.visit(self);
            self.walker.expansions.depth -= 1;
        }
    }
}

impl<'ast> Visit<'ast> for Reexpansion<'_, '_> {
    fn visit_item_macro(&mut self, node: &'ast syn::ItemMacro) {
        if node.ident.is_none() {
            self.call(&node.mac.path, node.mac.tokens.clone(), MacroPosition::Items);
        }
    }

    fn visit_impl_item_macro(&mut self, node: &'ast syn::ImplItemMacro) {
        self.call(&node.mac.path, node.mac.tokens.clone(), MacroPosition::ImplItems);
    }

    fn visit_trait_item_macro(&mut self, node: &'ast syn::TraitItemMacro) {
        self.call(&node.mac.path, node.mac.tokens.clone(), MacroPosition::TraitItems);
    }

    fn visit_stmt_macro(&mut self, node: &'ast syn::StmtMacro) {
        self.call(&node.mac.path, node.mac.tokens.clone(), MacroPosition::Statements);
    }

    fn visit_expr_macro(&mut self, node: &'ast syn::ExprMacro) {
        self.call(&node.mac.path, node.mac.tokens.clone(), MacroPosition::Expression);
    }
}
