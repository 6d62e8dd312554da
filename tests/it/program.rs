//! Does a real program from crates.io, killed in the middle of real work, show what it was doing?

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::Signal;
use xhist_tests::{Case, Crate, Listing, Need, Run, Tree, online_cargo, report};

const LONG: &[Need] = &[Need::Long, Need::Registry];

pub const CASES: &[Case] = &[
    Case::needing("hexyl_killed_by_a_segmentation_fault", LONG, || killed_by(Signal::SEGV)),
    Case::needing("hexyl_killed_by_an_abort", LONG, || killed_by(Signal::ABORT)),
];

/// A hex viewer, instrumented.
fn hexyl() -> &'static Tree {
    static HEXYL: OnceLock<Tree> = OnceLock::new();
    HEXYL.get_or_init(|| {
        let (unpacked, _) = Crate::named("hexyl@0.17.0").unpack();
        let tree = Tree::kept("hexyl", unpacked.path(), str::to_owned);
        online_cargo(tree.path()).args("xhist build --quiet --locked --bins").succeed();
        tree
    })
}

fn killed_by(signal: Signal) {
    let tree = Tree::empty("hexyl");
    let (input, file) = (tree.join("input.bin"), tree.join("history.xhist"));
    write_input(&input, 64 << 20);
    let mut running = hexyl_run(&tree, &input, &file).start();
    running.wait_for("00000100");
    std::thread::sleep(Duration::from_millis(100));
    running.end_with(signal).expect(128 + signal.as_raw());

    let done = report(hexyl().path()).args("--last 40").arg(&file).succeed();
    let listing = Listing::parse(&done.stdout).only_statements();
    let last = listing.places();
    assert_eq!(last.len(), 40, "its last statements");
    // It was at work: a run to the end over a short input executes just these, one after another.
    let all = whole_history();
    assert!(
        all.windows(last.len()).any(|window| *window == last[..]),
        "not a part of a whole run: {last:#?}"
    );
}

/// Every statement of a run to the end.
fn whole_history() -> &'static [String] {
    static HISTORY: OnceLock<Vec<String>> = OnceLock::new();
    HISTORY.get_or_init(|| {
        let tree = Tree::empty("hexyl");
        let (input, file) = (tree.join("input.bin"), tree.join("history.xhist"));
        write_input(&input, 4 << 10);
        let run = hexyl_run(&tree, &input, &file).env("XHIST_SIZE", "64m");
        run.succeed();
        let done = report(hexyl().path()).arg(&file).succeed();
        Listing::parse(&done.stdout).only_statements().places()
    })
}

fn hexyl_run(tree: &Tree, input: &Path, file: &Path) -> Run {
    let program = hexyl().join("target/xhist/build/debug/hexyl");
    Run::new(program, tree.path()).args("--color=always").arg(input).env("XHIST_FILE", file)
}

/// Bytes of all kinds; 64 MiB keep the program busy for many seconds.
fn write_input(path: &Path, len: u32) {
    let bytes: Vec<u8> = (0..len).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::fs::write(path, bytes).expect("the input");
}
