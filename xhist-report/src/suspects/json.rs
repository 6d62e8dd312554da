//! Suspects as one JSON document.

use serde_json::{Value, json};

use super::findings::{SuspectFindings, SuspectText, finite, rounded};
use super::formula::{self, TestTotals};
use super::program::Role;
use xhist_history::model::ShownValue;

impl SuspectFindings<'_> {
    /// All suspects with all numbers.
    pub fn json(&self, lines: SuspectText<'_>) -> Value {
        let TestTotals { failed, passed } = self.ranking.totals;
        let functions: Vec<Value> = self
            .ranking
            .functions
            .iter()
            .enumerate()
            .map(|(index, suspect)| {
                let function = &self.program.functions[suspect.function as usize];
                json!({
                    "rank": index + 1,
                    "file": self.path(function.file),
                    "function": function.path,
                    "score": finite(suspect.value),
                    "weight": rounded(suspect.score),
                    "suspects": self.ranks_in(suspect.function),
                })
            })
            .collect();
        let suspects: Vec<Value> = self
            .ranking
            .ranked()
            .map(|(rank, suspect)| {
                let evidence = &suspect.evidence;
                let first = self.site(suspect.sites[0]);
                let sites: Vec<Value> =
                    suspect.sites.iter().map(|site| self.site_json(*site, lines)).collect();
                json!({
                    "rank": rank,
                    "file": self.path(first.file),
                    "line": first.line,
                    "function": self.program.functions[first.function as usize].path,
                    "role": role_name(first.role),
                    "score": finite(evidence.value),
                    "weight": rounded(evidence.score),
                    "failed": evidence.counts.failed,
                    "passed": evidence.counts.passed,
                    "tie": suspect.tie,
                    "near": rounded(evidence.near),
                    "check": rounded(evidence.check),
                    "open": rounded(evidence.open),
                    "parts": evidence.parts_in,
                    "branch": rounded(evidence.branch),
                    "lines": sites,
                })
            })
            .collect();
        let name = |test: usize| self.tests.tests[test].name.as_str();
        let nearest: Vec<Value> = self
            .ranking
            .nearest
            .iter()
            .map(|(failed, passed)| json!({ "failed": name(*failed), "passed": name(*passed) }))
            .collect();
        let not_run: Vec<Value> = self
            .not_run()
            .iter()
            .map(|not_run| {
                let place = |number: &u32| {
                    let site = self.site(*number);
                    let function = &self.program.functions[site.function as usize].path;
                    json!({ "file": self.path(site.file), "line": site.line, "function": function })
                };
                let places: Vec<Value> = not_run.sites.iter().map(place).collect();
                json!({ "failed": name(not_run.failed), "passed": name(not_run.passed), "lines": places })
            })
            .collect();
        json!({
            "xhist": "suspects",
            "schema": 1,
            "formula": formula::NAME,
            "tests": { "failed": failed, "passed": passed, "not_recorded": self.tests.unknown },
            "order_only": passed == 0,
            "nearest": nearest,
            "not_run": not_run,
            "functions": functions,
            "suspects": suspects,
        })
    }

    /// The ranks of a function's suspects.
    fn ranks_in(&self, function: u32) -> Vec<usize> {
        let own =
            self.ranking.ranked().filter(|(_, suspect)| self.site(suspect.sites[0]).function == function);
        own.map(|(rank, _)| rank).collect()
    }

    fn site_json(&self, number: u32, lines: SuspectText<'_>) -> Value {
        let site = self.site(number);
        let value = |value: &ShownValue| json!({ "name": value.name, "type": value.type_name, "text": value.text, "line": value.line });
        let values: Vec<Value> = self.values.get(&number).into_iter().flatten().map(value).collect();
        let mut site = json!({
            "line": site.line,
            "end_line": site.end_line,
            "weight": rounded(self.ranking.evidence[number as usize].score),
            "source": lines(number, site.line),
        });
        if !values.is_empty() {
            site["values"] = values.into();
        }
        site
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Own => "own",
        Role::Test => "test",
        Role::Dependency => "dependency",
    }
}
