//! Does the history begin and end at the statements that the user names?

use xhist_tests::{Build, Case, Listing, Run, Torture, Tree, cargo, instrument, report};

use crate::in_place::add_recorder;
use crate::untouched::compiled;

pub const CASES: &[Case] = &[
    Case::new("the_history_ends_and_begins_at_the_statement_named", cargo_xhist),
    Case::new("a_trigger_compiles_what_it_touches_and_nothing_else", compiled_again),
    Case::new("a_trigger_in_a_dependency_comes_and_goes", in_dependency),
    Case::new("a_trigger_without_a_statement_is_an_error_and_changes_nothing", wrong),
    Case::new("triggers_of_a_project_that_is_instrumented_in_place", in_place),
    Case::new("a_record_stops_also_when_its_thread_did_nothing_before", stopping_record),
    Case::new("records_wait_for_a_start_too", waiting_records),
    Case::new("the_very_first_record_waits_for_a_start", waiting_event),
];

const MANIFEST: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n
[dependencies]\npart = { path = \"part\" }\n
[workspace]\nmembers = [\"part\"]\n";

const MAIN: &str = "fn main() {
    for n in 0..5 {
        part::step(n);
    }
    println!(\"end\");
}
";

const PART: &str = "pub fn step(n: u32) -> u32 {
    let double = |m: u32|
        m * 2;
    double(n) + match n {
        3 => 1,
        _ => 0,
    }
}
";

fn project() -> Tree {
    let tree = Tree::empty("triggers");
    tree.write("Cargo.toml", MANIFEST);
    tree.write("src/main.rs", MAIN);
    tree.write("part/Cargo.toml", "[package]\nname = \"part\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    tree.write("part/src/lib.rs", PART);
    tree
}

/// The places that a run with these options records, `m` for `src/main.rs:` and `p` for `part/src/lib.rs:`.
fn places(tree: &Tree, options: &str) -> Vec<String> {
    let file = tree.join("history.xhist");
    let _ = std::fs::remove_file(&file);
    let run = cargo(tree.path()).args("xhist run --quiet").args(options).env("XHIST_FILE", &file).succeed();
    assert_eq!(run.stdout, "end\n");
    recorded(tree, &file)
}

fn recorded(tree: &Tree, file: &std::path::Path) -> Vec<String> {
    let places = Listing::parse(&report(tree.path()).arg(file).succeed().stdout).places();
    places.iter().map(|place| place.replace("src/main.rs:", "m").replace("part/src/lib.rs:", "p")).collect()
}

const FIRST: [&str; 7] = ["m2", "m3", "p2", "p4", "p3", "p6", "m3"];

fn cargo_xhist() {
    let tree = project();
    assert_eq!(places(&tree, "--stop-at src/main.rs:3"), FIRST[..2]);
    assert_eq!(places(&tree, "--stop-at src/main.rs:3#2"), FIRST);
    // A closure and an arm; a file by the end of its path.
    assert_eq!(places(&tree, "--stop-at lib.rs:3"), FIRST[..5]);
    assert_eq!(places(&tree, "--stop-at lib.rs:6+1"), FIRST);
    let at_arm = places(&tree, "--stop-at=lib.rs:5");
    assert_eq!((at_arm.len(), at_arm.last().map(String::as_str)), (1 + 3 * 5 + 5, Some("p5")));
    // The innermost statement around a line.
    assert_eq!(places(&tree, "--stop-at part/src/lib.rs:7"), FIRST[..4]);
    assert_eq!(places(&tree, "--start-at src/main.rs:5"), ["m5"]);
    assert_eq!(places(&tree, "--start-at lib.rs:3#5 --stop-at main.rs:3#99"), ["p3", "p6", "m5"]);
    let says =
        |table: &str| tree.write("Cargo.toml", &format!("{MANIFEST}[package.metadata.xhist]\n{table}\n"));
    says("stop-at = [\"part/src/lib.rs:2#1+2\"]");
    assert_eq!(places(&tree, ""), FIRST[..5]);
    says("when = \"after\"\nstop-at = [\"src/main.rs:3\"]");
    assert_eq!(
        places(&tree, "").last().map(String::as_str),
        Some("m3"),
        "it is the last also when it is done"
    );
}

fn compiled_again() {
    let tree = project();
    let build = |options: &str| cargo(tree.path()).args("xhist build").args(options).succeed();
    build("");
    for (options, expected) in [
        ("", &[][..]),
        ("--stop-at src/main.rs:3", &["app"]),
        ("--stop-at src/main.rs:3", &[]),
        ("--stop-at src/main.rs:3#2", &["app"]),
        ("", &["app"]),
        ("", &[]),
        ("--stop-at lib.rs:2", &["part", "app"]),
        ("--stop-at lib.rs:2 --stop-at src/main.rs:3", &["app"]),
    ] {
        let done = build(options);
        done.check(compiled(&done) == expected, &format!("{options:?} compiles {expected:?}"));
    }
    let waits = build("--start-at src/main.rs:3");
    waits.check(waits.stderr.contains("XHIST=wait"), "who runs it must know");
}

fn in_dependency() {
    let tree = project();
    tree.write("Cargo.toml", &MANIFEST.replace("members", "exclude"));
    let all = places(&tree, "--deps part");
    assert_eq!(all[..7], FIRST);
    assert_eq!(places(&tree, "--deps part --stop-at part/src/lib.rs:3"), FIRST[..5]);
    assert_eq!(places(&tree, "--deps part --stop-at part/src/lib.rs:3+1"), FIRST[..6]);
    assert_eq!(places(&tree, "--deps part"), all);
}

fn wrong() {
    let tree = project();
    tree.write("tests/main.rs", "#[test]\nfn f() {\n    assert!(true);\n}\n");
    let before = tree.fingerprint();
    for (options, message) in [
        ("--stop-at main.rs:3", "several files end like this"),
        ("--stop-at src/main.rs:1", "no statement of line 1 is recorded; the nearest is in line 2"),
        ("--stop-at src/missing.rs:1", "src/missing.rs is not among the instrumented sources"),
        ("--stop-at src/main.rs", "--stop-at src/main.rs: expected FILE:LINE[#HIT][+AFTER]"),
        ("--start-at src/main.rs:3+1", "expected FILE:LINE[#HIT],"),
    ] {
        let run = cargo(tree.path()).args("xhist run --quiet").args(options).done();
        run.check(run.code() == 1 && run.stderr.contains(message), &format!("{options}: {message}"));
        let run = instrument(tree.path()).args("src tests part").args(options).done();
        run.check(run.code() == 2 && run.stderr.contains(message), &format!("{options}: {message}"));
    }
    let run = instrument(tree.path()).args("src").args(&"--stop-at src/main.rs:3 ".repeat(65)).done();
    run.check(run.code() == 2 && run.stderr.contains("a program can have 64"), "there are not too many");
    // Cargo's own files aside.
    let after = tree.fingerprint();
    let changed = before.changed(&after);
    assert!(changed.iter().all(|path| path.extension().is_none_or(|end| end != "rs")), "{changed:?}");
}

fn in_place() {
    let tree = Tree::package("app");
    add_recorder(&tree, r#""std", "trace""#);
    tree.write("src/main.rs", &MAIN.replace("part::", ""));
    tree.write("src/main.rs", &format!("{}{PART}", tree.read("src/main.rs")));
    let before = tree.read("src/main.rs");
    let run =
        instrument(tree.path()).args("src --start-at main.rs:3#2 --stop-at src/main.rs:9#3+1").succeed();
    run.check(run.stderr.contains("XHIST=wait"), "who runs it must know");
    let file = tree.join("history.xhist");
    cargo(tree.path()).args("build --quiet").succeed();
    let program = Run::new(tree.join("target/debug/app"), tree.path());
    program.env("XHIST_FILE", &file).env("XHIST", "wait").succeed();
    assert_eq!(recorded(&tree, &file), ["m3", "m8", "m10", "m9", "m12", "m3", "m8", "m10", "m9", "m12"]);
    instrument(tree.path()).args("--strip src").succeed();
    assert_eq!(tree.read("src/main.rs"), before);
}

fn stopping_record() {
    let torture = Torture::new(Build::Optimised, "stopping_record", "64k", 1);
    torture.run().succeed();
    let rings = torture.recorded();
    assert_eq!(rings[0].statements.len(), 3, "{:?}", rings[0].events);
}

fn waiting_event() {
    let torture = Torture::new(Build::Optimised, "waiting_event", "64k", 1000).env("XHIST", "wait");
    torture.run().succeed();
    let rings = torture.recorded();
    assert_eq!(rings[0].whole("waiting_event").statements.len(), 300);
}

fn waiting_records() {
    let torture = Torture::new(Build::Optimised, "waiting_records", "64k", 1).env("XHIST", "wait");
    torture.run().succeed();
    let rings = torture.recorded();
    assert_eq!(rings[0].records, [(100, 0), (100, 0)], "{:?}", rings[0].wrong);
}
