//! What a QS record costs, beside an event of `tracing` and, where a checkout of QP/C is at hand, beside QP/C's records:
//! `[QPC=DIRECTORY] cargo bench -p xhist-tests --bench records`.
//!
//! Instructions are counted by valgrind. QP/C is compiled with `cc -O2`, or what `CC` and `CFLAGS` say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use xhist_tests::{Run, Tree, clean_up, online_cargo};

/// Kinds of records, and what each is.
const KINDS: [(&str, &str); 16] = [
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
    ("tracing", "event of tracing, three u32, no subscriber"),
    ("std", "`println!` of std, two u32"),
    ("printed", "the same, recorded"),
    ("statement", "statement that checks for room"),
    ("value", "the same, and the value of a u32"),
];

/// These are compared with QP/C's.
const BESIDE: [&str; 8] = ["off", "tick", "dispatch", "tran", "post", "numbers", "text", "pair"];

/// These are compared with an application record that has as many numbers.
const EVENTS: [&str; 8] =
    ["profile-off", "profile", "event", "tracing", "std", "printed", "statement", "value"];
const RECORD: &str = "pair";

/// Records that are timed, and counted.
const TIMED: u32 = 2_000_000;
const COUNTED: u32 = 10_000;
/// Runs, the best of which counts. The programs take turns.
const TURNS: usize = 5;

fn main() {
    let tree = Tree::with_recorder("tests/fixtures/records");
    online_cargo(tree.path())
        .args("build --release --quiet")
        .env("CARGO_TARGET_DIR", tree.join("target"))
        .succeed();
    let ours = tree.join("target/release/records");
    let beside = std::env::var_os("QPC").map(|checkout| qpc(Path::new(&checkout), &tree));

    println!("instructions and nanoseconds a record\n");
    print!("{:<46} {:>10} {:>8}", "", "xhist", "ns");
    println!("{}", if beside.is_some() { "       QP/C       ns   ratio of instructions" } else { "" });
    let mut costs = BTreeMap::new();
    let mut dearer = Vec::new();
    for (kind, about) in KINDS {
        let beside = beside.as_deref().filter(|_| BESIDE.contains(&kind));
        let [mut best, mut best_beside] = [f64::INFINITY; 2];
        for _ in 0..TURNS {
            best = best.min(time(&ours, kind));
            if let Some(beside) = beside {
                best_beside = best_beside.min(time(beside, kind));
            }
        }
        let instructions = instructions(&ours, kind);
        costs.insert(kind, (about, instructions, best));
        print!("{about:<46} {instructions:>10.1} {best:>8.2}");
        if let Some(beside) = beside {
            let theirs = self::instructions(beside, kind);
            print!(" {theirs:>10.1} {best_beside:>8.2} {:>7.2}", instructions / theirs);
            if instructions > theirs && kind != "off" {
                dearer.push(about);
            }
        }
        println!();
    }
    if beside.is_some() {
        let verdict = if dearer.is_empty() { "none".to_owned() } else { dearer.join(", ") };
        println!("\nrecords that take more instructions than QP/C's: {verdict}");
    }
    let (about, instructions, nanoseconds) = costs[RECORD];
    println!("\nas ratios to: {about}");
    for (about, of_instructions, of_time) in EVENTS.map(|kind| costs[kind]) {
        println!("{about:<46} {:>10.3} {:>8.3}", of_instructions / instructions, of_time / nanoseconds);
    }
    clean_up();
}

/// Builds the program that sends QP/C's records; `checkout` has the sources of QP/C 7.3.4.
fn qpc(checkout: &Path, tree: &Tree) -> PathBuf {
    let program = tree.join("beside");
    // Relative to where the benchmark was called, which is this package.
    let checkout =
        checkout.canonicalize().unwrap_or_else(|error| panic!("QPC={}: {error}", checkout.display()));
    let variable = |name, usual: &str| std::env::var(name).unwrap_or_else(|_| usual.to_owned());
    let mut compile = Run::new(variable("CC", "cc"), tree.path())
        .args("-std=c11 -D_DEFAULT_SOURCE -DQ_SPY")
        .args(&variable("CFLAGS", "-O2"));
    for directory in ["include", "src", "ports/posix-qv"] {
        compile = compile.arg("-I").arg(checkout.join(directory));
    }
    compile = compile.arg("beside.c");
    for source in ["src/qs/qs.c", "src/qs/qs_64bit.c", "src/qs/qstamp.c"] {
        compile = compile.arg(checkout.join(source));
    }
    compile.arg("-o").arg(&program).succeed();
    program
}

/// Nanoseconds a record, beyond what the loop takes.
fn time(program: &Path, kind: &str) -> f64 {
    let of = |kind: &str| -> f64 {
        let done = Run::new(program, program.parent().expect("a directory"))
            .args(&format!("{kind} {TIMED}"))
            .succeed();
        // Behind what it printed.
        let last = done.stdout.lines().next_back().unwrap_or_default();
        last.trim().parse().expect("nanoseconds")
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
        let printed = run.succeed().stderr;
        let collected = printed.lines().find_map(|line| line.split_once("Collected : "));
        collected.and_then(|(_, count)| count.trim().parse().ok()).expect("a count of instructions")
    };
    let of = |kind| (count(kind, COUNTED + 10) - count(kind, 10)) / f64::from(COUNTED);
    of(kind) - of("none")
}
