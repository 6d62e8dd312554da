//! Finds statements in the arguments of macros whose rules are known: expands the call, walks the expansion, and keeps
//! the statements that come from the arguments. `reexpansion` then proves them.

use super::super::macro_expander::{Expansion, MacroDefinition, known_macros};
use super::super::token_scan;
use super::Walker;
use super::expansion_state::{SitePolicy, is_from_source};
use super::findings::ArgumentFindings;
use super::parsed_expansion::{MacroPosition, ParsedExpansion};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::rc::Rc;
use syn::{Macro, Path};

impl Walker<'_> {
    /// Walks the arguments of a call as the code that they become. False when the call cannot be expanded.
    pub(super) fn walk_arguments(&mut self, mac: &Macro, place: MacroPosition) -> bool {
        // Plain names may become `mod` declarations.
        let may_declare_modules = place == MacroPosition::Items && !self.expansions.is_under_way();
        if self.expansions.in_rules
            || self.expansions.is_too_deep()
            || !(may_declare_modules || holds_code(&mac.tokens))
        {
            return false;
        }
        if let (false, Some(segment)) = (self.expansions.is_under_way(), mac.path.segments.first()) {
            self.expansions.at = self.start_of(segment.ident.span());
        }
        let Some(definitions) = self.definitions(&mac.path) else {
            let name = mac.path.segments.last().map(|segment| token_scan::unraw(&segment.ident));
            self.found.unknown_macros.extend(name);
            return false;
        };
        if self.expansions.is_under_way() {
            // The proof of the outermost call covers the calls in its expansion.
            let findings = self.walk_definitions(mac, place, &definitions);
            return findings.map(|findings| self.accept(findings)).is_some();
        }
        let brackets = mac.delimiter.span();
        let arguments = self.end_of(brackets.open())..self.start_of(brackets.close());
        for policy in [SitePolicy::Anywhere, SitePolicy::InBraces] {
            self.expansions.restart(policy, arguments.len());
            let Some(findings) = self.walk_definitions(mac, place, &definitions) else { return false };
            let opaque = std::mem::take(&mut self.expansions.opaque);
            let findings = findings.without_opaque(&opaque);
            if self.is_proved(mac, &arguments, place, &findings.sites) {
                self.accept(findings);
                return true;
            }
        }
        false
    }

    fn accept(&mut self, findings: ArgumentFindings) {
        self.found.sites.extend(findings.sites);
        self.found.skips.extend(findings.skips);
        self.found.main_at.extend(findings.main_at);
    }

    /// The macros that the path may name: macros of the program, or a row of `known_macros`.
    pub(super) fn definitions(&mut self, path: &Path) -> Option<Rc<[MacroDefinition]>> {
        let segments: Vec<String> =
            path.segments.iter().map(|segment| token_scan::unraw(&segment.ident)).collect();
        let (name, inside) = segments.split_last()?;
        // `log::info!` is not the program's own `info!`.
        let may_be_own = inside.iter().all(|segment| ["crate", "self", "super"].contains(&segment.as_str()));
        let macros = self.macros();
        let is_own = may_be_own && macros.has(name);
        let candidates = match inside {
            _ if !is_own => None,
            [] => macros.candidates(name, self.expansions.at),
            path => macros.candidates_by_path(path, name),
        };
        if is_own && candidates.is_none() {
            return None;
        }
        let is_assumed = candidates.as_ref().is_some_and(|candidates| candidates.is_assumed);
        if is_assumed {
            self.found.assumed_macros.insert(name.clone());
        }
        let key = (segments.join("::"), is_assumed);
        if let Some(known) = self.expansions.definitions.get(&key) {
            return (!known.is_empty()).then(|| known.clone());
        }
        let definitions: Option<Vec<MacroDefinition>> = match &candidates {
            Some(candidates) => candidates.rules.iter().map(|rules| MacroDefinition::parse(rules)).collect(),
            None => known_macros::rules(path, self.code.text)
                .and_then(MacroDefinition::parse)
                .map(|found| vec![found]),
        };
        let definitions: Rc<[MacroDefinition]> = definitions.unwrap_or_default().into();
        self.expansions.definitions.insert(key, definitions.clone());
        (!definitions.is_empty()).then_some(definitions)
    }

    /// The findings that all matching definitions share; `None` when two definitions differ.
    fn walk_definitions(
        &mut self,
        mac: &Macro,
        place: MacroPosition,
        definitions: &[MacroDefinition],
    ) -> Option<ArgumentFindings> {
        let mut common: Option<ArgumentFindings> = None;
        for definition in definitions {
            let findings = match definition.expand(mac.tokens.clone(), &mut self.expansions.budget) {
                Expansion::NoRule => continue,
                Expansion::Unsupported => return None,
                Expansion::Tokens(tokens) => {
                    self.expansions.done.push(tokens.clone());
                    self.walk_expansion(&place.parse(tokens)?)
                }
            };
            common = match common {
                None => Some(findings),
                Some(common) => Some(findings.merged(common)?),
            };
        }
        common
    }

    /// Walks an expansion, and keeps its findings apart from those of the file.
    fn walk_expansion(&mut self, syntax: &ParsedExpansion) -> ArgumentFindings {
        let outer = std::mem::take(&mut self.found);
        let in_braces = std::mem::replace(&mut self.expansions.in_braces, false);
        self.expansions.depth += 1;
        self.arguments(|walker| syntax.visit(walker));
        self.expansions.depth -= 1;
        self.expansions.in_braces = in_braces;
        let found = std::mem::replace(&mut self.found, outer);
        self.found.unknown_macros.extend(found.unknown_macros);
        self.found.assumed_macros.extend(found.assumed_macros);
        self.found.structure.extend(found.structure);
        self.found.modules.extend(found.modules);
        self.found.value_skips.extend(found.value_skips);
        ArgumentFindings { sites: found.sites, skips: found.skips, main_at: found.main_at }.deduplicated()
    }

    /// Notes tokens that are not walked as code.
    pub(super) fn opaque(&mut self, tokens: &TokenStream) {
        if self.expansions.is_under_way() {
            tokens.clone().into_iter().for_each(|token| self.opaque_token(&token));
        }
    }

    fn opaque_token(&mut self, token: &TokenTree) {
        if !is_from_source(token.span()) {
            if let TokenTree::Group(group) = token {
                self.opaque(&group.stream());
            }
            return;
        }
        let range = self.bytes(token.span());
        match self.expansions.opaque.last_mut() {
            // Adjacent tokens form one range: a call inserted between them is opaque, too.
            Some(last) if last.end <= range.start && is_blank(&self.code.text[last.end..range.start]) => {
                last.end = range.end;
            }
            _ => self.expansions.opaque.push(range),
        }
    }
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}

/// Whether the tokens may hold a statement.
pub(super) fn holds_code(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace || holds_code(&group.stream()),
        TokenTree::Punct(punct) => matches!(punct.as_char(), '|' | ';' | '='),
        _ => false,
    })
}
