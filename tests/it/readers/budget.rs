//! `--budget`.

use serde_json::Value;
use xhist_tests::report;

use super::super::calls;
use super::{shell, tree, xhist};

/// Reports of text, and those of JSON lines.
const TEXT: &[&str] = &[
    "history",
    "history --lanes",
    "history --time --source",
    "answer",
    "calls",
    "tasks",
    "order",
    "hot",
    "builds",
    "suspects",
    "diff last::tests::unclosed",
    "runs",
    "traceinfo",
    "qspy",
];
const JSON: &[&str] =
    &["history", "calls", "tasks", "order", "hot", "builds", "diff last::tests::unclosed", "runs"];
const BUDGETS: &[usize] = &[1024, 1500, 2500, 100_000];

/// The same without a budget for one that is large enough, else shorter, and whole entries.
pub fn every_report() {
    for (command, is_json) in
        TEXT.iter().map(|text| (*text, false)).chain(JSON.iter().map(|json| (*json, true)))
    {
        let format = if is_json { " --format json" } else { "" };
        let whole = xhist(&format!("{command}{format}")).done().stdout;
        for budget in BUDGETS {
            let done = xhist(&format!("{command}{format} --budget {budget}")).done();
            done.check(done.code() < 2, "the report is made");
            done.check(done.stdout.len() <= *budget, "it fits");
            if whole.len() <= *budget {
                done.check(done.stdout == whole, "nothing is changed");
                continue;
            }
            let is_own = |line: &str| {
                whole.lines().any(|other| other == line)
                    || line.starts_with("... ") && line.ends_with(" left out")
            };
            let lines: Vec<&str> = done.stdout.lines().collect();
            if is_json {
                let lines: Vec<Value> = lines
                    .iter()
                    .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
                    .collect();
                let (first, last) = (&lines[0], &lines[lines.len() - 1]);
                done.check(
                    first["schema"] == 2 && last["kind"] == "end",
                    "the first and the last line are there",
                );
                done.check(last["left_out"]["entries"].as_u64() > Some(0), "how much is left out");
                let marked = lines.iter().filter(|line| line["kind"] == "left_out");
                let marked: u64 = marked.filter_map(|line| line["entries"].as_u64()).sum();
                done.check(last["left_out"]["entries"] == marked, "each is marked");
            } else {
                let (last, own) = lines.split_last().expect("a last line");
                done.check(
                    last.starts_with("left out: ") && last.contains(&format!("cargo xhist {command}")),
                    "the last line",
                );
                done.check(own.iter().all(|line| is_own(line)), "whole entries");
            }
        }
    }
    for budget in [1024, 1500, 2000] {
        let done = xhist(&format!("answer --format json --budget {budget}")).succeed();
        let document: Value = serde_json::from_str(&done.stdout).expect("a JSON line");
        done.check(done.stdout.len() <= budget, "the answer fits");
        done.check(document["failures"][0]["name"] == "tests::unclosed", "the failure is there");
        done.check(document["left_out"]["rows"].as_u64() > Some(0), "what is left out");
    }
    let whole = xhist("suspects --format json").succeed().stdout.len();
    for budget in [2500, whole - 100] {
        let done = xhist(&format!("suspects --format json --budget {budget}")).succeed();
        let document: Value = serde_json::from_str(&done.stdout).expect("a JSON document");
        done.check(done.stdout.len() <= budget && document["suspects"][0]["rank"] == 1, "the first suspects");
        done.check(document["left_out"]["suspects"].as_u64() > Some(0), "how many are left out");
    }
}

/// The newest statements, the way to the panic, and a command that works.
pub fn last_line() {
    let done = xhist("calls --budget 1400").succeed();
    for kept in
        ["*** panicked here", "tests::unclosed  src/lib.rs:", "calls --\n  Parser::value  src/lib.rs:"]
    {
        done.check(done.stdout.contains(kept), kept);
    }
    let rows = |text: &str| text.lines().filter(|line| line.contains("open at line")).count();
    done.check(rows(&done.stdout) == rows(&xhist("calls").succeed().stdout), "each open call is kept");
    let command = done.stdout.trim_end().rsplit_once(" All: ").expect("a command").1;
    let all = shell(tree(), command).succeed();
    all.check(all.stdout == xhist("calls").succeed().stdout, "all of it");

    let whole = xhist("history").succeed().stdout;
    let done = xhist("history --budget 1024").succeed();
    let newest = whole.lines().last().expect("an entry");
    done.check(done.stdout.contains(&format!("\n{newest}\nleft out: ")), "the newest entry");
    done.check(done.stdout.starts_with("... "), "the oldest are left out");
}

/// A loop with other statements in each round, and a deep recursion.
pub fn long_history() {
    let (_, file) = calls::run("many");
    let done = report(calls::program().path()).args("--budget 8k").arg(&file).done();
    done.check(done.code() < 2 && done.stdout.len() <= 8192 && done.stdout.len() > 6000, "it fits");
    let (_, deep) = calls::run("deep");
    let done = report(calls::program().path()).args("calls --budget 8k").arg(&deep).succeed();
    done.check(done.stdout.len() <= 8192 && done.stdout.len() > 2000, "it fits");
}

pub fn refused() {
    for (arguments, why) in [
        ("history --budget 100", "the least is 1024 bytes"),
        ("history --budget much", "a number of bytes"),
        ("history --follow --budget 8k", "--follow goes on"),
        ("suspects --format sarif --budget 8k", "--limit N prints fewer"),
        ("answer --format github --budget 8k", "--format github"),
        ("page --budget 8k", "unexpected argument"),
    ] {
        let done = xhist(arguments).done().expect(2);
        done.check(done.stderr.contains(why), why);
    }
}
