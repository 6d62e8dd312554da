//! The result of analysing one file. Plain data, without a syntax tree.

use crate::macros::Macros;
use crate::site::constness::Constness;
use crate::site::structure::Structure;
use crate::site::value_site::{ValueReason, ValueSite, ValueSkip, ValueWatch};
use crate::site::{Include, ModDecl, Reason, Site, Skip, TaskBody, Trigger};
use crate::text::TokenFingerprint;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// The analysis of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysis {
    /// Statements to record, in the order of the text.
    pub sites: Vec<Site>,
    /// Skipped code, in the order of the text.
    pub skips: Vec<Skip>,
    /// Values to record, in the order of the text.
    pub values: Vec<ValueSite>,
    /// Bindings whose values are not recorded, in the order of the text.
    pub value_skips: Vec<ValueSkip>,
    /// Triggers at values, in the order of their values.
    pub watches: Vec<ValueWatch>,
    /// Triggers, in the order of their statements. Set them last: they hold indices of sites.
    pub triggers: Vec<Trigger>,
    /// Modules in other files.
    pub modules: Vec<ModDecl>,
    /// Files read by macros.
    pub includes: Vec<Include>,
    /// Offsets for the hash of the map: one in each `fn main`, of which a file may have several under `cfg`.
    pub main_at: Vec<usize>,
    /// Bodies, loops and branches.
    pub(crate) structure: Structure,
    /// Async bodies whose tasks are recorded.
    pub(crate) tasks: Vec<TaskBody>,
    /// Lines from `// xhist debug TRUE` up to, not including, `FALSE`.
    pub debug_lines: Vec<Range<u32>>,
    /// Number of lines.
    pub lines: u32,
    /// A directive at the head of the file switches the whole file off.
    pub is_off: bool,
    /// Macros of unknown rules whose arguments hold code.
    pub(crate) unknown_macros: BTreeSet<String>,
    /// Macros taken for the program's own, because nothing in the program is known to import another one of that
    /// name.
    pub(crate) assumed_macros: BTreeSet<String>,
    /// The `const fn` of the file, and what const contexts call.
    pub(crate) constness: Constness,
    /// Offsets of the keywords `const` that go when the text is instrumented.
    pub(crate) without_const: Vec<usize>,
    /// The bodies of macro rules that hold sites, in the order of the text.
    pub(crate) rules: Vec<Range<usize>>,
    /// The macros that these rules belong to.
    pub(crate) recorded_macros: BTreeSet<String>,
    /// Offset of the first item with its attributes.
    pub(crate) first_item: Option<usize>,
    /// The crate gives the recorder to the macros that it defines.
    pub(crate) gives_recorder: bool,
    /// The crate prints through the recorder.
    pub(crate) records_output: bool,
    /// Fingerprint of the token positions, for the proof.
    pub(crate) tokens: TokenFingerprint,
}

impl Analysis {
    /// The `const fn` of the file, and what const contexts call.
    pub fn constness(&self) -> &Constness {
        &self.constness
    }

    /// Whether statements in the rules of macros are recorded.
    pub fn has_rules(&self) -> bool {
        !self.rules.is_empty()
    }

    /// The macros that have such rules.
    pub fn recorded_macros(&self) -> impl Iterator<Item = &str> {
        self.recorded_macros.iter().map(String::as_str)
    }

    /// Whether macros are defined whose rules hold statements.
    pub fn defines_macros(&self) -> bool {
        self.skips.iter().any(|skip| skip.reason == Reason::MacroDefinition)
    }

    /// Lets macros of this crate name the recorder where they are called. The text is the root of the crate.
    pub fn give_recorder(&mut self) {
        self.gives_recorder = true;
    }

    /// Has the crate print through the recorder. The text is the root of the crate, and of no module.
    pub fn record_output(&mut self) {
        self.records_output = true;
    }

    /// Whether another analysis with these macros, by [`crate::analyze_among`], may find more.
    pub fn wants(&self, macros: &Macros) -> bool {
        !self.assumed_macros.is_empty() || self.unknown_macros.iter().any(|name| macros.has(name))
    }

    /// Number of recorded values.
    pub fn value_count(&self) -> usize {
        self.values.iter().filter(|value| value.recorded).count()
    }

    /// Skips the statements of these functions.
    pub fn leave_out(&mut self, is_unwanted: impl Fn(&str) -> bool) {
        let mut last: Option<(Arc<str>, bool)> = None;
        let skips = &mut self.skips;
        self.sites.retain(|site| {
            // The statements of a function are adjacent.
            let known = last.as_ref().filter(|(function, _)| *function == site.function);
            let leave = known.map_or_else(|| is_unwanted(&site.function), |(_, leave)| *leave);
            last = Some((site.function.clone(), leave));
            if leave {
                let (line, column) = (site.line, site.column);
                skips.push(Skip { line, column, reason: Reason::Excluded, statements: 1 });
            }
            !leave
        });
        skips.sort_by_key(|skip| (skip.line, skip.column));
        self.drop_values(Reason::Excluded);
    }

    /// Skips all but the first statement of these functions, and of the functions nested in them.
    pub fn thin(&mut self, is_thin: impl Fn(&str) -> bool) {
        let thin = self.structure.bodies.iter().filter(|body| body.kind.is_named() && is_thin(&body.path));
        let mut thin: Vec<(Arc<str>, Range<usize>)> =
            thin.map(|body| (body.path.clone(), body.range.clone())).collect();
        thin.sort_by_key(|(_, body)| (body.start, std::cmp::Reverse(body.end)));
        // Of nested functions, the outermost decides.
        let mut end = 0;
        thin.retain(|(_, body)| {
            let is_outer = body.start >= end;
            end = end.max(body.end);
            is_outer
        });
        let mut entered = vec![false; thin.len()];
        let skips = &mut self.skips;
        self.sites.retain(|site| {
            let at = site.range.start;
            let index = thin.partition_point(|(_, body)| body.start <= at).checked_sub(1);
            let Some(index) = index.filter(|&index| at < thin[index].1.end) else { return true };
            if !entered[index] && site.function == thin[index].0 {
                // A statement under `cfg` does not prove that the function was entered.
                entered[index] = !site.may_vanish();
                return true;
            }
            let (line, column) = (site.line, site.column);
            skips.push(Skip { line, column, reason: Reason::Thinned, statements: 1 });
            false
        });
        skips.sort_by_key(|skip| (skip.line, skip.column));
        self.drop_values(Reason::Thinned);
    }

    /// Skips the values behind statements that are no longer among the sites.
    fn drop_values(&mut self, reason: Reason) {
        let (sites, skips) = (&self.sites, &mut self.value_skips);
        let hosts: HashSet<usize> = sites.iter().map(|site| site.range.start).collect();
        self.values.retain(|value| {
            let stays = hosts.contains(&value.host);
            if !stays {
                skips.push(value.skip(ValueReason::Code(reason)));
            }
            stays
        });
        skips.sort_by_key(|skip| (skip.line, skip.column));
    }

    /// Leaves only the bindings of functions that are wanted, and records the statements in front of their values.
    pub fn keep_values(&mut self, is_wanted: impl Fn(&str) -> bool) {
        let mut last: Option<(Arc<str>, bool)> = None;
        let mut is_wanted = |function: &Arc<str>| {
            let known = last.as_ref().filter(|(known, _)| known == function);
            let wanted = known.map_or_else(|| is_wanted(function), |(_, wanted)| *wanted);
            last = Some((function.clone(), wanted));
            wanted
        };
        self.value_skips.retain(|skip| is_wanted(&skip.function));
        self.values.iter_mut().for_each(|value| value.recorded = is_wanted(&value.function));
        self.record_hosts();
    }

    /// A value is recorded behind the call of a statement, whatever the detail.
    pub(crate) fn record_hosts(&mut self) {
        let hosts: HashSet<usize> =
            self.values.iter().filter(|value| value.recorded).map(|value| value.host).collect();
        let sites = self.sites.iter_mut().filter(|site| hosts.contains(&site.range.start));
        sites.for_each(Site::record);
    }

    /// Sets a trigger. Its statement is recorded with every detail.
    pub fn add_trigger(&mut self, trigger: Trigger) {
        if let Some(site) = self.sites.get_mut(trigger.site) {
            site.record();
        }
        let at = self.triggers.partition_point(|other| other.site <= trigger.site);
        self.triggers.insert(at, trigger);
    }

    /// Sets a trigger at a value.
    pub fn add_watch(&mut self, watch: ValueWatch) {
        if let Some(value) = self.values.get(watch.value) {
            let host = value.host;
            self.sites.iter_mut().filter(|site| site.range.start == host).for_each(Site::record);
        }
        let at = self.watches.partition_point(|other| other.value <= watch.value);
        self.watches.insert(at, watch);
    }

    /// The triggers at a value.
    pub fn watches_at(&self, value: usize) -> &[ValueWatch] {
        let start = self.watches.partition_point(|watch| watch.value < value);
        let end = self.watches.partition_point(|watch| watch.value <= value);
        &self.watches[start..end]
    }

    /// The triggers at a site.
    pub fn triggers_at(&self, site: usize) -> &[Trigger] {
        let start = self.triggers.partition_point(|trigger| trigger.site < site);
        let end = self.triggers.partition_point(|trigger| trigger.site <= site);
        &self.triggers[start..end]
    }
}
