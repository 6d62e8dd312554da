//! Suspects as one JSON document.

use serde_json::{Value, json};

use super::findings::{SuspectFindings, SuspectText, finite, mark, rounded};
use super::formula;
use super::not_run::NotRun;
use super::program::Role;
use super::rank::{Suspect, SuspectFunction};
use xhist_history::model::ShownValue;

/// All suspects with all numbers, cluster by cluster.
pub fn json(clusters: &[SuspectFindings<'_>], lines: SuspectText<'_>) -> Value {
    let first = clusters.first();
    let failed: u32 = clusters.iter().map(|findings| findings.ranking.totals.failed).sum();
    let passed = first.map_or(0, |findings| findings.ranking.totals.passed);
    let not_recorded = first.map_or(&[][..], |findings| &findings.tests.unknown);
    let all =
        |rows: &dyn Fn(&SuspectFindings<'_>) -> Vec<Value>| clusters.iter().flat_map(rows).collect::<Value>();
    let of_cluster = |number: usize, mut rows: Vec<Value>| {
        rows.iter_mut().for_each(|row| row["cluster"] = number.into());
        rows
    };
    let functions: Value = (1..)
        .zip(clusters)
        .flat_map(|(number, findings)| of_cluster(number, findings.functions_json()))
        .collect();
    let suspects: Value = (1..)
        .zip(clusters)
        .flat_map(|(number, findings)| of_cluster(number, findings.suspects_json(lines)))
        .collect();
    json!({
        "xhist": "suspects",
        "schema": 2,
        "formula": formula::NAME,
        "tests": { "failed": failed, "passed": passed, "not_recorded": not_recorded },
        "order_only": passed == 0,
        "clusters": all(&|findings| {
            let failed: Vec<&str> = findings.ranking.failed.iter().map(|test| findings.name(*test)).collect();
            vec![json!({ "failed": failed })]
        }),
        "nearest": all(&|findings| findings.nearest_json()),
        "not_run": all(&|findings| findings.not_run_json()),
        "functions": functions,
        "suspects": suspects,
    })
}

impl SuspectFindings<'_> {
    fn functions_json(&self) -> Vec<Value> {
        let row = |(index, suspect): (usize, &SuspectFunction)| {
            let function = &self.program.functions[suspect.function as usize];
            json!({
                "rank": index + 1,
                "file": self.path(function.file),
                "function": function.path,
                "score": finite(suspect.value),
                "weight": rounded(suspect.score),
                "suspects": self.ranks_in(suspect.function),
            })
        };
        self.ranking.functions.iter().enumerate().map(row).collect()
    }

    fn suspects_json(&self, lines: SuspectText<'_>) -> Vec<Value> {
        let row = |(rank, suspect): (usize, &Suspect)| {
            let (site, evidence) = (self.site(suspect.site), &suspect.evidence);
            let mut row = json!({
                "rank": rank,
                "file": self.path(site.file),
                "line": site.line,
                "end_line": site.end_line,
                "source": lines(suspect.site, site.line),
                "function": self.program.functions[site.function as usize].path,
                "role": role_name(site.role),
                "score": finite(evidence.value),
                "weight": rounded(evidence.score),
                "failed": evidence.counts.failed,
                "passed": evidence.counts.passed,
                "tie": suspect.tie,
                "mark": suspect.mark.map(mark),
                "near": rounded(evidence.near),
                "open": rounded(evidence.open),
                "made": rounded(evidence.made),
                "parts": evidence.parts_in,
                "panics": evidence.panics_in,
                "branch": rounded(evidence.branch),
                "text": rounded(evidence.text),
            });
            let value = |value: &ShownValue| json!({ "name": value.name, "type": value.type_name, "text": value.text, "line": value.line });
            let values: Vec<Value> =
                self.values.get(&suspect.site).into_iter().flatten().map(value).collect();
            if !values.is_empty() {
                row["values"] = values.into();
            }
            row
        };
        self.ranking.ranked().map(row).collect()
    }

    fn nearest_json(&self) -> Vec<Value> {
        let row = |(failed, passed): &(usize, usize)| json!({ "failed": self.name(*failed), "passed": self.name(*passed) });
        self.ranking.nearest.iter().map(row).collect()
    }

    fn not_run_json(&self) -> Vec<Value> {
        let place = |number: &u32| {
            let site = self.site(*number);
            let function = &self.program.functions[site.function as usize].path;
            json!({ "file": self.path(site.file), "line": site.line, "function": function })
        };
        let row = |not_run: &NotRun| {
            let places: Vec<Value> = not_run.sites.iter().map(place).collect();
            json!({ "failed": self.name(not_run.failed), "passed": self.name(not_run.passed), "lines": places })
        };
        self.not_run().iter().map(row).collect()
    }

    /// The ranks of a function's suspects.
    fn ranks_in(&self, function: u32) -> Vec<usize> {
        let own = self.ranking.ranked().filter(|(_, suspect)| self.site(suspect.site).function == function);
        own.map(|(rank, _)| rank).collect()
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Own => "own",
        Role::Test => "test",
        Role::Dependency => "dependency",
    }
}
