//! Does a history have seconds, however its program ended, and whatever clock there is?

use std::path::Path;

use qs_core::ring::{Flags, Header};
use rustix::process::Signal;
use xhist_tests::{Case, Done, Listing, Need, Run, Tree, cargo, recorded, report};

use crate::post_mortem::dump_ring;
use crate::threads::check_ping_pong;
use crate::zoo::{place, program_of_each, zoo};

pub const CASES: &[Case] = &[
    Case::new("a_program_killed_by_kill_9_has_seconds", || killed("counter")),
    Case::new("a_killed_program_with_the_clock_of_the_system_has_seconds", || killed("monotonic")),
    Case::new("an_aborted_program_has_seconds", aborted),
    Case::needing("a_dump_by_gdb_has_seconds", &[Need::Gdb], dumped),
    Case::new("the_rate_is_known_before_any_frame_ends", known_at_once),
    Case::new("with_the_clock_of_the_system_threads_are_merged_by_time", merged),
    Case::new("every_statement_has_a_stamp_of_its_own", || each("XHIST_TIME", "on", "ticks")),
    Case::new("every_statement_has_a_number_of_its_own", || each("XHIST_FRAMES", "exact", "ticket")),
];

/// What the program sleeps between two statements, at least.
const SLEEP: f64 = 0.050;

fn times(tree: &Tree, clock: &str) -> Run {
    let run = Run::new(program_of_each("times"), tree.path()).env("XHIST_FILE", tree.join("ring.xhist"));
    run.env("XHIST_TIME", "on").env("XHIST_CLOCK", clock)
}

fn header(image: &Path) -> Header {
    recorded(&std::fs::read(image).expect("an image"))[0].header
}

/// The time between the two statements is what the program has measured.
fn check_seconds(image: &Path, done: &Done) {
    let listing = report(zoo().path()).args("--time").arg(image).succeed();
    let entries = Listing::parse(&listing.stdout);
    let time = |mark: &str| -> f64 {
        let of =
            |entry: &&xhist_tests::Entry| format!("{}:{}", entry.path, entry.line) == place("times", mark);
        let entry = entries.statements().find(of).unwrap_or_else(|| panic!("{mark} in {}", listing.stdout));
        entry.thread.parse().unwrap_or_else(|_| panic!("seconds in {}", listing.stdout))
    };
    let slept = time("awake") - time("asleep");
    let measured = done.stdout.split(' ').nth(1).and_then(|nanos| nanos.parse::<f64>().ok());
    let measured = measured.expect("how long it slept") / 1e9;
    assert!(slept > SLEEP * 0.99 && slept < measured * 1.01, "{slept} s, measured {measured} s");
}

fn killed(clock: &str) {
    let tree = Tree::empty("killed-times");
    let mut running = times(&tree, clock).start();
    running.wait_for("nanoseconds");
    let done = running.end_with(Signal::KILL);
    check_seconds(&tree.join("ring.xhist"), &done);
    let header = header(&tree.join("ring.xhist"));
    if clock == "monotonic" {
        assert_eq!((header.flags.has(Flags::MONOTONIC), header.clock_hz), (true, 1_000_000_000));
    }
}

fn aborted() {
    let tree = Tree::empty("aborted-times");
    let done = times(&tree, "counter").arg("abort").done().expect(128 + 6);
    check_seconds(&tree.join("ring.xhist"), &done);
}

fn dumped() {
    let tree = Tree::empty("dumped-times");
    // No ring file: the ring is in plain memory.
    let mut running = times(&tree, "counter").env("XHIST_FILE", "").start();
    running.wait_for("nanoseconds");
    let dump = dump_ring(&tree, running.pid());
    check_seconds(&dump, &running.end_with(Signal::KILL));
}

/// Of a program that stamped one frame, in its first moment. One that goes on to stamp statements knows it exactly.
fn known_at_once() {
    let rate = |time: &str| {
        let tree = Tree::empty("first-rate");
        let mut running = times(&tree, "counter").env("XHIST_TIME", time).start();
        running.wait_for("nanoseconds");
        running.end_with(Signal::KILL);
        f64::from(header(&tree.join("ring.xhist")).clock_hz)
    };
    let (first, exact) = (rate(""), rate("on"));
    assert!((first / exact - 1.0).abs() < 0.01, "{first}, exactly {exact}");
}

fn merged() {
    let tree = Tree::empty("merged");
    let file = tree.join("ring.xhist");
    let run =
        Run::new(program_of_each("ping_pong"), tree.path()).env("XHIST_FILE", &file).env("XHIST_SIZE", "1m");
    run.env("XHIST_CLOCK", "monotonic").env("XHIST_TIME", "on").succeed();
    check_ping_pong(&Listing::parse(&report(zoo().path()).arg(&file).args("--thread").succeed().stdout));
}

/// A statement that is no function entry and no head of a loop has a stamp where cargo xhist was asked for it as well, in
/// whatever order the builds follow each other.
fn each(name: &str, value: &str, stamp: &str) {
    let tree = Tree::package("each");
    let statements = "    std::hint::black_box(1);\n".repeat(20);
    tree.write("src/main.rs", &format!("fn main() {{\n{statements}}}\n"));
    let file = tree.join("ring.xhist");
    for (is_asked, profile) in
        [(false, ""), (true, ""), (false, ""), (true, "--release"), (false, "--release")]
    {
        let build = cargo(tree.path()).args("xhist build --quiet").args(profile);
        if is_asked { build.env(name, value) } else { build }.succeed();
        let directory = if profile.is_empty() { "debug" } else { "release" };
        let program = tree.join(&format!("target/xhist/build/{directory}/each"));
        let done = Run::new(program, tree.path()).env("XHIST_FILE", &file).env(name, value).succeed();
        done.check(done.stderr.contains("heads of loops only") != is_asked, "what is missing is said");
        let listing = report(tree.path()).args("--format json").arg(&file).succeed();
        let lines = listing.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        let lines: Vec<serde_json::Value> =
            lines.filter(|line: &serde_json::Value| line["kind"] == "statement").collect();
        let mut stamps: Vec<u64> = lines.iter().filter_map(|line| line[stamp].as_u64()).collect();
        assert!(stamps.is_sorted(), "{stamps:?}");
        stamps.dedup();
        listing.check(lines.len() == 20, "all statements");
        // All behind the first check are in one frame.
        assert_eq!(stamps.len(), if is_asked { 20 } else { 1 }, "{is_asked} {profile} {stamps:?}");
    }
}
