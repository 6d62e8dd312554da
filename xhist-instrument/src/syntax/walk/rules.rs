//! The bodies of `macro_rules!` rules: finds the statements of a rule that are statements wherever it is expanded.
//!
//! A rule is parsed with names in place of its variables. Tokens that another macro or an attribute may match are left as they
//! are, and so is a statement that begins in a repetition and ends outside.

use super::super::macro_expander::{Outline, Repetition, outlines};
use super::super::token_scan::{self, TokenScan};
use super::Walker;
use super::expansion_state::SitePolicy;
use super::findings::ArgumentFindings;
use super::parsed_expansion::{MacroPosition, ParsedExpansion};
use crate::site::structure::{BodyKind, CallNote};
use crate::site::{Insertion, Reason, Site, Skip};
use crate::text::{Lexer, TokenKind};
use proc_macro2::{Group, TokenStream, TokenTree};
use std::ops::Range;
use syn::visit::Visit as _;
use syn::{Block, Expr, ItemMacro, Stmt};

impl Walker<'_> {
    /// Walks the bodies of all rules; returns how many statements may be in those that are left alone.
    pub(super) fn rules(&mut self, item: &ItemMacro) -> (u32, Reason) {
        let name = item.ident.as_ref().map(token_scan::unraw).unwrap_or_default();
        let mut left = TokenScan::default();
        let is_meant = self.options.rules && !self.expansions.is_under_way();
        if !is_meant || !item.mac.path.is_ident("macro_rules") {
            left.rules(item.mac.tokens.clone(), &mut Vec::new());
            return (left.statements, Reason::MacroDefinition);
        }
        let is_refused = self.code.macros.is_refused(&name);
        for (body, outline) in outlines(item.mac.tokens.clone()) {
            let outline = outline.filter(|_| !is_refused);
            let is_walked = outline.is_some_and(|outline| self.rule(&name, &body, outline));
            if !is_walked {
                left.braced(body.stream(), &mut Vec::new());
            }
        }
        (left.statements, if is_refused { Reason::RefusedMacro } else { Reason::MacroDefinition })
    }

    /// Walks the body of a rule. False when it is not understood.
    fn rule(&mut self, name: &str, body: &Group, outline: Outline) -> bool {
        // A task that waits in a macro is one of the function around the call.
        if holds_await(&outline.tokens) {
            return false;
        }
        let Some(syntax) = RuleSyntax::parse(outline.tokens) else { return false };
        let range = self.start_of(body.span_open())..self.end_of(body.span_close());
        let repetitions = outline.repetitions.iter();
        let repetitions: Vec<_> = repetitions
            .map(|Repetition { brackets, separator }| {
                (self.end_of(brackets.start)..self.start_of(brackets.end), separator.as_str())
            })
            .collect();
        let outer = std::mem::take(&mut self.found);
        let state = (std::mem::take(&mut self.locals), self.before_else.take(), self.repeated_from.take());
        let is_const = (self.constant.take(), std::mem::take(&mut self.constant_items));
        let of_trait = std::mem::replace(&mut self.of_trait, "".into());
        self.expansions.restart(SitePolicy::Anywhere, range.len());
        (self.expansions.depth, self.expansions.in_rules) = (1, true);
        self.named(format!("{name}!"), |walker| match syntax {
            RuleSyntax::Items(items) => items.visit(walker),
            RuleSyntax::Statements(block) => {
                walker.note_body(Some(range.clone()), BodyKind::Function);
                walker.separate_body(false, None, |walker| walker.visit_block(&block));
            }
            RuleSyntax::Expression(expr) => {
                walker.note_body(Some(range.clone()), BodyKind::Function);
                walker.separate_body(false, None, |walker| walker.visit_expr(&expr));
            }
        });
        (self.expansions.depth, self.expansions.in_rules) = (0, false);
        (self.locals, self.before_else, self.repeated_from) = state;
        (self.constant, self.constant_items) = is_const;
        self.of_trait = of_trait;
        let mut found = std::mem::replace(&mut self.found, outer);
        let findings = ArgumentFindings { sites: found.sites, skips: found.skips, main_at: Vec::new() };
        let opaque = std::mem::take(&mut self.expansions.opaque);
        let ArgumentFindings { mut sites, mut skips, .. } = findings.without_opaque(&opaque);
        sites.retain(|site| {
            let stays = self.is_one_piece(site, &repetitions);
            if !stays {
                let (line, column) = (site.line, site.column);
                skips.push(Skip { line, column, reason: Reason::MacroDefinition, statements: 1 });
            }
            stays
        });
        // The code around the call counts on the room that it found there.
        sites.iter_mut().for_each(|site| site.checks = true);
        self.found.unknown_macros.extend(found.unknown_macros);
        self.found.skips.extend(skips);
        if sites.is_empty() {
            return true;
        }
        self.note_variables(body.stream(), &mut found.structure.calls);
        self.found.structure.extend(found.structure);
        self.found.sites.extend(sites);
        self.found.rules.push(range);
        self.found.recorded_macros.insert(name.to_owned());
        true
    }

    /// Whether the calls of a site go where its text is: inside the same repetitions. The attributes that a call carries must
    /// have no variables.
    fn is_one_piece(&self, site: &Site, repetitions: &[(Range<usize>, &str)]) -> bool {
        let (at, attributes) = match &site.insertion {
            Insertion::Call { at, attributes } => (*at, attributes.is_some()),
            Insertion::Wrap { range, .. } => (range.start, false),
        };
        let end = match &site.insertion {
            Insertion::Call { .. } => site.range.end,
            Insertion::Wrap { range, .. } => range.end,
        };
        let crosses = |repetition: &Range<usize>| {
            let is_inside = |place: usize| (repetition.start..=repetition.end).contains(&place);
            is_inside(at) != is_inside(end) || is_inside(site.range.start) != is_inside(end)
        };
        let has_variables =
            attributes && self.code.text[at.min(site.range.start)..site.range.start].contains('$');
        let is_call = matches!(site.insertion, Insertion::Call { .. });
        let parts = |(repetition, separator): &(Range<usize>, &str)| {
            crosses(repetition)
                || is_call && repetition.contains(&at) && self.is_operand(site, repetition, separator)
        };
        !repetitions.iter().any(parts) && !has_variables
    }

    /// Whether a statement at the end of a repetition is joined with the next round: `$($test) && *`.
    fn is_operand(&self, site: &Site, repetition: &Range<usize>, separator: &str) -> bool {
        let behind = &self.code.text.as_bytes()[site.range.end..repetition.end];
        let is_last = Lexer::new(behind, 0).all(|(kind, _)| kind == TokenKind::Comment);
        let is_complete = self.code.text[site.range.clone()].ends_with([';', '}']);
        is_last && separator != ";" && !(separator.is_empty() && is_complete)
    }

    /// Notes that the statements with variables run code that only the calls of the macro know.
    fn note_variables(&self, tokens: TokenStream, calls: &mut Vec<CallNote>) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.note_variables(group.stream(), calls),
                TokenTree::Punct(mark) if mark.as_char() == '$' => {
                    let at = self.start_of(mark.span());
                    if !self.code.text[at..].starts_with("$crate") {
                        calls.push(CallNote { at, name: "()".to_owned(), repeated_from: None });
                    }
                }
                _ => {}
            }
        }
    }
}

/// The body of a rule, parsed.
enum RuleSyntax {
    Items(ParsedExpansion),
    /// Statements of the block around the call.
    Statements(Block),
    /// What may be the value of the call: nothing can precede it.
    Expression(Expr),
}

impl RuleSyntax {
    fn parse(tokens: TokenStream) -> Option<Self> {
        if tokens.is_empty() {
            return None;
        }
        let items = [MacroPosition::Items, MacroPosition::ImplItems, MacroPosition::TraitItems];
        if let Some(items) = items.into_iter().find_map(|position| position.parse(tokens.clone())) {
            return Some(Self::Items(items));
        }
        if let Ok(expr) = syn::parse2(tokens.clone()) {
            return Some(Self::Expression(expr));
        }
        let ParsedExpansion::Statements(mut block) = MacroPosition::Statements.parse(tokens)? else {
            return None;
        };
        match block.stmts.as_mut_slice() {
            // The call may be an expression: a semicolon behind it is ignored there.
            [Stmt::Expr(..)] => match block.stmts.pop() {
                Some(Stmt::Expr(expr, _)) => Some(Self::Expression(expr)),
                _ => None,
            },
            [Stmt::Macro(_)] => None,
            _ => Some(Self::Statements(block)),
        }
    }
}

fn holds_await(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => holds_await(&group.stream()),
        TokenTree::Ident(word) => word == "await",
        _ => false,
    })
}
