//! What the walk over an expansion found in the arguments of a macro call.

use crate::site::{Insertion, Reason, Site, Skip};
use std::collections::BTreeMap;
use std::ops::Range;

/// Statements of the arguments, as one expansion shows them.
#[derive(PartialEq)]
pub(super) struct ArgumentFindings {
    pub sites: Vec<Site>,
    pub skips: Vec<Skip>,
    /// Offsets for the hash of the map, in each `main` of the arguments.
    pub main_at: Vec<usize>,
}

impl ArgumentFindings {
    /// The findings of both expansions; `None` when they differ. A statement checks for room if either expansion says so.
    pub fn merged(mut self, other: Self) -> Option<Self> {
        let sites = other.sites.into_iter();
        self.sites.iter_mut().zip(sites.clone()).for_each(|(site, other)| site.merge_flags(&other));
        let sites = sites.zip(&self.sites).map(|(mut other, site)| {
            other.merge_flags(site);
            other
        });
        let other = Self { sites: sites.collect(), ..other };
        (self == other).then_some(self)
    }

    /// Each finding once, in the order of the text, without statements that the expansion uses in two ways.
    pub fn deduplicated(mut self) -> Self {
        let mut by_place: BTreeMap<(usize, usize), Site> = BTreeMap::new();
        let mut ambiguous = Vec::new();
        for site in self.sites {
            let skipped = self.skips.iter().any(|skip| (skip.line, skip.column) == (site.line, site.column));
            let key = (site.range.start, site.range.end);
            let other = by_place.get(&key).is_some_and(|other| other.insertion != site.insertion);
            if skipped || other {
                ambiguous.push(key);
            }
            by_place.entry(key).and_modify(|known| known.merge_flags(&site)).or_insert(site);
        }
        ambiguous.iter().for_each(|key| drop(by_place.remove(key)));
        self.sites = by_place.into_values().collect();
        self.skips.sort_by_key(|skip| (skip.line, skip.column, skip.reason));
        self.skips.dedup();
        self.main_at.sort_unstable();
        self.main_at.dedup();
        self
    }

    /// Drops the statements in these ranges, where a macro or an attribute sees tokens, not code.
    pub fn without_opaque(mut self, opaque: &[Range<usize>]) -> Self {
        let is_inside = |at: usize| opaque.iter().any(|range| (range.start..=range.end).contains(&at));
        let is_opaque = |site: &Site| match &site.insertion {
            Insertion::Call { at, .. } => is_inside(*at),
            Insertion::Wrap { range, .. } => is_inside(range.start) || is_inside(range.end),
        };
        let (hidden, sites): (Vec<Site>, Vec<Site>) = self.sites.into_iter().partition(is_opaque);
        // The inner call has already counted its statements, as far as they end with a semicolon.
        let is_counted = self.skips.iter().any(|skip| skip.reason == Reason::MacroArguments);
        let hidden = hidden.iter().filter(|_| !is_counted).map(|site| Skip {
            line: site.line,
            column: site.column,
            reason: Reason::MacroArguments,
            statements: 1,
        });
        self.skips.extend(hidden);
        // `main` gets the hash only where its first statement gets a call.
        let takes = |at: &usize| {
            sites.iter().any(|site| matches!(&site.insertion, Insertion::Call { at: call, .. } if call == at))
        };
        let main_at = self.main_at.into_iter().filter(takes).collect();
        Self { sites, skips: self.skips, main_at }
    }
}
