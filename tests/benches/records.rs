//! What a QS record costs, beside an event of `tracing` and, where one is at hand, another QS target:
//! `[XHIST_RECORDS_BESIDE=PROGRAM] cargo bench -p xhist-tests --bench records`.
//!
//! PROGRAM takes the same arguments as `tests/fixtures/records`: a kind of record and how often to send it; it prints
//! nanoseconds a record. Instructions are counted by valgrind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use xhist_tests::{Run, Tree, clean_up, online_cargo};

/// Kinds of records, and what each is.
const KINDS: [(&str, &str); 12] = [
    ("off", "a record that is filtered out"),
    ("tick", "QF_TICK"),
    ("dispatch", "QEP_DISPATCH"),
    ("tran", "QEP_TRAN"),
    ("post", "QF_ACTIVE_POST"),
    ("numbers", "application, three u32"),
    ("text", "application, u8 and \"thinking\""),
    ("pair", "application, two u32"),
    ("profile-off", "profile event that is off"),
    ("profile", "profile event, two arguments"),
    ("event", "exception event, two arguments"),
    ("tracing", "event of tracing, three u32, nobody listens"),
];

/// These are told beside an application record with as many numbers.
const EVENTS: [&str; 4] = ["profile-off", "profile", "event", "tracing"];
const RECORD: &str = "pair";

/// Records that are timed, and counted.
const TIMED: u32 = 2_000_000;
const COUNTED: u32 = 10_000;
/// The best of so many counts; the programs take turns.
const TURNS: usize = 5;

fn main() {
    let tree = Tree::with_recorder("tests/fixtures/records");
    online_cargo(tree.path())
        .args("build --release --quiet")
        .env("CARGO_TARGET_DIR", tree.join("target"))
        .succeed();
    let ours = tree.join("target/release/records");
    let beside = std::env::var_os("XHIST_RECORDS_BESIDE").map(PathBuf::from);

    println!("instructions and nanoseconds a record\n");
    print!("{:<46} {:>10} {:>8}", "", "xhist", "ns");
    println!("{}", if beside.is_some() { "     beside       ns   ratio of instructions" } else { "" });
    let mut costs = BTreeMap::new();
    for (kind, about) in KINDS {
        let [mut best, mut best_beside] = [f64::INFINITY; 2];
        for _ in 0..TURNS {
            best = best.min(time(&ours, kind));
            if let Some(beside) = beside.as_deref().filter(|_| kind != "tracing") {
                best_beside = best_beside.min(time(beside, kind));
            }
        }
        let instructions = instructions(&ours, kind);
        costs.insert(kind, (about, instructions, best));
        print!("{about:<46} {instructions:>10.1} {best:>8.2}");
        if let Some(beside) = beside.as_deref().filter(|_| kind != "tracing") {
            let theirs = self::instructions(beside, kind);
            print!(" {theirs:>10.1} {best_beside:>8.2} {:>7.2}", instructions / theirs);
        }
        println!();
    }
    let (about, instructions, nanoseconds) = costs[RECORD];
    println!("\nas ratios to: {about}");
    for (about, of_instructions, of_time) in EVENTS.map(|kind| costs[kind]) {
        println!("{about:<46} {:>10.3} {:>8.3}", of_instructions / instructions, of_time / nanoseconds);
    }
    clean_up();
}

/// Nanoseconds a record, beyond what the loop takes.
fn time(program: &Path, kind: &str) -> f64 {
    let of = |kind: &str| -> f64 {
        let done = Run::new(program, program.parent().expect("a directory"))
            .args(&format!("{kind} {TIMED}"))
            .succeed();
        done.stdout.trim().parse().expect("nanoseconds")
    };
    (of(kind) - of("none")).max(0.0)
}

/// Instructions a record, beyond what the loop takes.
fn instructions(program: &Path, kind: &str) -> f64 {
    let count = |kind: &str, count: u32| -> f64 {
        let run = Run::new("valgrind", program.parent().expect("a directory"))
            .args("--tool=callgrind --callgrind-out-file=/dev/null")
            .arg(program)
            .args(&format!("{kind} {count}"));
        let told = run.succeed().stderr;
        let collected = told.lines().find_map(|line| line.split_once("Collected : "));
        collected.and_then(|(_, count)| count.trim().parse().ok()).expect("a count of instructions")
    };
    let of = |kind| (count(kind, COUNTED + 10) - count(kind, 10)) / f64::from(COUNTED);
    of(kind) - of("none")
}
