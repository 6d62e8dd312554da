//! Suspects as SARIF 2.1.0, for code scanning.

use serde_json::{Value, json};

use super::findings::{SuspectFindings, SuspectText, rounded, shown_value};
use super::formula;
use super::program::Site;

/// Most sites of a history: GitHub shows no more.
const STEPS: usize = 100;

/// The suspects of all clusters, and the history of a failed test as the code flow of the first one.
pub fn sarif(clusters: &[SuspectFindings<'_>], lines: SuspectText<'_>) -> Value {
    let results: Vec<Value> = clusters.iter().flat_map(|findings| findings.results(lines)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "xhist-report",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": [{
                    "id": "xhist/suspect",
                    "shortDescription": { "text": "A statement that failed tests run and passed tests do not" },
                }],
            } },
            "results": results,
        }],
    })
}

impl SuspectFindings<'_> {
    fn results(&self, lines: SuspectText<'_>) -> Vec<Value> {
        self.ranking
            .ranked()
            .map(|(rank, suspect)| {
                let site = self.site(suspect.site);
                let function = self.shown_function(site.function);
                let text = format!(
                    "Suspect {} ({} {}), failed and passed tests that ran it:{}. {function}: {}",
                    rank,
                    formula::NAME,
                    shown_value(suspect.evidence.value),
                    self.counts(suspect),
                    lines(suspect.site, site.line),
                );
                let mut result = json!({
                    "ruleId": "xhist/suspect",
                    "level": "note",
                    "rank": rounded((suspect.evidence.score * 100.0).clamp(0.0, 100.0)),
                    "message": { "text": text },
                    "locations": [{
                        "physicalLocation": self.physical(site),
                        "logicalLocations": [{ "fullyQualifiedName": function, "kind": "function" }],
                    }],
                });
                if rank == 1 {
                    result["codeFlows"] = json!(self.code_flows());
                }
                result
            })
            .collect()
    }

    /// The last sites before the failure of the first test of the cluster that has a history.
    fn code_flows(&self) -> Vec<Value> {
        let mut tests = self.ranking.failed.iter().map(|test| &self.tests.tests[*test]);
        let history = tests.find_map(|test| Some((&test.name, test.history.as_ref()?)));
        let Some((name, history)) = history else { return Vec::new() };
        let mut last = history.order[history.order.len().saturating_sub(STEPS)..].to_vec();
        last.dedup();
        let steps: Vec<Value> = last
            .iter()
            .enumerate()
            .map(|(index, site)| {
                let location = json!({ "physicalLocation": self.physical(self.site(*site)) });
                json!({ "executionOrder": index + 1, "location": location })
            })
            .collect();
        let message = format!("The last statements of {name}");
        match steps.is_empty() {
            true => Vec::new(),
            false => vec![json!({
                "message": { "text": message },
                "threadFlows": [{ "id": name, "locations": steps }],
            })],
        }
    }

    fn physical(&self, site: &Site) -> Value {
        json!({
            "artifactLocation": { "uri": uri(self.path(site.file)) },
            "region": { "startLine": site.line, "startColumn": site.col, "endLine": site.end_line.max(site.line) },
        })
    }
}

/// A path as a relative reference.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(char::from(byte))
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}
