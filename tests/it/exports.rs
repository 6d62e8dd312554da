//! Histories for other viewers, read by the code of those viewers: Perfetto, CodeTracer, flame graphs; and annotations
//! for GitHub.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;
use xhist_tests::{Case, Need, Run, Tree, cargo, online_cargo, report, repository};

use super::{answer, calls};

/// The readers of other people are compiled.
pub const VIEWERS: &[Need] = &[Need::Long, Need::Registry];

pub const CASES: &[Case] = &[
    Case::needing("a_perfetto_trace_is_valid_and_has_every_call", &[Need::Perfetto], perfetto),
    Case::needing("codetracer_reads_its_folder", VIEWERS, codetracer),
    Case::needing("inferno_draws_folded_stacks", VIEWERS, flame_graph),
    Case::new("failures_are_annotated_for_github", github),
    Case::new("github_takes_ten_annotations_and_the_rest_is_in_the_summary", crowd),
];

/// Decodes a trace by Perfetto's own definitions: the slices of each track, and what is wrong with their nesting.
const DECODE: &str = include_str!("exports/decode.py");

/// How often each function was called, by the rows of the call tree. The calls inside a row with a count are that of one call.
fn expected_calls(file: &Path) -> BTreeMap<String, u64> {
    let mut expected = BTreeMap::new();
    let mut around: Vec<u64> = Vec::new();
    for row in calls::rows(file, "call").iter().filter(|row| row["part"] != "end") {
        around.truncate(usize::try_from(row["depth"].as_u64().expect("a depth")).expect("a depth"));
        let times = around.last().unwrap_or(&1) * row["times"].as_u64().unwrap_or(1);
        around.push(times);
        *expected.entry(row["function"].as_str().expect("a function").to_owned()).or_default() += times;
    }
    expected
}

fn by_name(value: &Value) -> BTreeMap<String, u64> {
    let rows = value.as_object().expect("an object").iter();
    rows.map(|(name, count)| (name.clone(), count.as_u64().expect("a count"))).collect()
}

/// What is in a Perfetto trace.
pub fn decoded(directory: &Path, trace: &Path) -> Value {
    let script = directory.join("decode.py");
    std::fs::write(&script, DECODE).expect("written");
    let python = Need::perfetto().expect("a Python with the package");
    let decoded = Run::new(python, directory).arg(&script).arg(trace).succeed();
    serde_json::from_str(&decoded.stdout).expect("JSON")
}

fn perfetto() {
    for case in ["expressions", "panics", "async"] {
        let (_, file) = calls::run(case);
        let trace = file.with_extension("pftrace");
        report(calls::program().path()).args("export perfetto --output").arg(&trace).arg(&file).succeed();
        let decoded = decoded(calls::program().path(), &trace);
        assert_eq!((&decoded["unknown"], &decoded["errors"]), (&Value::from(0), &Value::Array(Vec::new())));
        assert_eq!(by_name(&decoded["calls"]), expected_calls(&file), "{case}");
        let tracks = decoded["tracks"].as_array().expect("tracks");
        let is_main = |track: &Value| track.as_str().is_some_and(|name| name == "main");
        assert!(tracks.iter().any(is_main), "{tracks:?}");
        let instants = decoded["instants"].as_object().expect("instants");
        assert_eq!(instants.contains_key("panic"), case == "panics", "{instants:?}");
        let has_task =
            tracks.iter().any(|track| track.as_str().is_some_and(|name| name.starts_with("task ")));
        assert_eq!(has_task, case == "async", "{tracks:?}");
    }
}

/// The program that reads exports, built once.
fn viewers() -> &'static Path {
    static VIEWERS: OnceLock<Tree> = OnceLock::new();
    let tree = VIEWERS.get_or_init(|| {
        let tree = Tree::kept("viewers", &repository().join("tests/fixtures/viewers"), str::to_owned);
        online_cargo(tree.path()).args("build --quiet").succeed();
        tree
    });
    tree.path()
}

/// What the code of a viewer finds in an export.
pub fn read_by_viewers(directory: &Path, kind: &str, export: &Path) -> String {
    Run::new(viewers().join("target/debug/viewers"), directory).args(kind).arg(export).succeed().stdout
}

fn codetracer() {
    let (_, file) = calls::run("expressions");
    let folder = file.with_extension("codetracer");
    let at = calls::program().path();
    report(at).args("export codetracer --output").arg(&folder).arg(&file).succeed();
    let read: Value = serde_json::from_str(&read_by_viewers(at, "codetracer", &folder)).expect("JSON");
    let mut found = by_name(&read["calls"]);
    assert_eq!(found.remove("<toplevel>"), Some(1));
    assert_eq!(found, expected_calls(&file));
    // A folder that has files is left as it is.
    let again = report(at).args("export codetracer --output").arg(&folder).arg(&file).done().expect(1);
    again.check(again.stderr.contains("is not empty; --output names another one"), "refused");
    // Without a folder there is nothing to write to.
    let nowhere = report(at).args("export codetracer").arg(&file).done().expect(2);
    nowhere.check(nowhere.stderr.contains("`-o DIR` writes it"), "the option is named");
    let (_, file) = calls::run("panics");
    let folder = file.with_extension("codetracer");
    report(at).args("export codetracer --output").arg(&folder).arg(&file).succeed();
    let read = read_by_viewers(at, "codetracer", &folder);
    assert!(read.contains("\"panic at "), "{read}");
}

fn flame_graph() {
    let (_, file) = calls::run("expressions");
    let at = calls::program().path();
    let folded = file.with_extension("folded");
    std::fs::write(&folded, report(at).args("export folded").arg(&file).succeed().stdout).expect("written");
    let drawn = read_by_viewers(at, "folded", &folded);
    for function in ["main", "expressions", "fib"] {
        assert!(drawn.contains(&format!("<title>{function} (")), "{function}: {drawn}");
    }
}

/// The annotations in an output: kind, file and line, title.
fn annotations(stdout: &str) -> Vec<(String, String, String)> {
    let commands = stdout.lines().filter_map(|line| line.strip_prefix("::")?.split_once("::"));
    let parts = commands.filter_map(|(command, _)| command.split_once(' '));
    let property = |properties: &str, name: &str| {
        let value = properties.split(',').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
        value.unwrap_or_default().to_owned()
    };
    let annotation = |(kind, properties): (&str, &str)| {
        let place = format!("{}:{} ", property(properties, "file"), property(properties, "line"));
        (kind.to_owned(), place, property(properties, "title"))
    };
    parts.map(annotation).collect()
}

fn github() {
    let tree = answer::tree();
    let summary = tree.join("summary.md");
    std::fs::write(&summary, "before\n").expect("written");
    let run = cargo(tree.path()).args("xhist test -q --lib --message-format github");
    let run = run.env("GITHUB_STEP_SUMMARY", &summary).env("GITHUB_WORKSPACE", tree.path());
    let done = run.done().expect(101);
    let found = annotations(&done.stdout);
    let error = |test: &str, mark: &str| {
        let (place, title) = (answer::place("src/lib.rs", mark), format!("tests%3A%3A{test} failed"));
        let is_there = found.contains(&("error".to_owned(), place, title));
        done.check(is_there, test);
    };
    error("a_recursion_ends", "// deepest");
    error("a_loop_ends", "// endless");
    let suspects = found.iter().filter(|(kind, ..)| kind == "warning");
    let titles: Vec<_> = suspects.map(|(.., title)| title.as_str()).collect();
    done.check(titles.iter().any(|title| title.starts_with("suspect 1 in ")), "the first suspect");
    let first = done.stderr.lines().rfind(|line| line.trim_start().starts_with("1. ")).unwrap_or_default();
    let score = first.split(['(', ')']).nth(1).unwrap_or_default();
    let score = format!("(score {score})");
    done.check(done.stdout.contains("::warning") && done.stdout.contains(&score), &score);
    let text = std::fs::read_to_string(&summary).expect("a summary");
    done.check(text.starts_with("before\n") && text.contains("### xhist: "), "appended");
    done.check(text.contains("| suspect | score | line | statement |"), "suspects");
    // The project may be in a folder of the checkout.
    let above = tree.path().parent().expect("a folder");
    // Other cases have runs in this project, too.
    let runs = done.stdout.split_once("target/xhist/runs/").expect("a history").1;
    let name = runs.split('/').next().expect("a name");
    let run = report(tree.path())
        .args(&format!("answer --format github target/xhist/runs/{name}"))
        .env("GITHUB_WORKSPACE", above);
    let done = run.succeed();
    let folder = tree.path().file_name().expect("a name").to_string_lossy();
    done.check(done.stdout.contains(&format!("file={folder}/src/lib.rs,line=")), "relative to the checkout");
    let done = cargo(tree.path()).args("xhist build --message-format=github").done().expect(1);
    done.check(done.stderr.contains("runs nothing"), "a build is refused");
}

fn crowd() {
    let tree = answer::tree();
    let done =
        cargo(tree.path()).args("xhist test -q --test crowd --message-format=github").done().expect(101);
    let found = annotations(&done.stdout);
    done.check(found.iter().filter(|(kind, ..)| kind == "error").count() == 10, "ten of fifty");
    done.check(done.stdout.contains("; 40 failures have no annotation\n"), "the others are counted");
}
