//! The findings of a ranking, as every format shows them: places, functions, counts and scores.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::not_run::{NotRun, not_run};
use super::program::{ProgramSites, Role, Site};
use super::rank::{Ranking, Suspect};
use super::run::Tests;
use xhist_history::model::{Names, ShownValue, SuspectLine, values_line, visible};
use xhist_history::recording::SuspectRow;

/// The text of a line, of the file of a site.
pub type SuspectText<'l> = &'l mut dyn FnMut(u32, u32) -> String;

/// What is printed.
pub struct SuspectFindings<'a> {
    pub program: &'a ProgramSites,
    pub names: &'a Names,
    pub tests: &'a Tests,
    pub ranking: &'a Ranking,
    /// Values behind sites, where a failed test ran them last.
    pub values: &'a HashMap<u32, Vec<ShownValue>>,
}

impl SuspectFindings<'_> {
    /// How many failed and passed tests ran it.
    pub fn counts(&self, suspect: &Suspect) -> String {
        let (counts, totals) = (suspect.evidence.counts, self.ranking.totals);
        let failed = format!("{}/{}", counts.failed, totals.failed);
        let mark = suspect.mark.map_or(String::new(), |number| format!(" {}", mark(number)));
        match totals.passed {
            0 => format!(" [{failed}{mark}]"),
            passed => format!(" [{failed} {}/{passed}{mark}]", counts.passed),
        }
    }

    /// A site by its number.
    pub fn site(&self, site: u32) -> &Site {
        &self.program.sites[site as usize]
    }

    /// The values behind a site, in the failed test that ran it last; empty without any.
    pub fn shown_values(&self, site: u32) -> String {
        self.values.get(&site).map_or(String::new(), |values| format!("  {}", values_line(values)))
    }

    /// The path of a file; empty if the map has none.
    pub fn path(&self, file: u16) -> &str {
        self.names.path(file).unwrap_or_default()
    }

    /// The lines of all suspects that are not code of tests.
    pub fn own_lines(&self, map_hash: u64) -> Vec<SuspectLine> {
        let own = self.ranking.ranked().map(|(rank, suspect)| (rank, self.site(suspect.site)));
        let own = own.filter(|(_, site)| site.role == Role::Own);
        own.map(|(rank, site)| SuspectLine { map_hash, file: site.file, line: site.line, rank }).collect()
    }

    /// The names of the failed tests that it ranks by.
    pub fn failed_tests(&self) -> impl Iterator<Item = &str> + Clone {
        self.ranking.failed.iter().map(|test| self.name(*test))
    }

    /// The name of a test.
    pub fn name(&self, test: usize) -> &str {
        &self.tests.tests[test].name
    }

    /// Every site with its rank, for views.
    pub fn rows(&self, lines: SuspectText<'_>) -> Vec<SuspectRow> {
        self.ranking
            .ranked()
            .map(|(rank, suspect)| {
                let site = self.site(suspect.site);
                SuspectRow {
                    rank,
                    score: suspect.evidence.value,
                    path: self.names.shown_path(site.file).unwrap_or_default().to_owned(),
                    line: site.line,
                    function: self.shown_function(site.function),
                    text: lines(suspect.site, site.line),
                }
            })
            .collect()
    }

    /// What each failed test did not run, see [`not_run`].
    pub fn not_run(&self) -> Vec<NotRun> {
        not_run(self.program, &self.tests.tests, &self.ranking.nearest)
    }

    /// `file:line` of a site.
    pub fn place(&self, site: &Site, line: u32) -> String {
        format!("{}:{line}", visible(self.path(site.file)))
    }

    /// The name of a function; that of its file if it has none.
    pub fn shown_function(&self, function: u32) -> String {
        let function = &self.program.functions[function as usize];
        match function.path.is_empty() {
            true => visible(self.path(function.file)).into_owned(),
            false => function.path.clone(),
        }
    }
}

/// The mark of lines that always ran together: a to z, then aa.
pub fn mark(number: usize) -> String {
    let last = char::from(b'a' + (number % 26) as u8);
    let front = (number / 26).checked_sub(1).map_or(String::new(), mark);
    format!("{front}{last}")
}

/// With two digits.
pub fn shown_value(value: f64) -> String {
    if value.is_infinite() { "inf".to_owned() } else { format!("{value:.2}") }
}

/// JSON has no infinity.
pub fn finite(value: f64) -> Value {
    if value.is_finite() { json!(rounded(value)) } else { json!("inf") }
}

/// With four digits.
pub fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
