//! Does a real program from crates.io, killed in the middle of real work, tell what it was doing?

use std::fmt::Write as _;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::Signal;
use xhist_tests::{Case, Crate, Listing, Need, Run, Tree, online_cargo, report};

pub const CASES: &[Case] = &[
    Case::needing("hexyl_killed_by_a_segmentation_fault", &[Need::Registry], || killed_by(Signal::SEGV)),
    Case::needing("hexyl_killed_by_an_abort", &[Need::Registry], || killed_by(Signal::ABORT)),
];

/// A hex viewer, instrumented.
fn hexyl() -> &'static Tree {
    static HEXYL: OnceLock<Tree> = OnceLock::new();
    HEXYL.get_or_init(|| {
        let (tree, _) = Crate::named("hexyl@0.17.0").unpack();
        online_cargo(tree.path()).args("xhist build --quiet --locked --bins").succeed();
        tree
    })
}

fn killed_by(signal: Signal) {
    let tree = Tree::empty("hexyl");
    let (input, file) = (tree.join("input.bin"), tree.join("history.xhist"));
    write_input(&input);
    let program = hexyl().join("target/xhist/build/debug/hexyl");
    let run = Run::new(program, tree.path()).args("--color=always").arg(&input).env("XHIST_FILE", &file);
    let mut running = run.start();
    running.wait_for("00000100");
    std::thread::sleep(Duration::from_millis(100));
    running.end_with(signal).expect(128 + signal.as_raw());

    let done = report(hexyl().path()).args("--last 40").arg(&file).succeed();
    let listing = Listing::parse(&done.stdout).only_statements();
    assert_eq!(listing.0.len(), 40, "its last statements");
    let mut text = String::new();
    for place in listing.places() {
        let (path, line) = place.rsplit_once(':').expect("a place");
        let source = hexyl().read(path);
        let statement = source.lines().nth(line.parse::<usize>().expect("a line") - 1);
        writeln!(text, "{place}: {}", statement.expect("a line of the program")).expect("memory");
        assert!(path.starts_with("src/"), "{place}");
    }
    // It was at work, not at its start or its end.
    assert!(text.contains("src/lib.rs:"), "{text}");
}

/// Long enough to be busy for many seconds.
fn write_input(path: &Path) {
    let bytes: Vec<u8> =
        (0..64u32 << 20).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::fs::write(path, bytes).expect("the input");
}
