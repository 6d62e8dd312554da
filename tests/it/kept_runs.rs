//! Which runs and which rings does `cargo xhist` keep?

use std::path::{Path, PathBuf};
use std::time::Duration;

use xhist_tests::{Case, Done, Tree, cargo, rings_in};

use crate::after_run::fixture;

pub const CASES: &[Case] = &[
    Case::new("failed_runs_are_kept_longer", failed_runs),
    Case::new("a_prefork_server_does_not_fill_the_disk", prefork),
    Case::new("an_invalid_size_is_refused", wrong_size),
];

fn run(tree: &Tree, how: &str, keep: &str) -> Done {
    let run = cargo(tree.path()).args(&format!("xhist run --quiet -- {how}")).env("XHIST_KEEP", keep);
    run.limit(Duration::from_secs(300)).done()
}

fn runs(tree: &Tree) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(tree.join("target/xhist/runs")).into_iter().flatten().flatten();
    let mut runs: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    runs.sort();
    runs
}

fn has_failed(run: &Path) -> bool {
    let text = std::fs::read_to_string(run.join("run.json")).expect("how it ended");
    let outcome: serde_json::Value = serde_json::from_str(&text).expect("an object");
    outcome["failed"].as_bool().expect("whether it failed")
}

fn failed_runs() {
    let tree = fixture("ends");
    run(&tree, "abort", "").expect(134);
    let crashed = runs(&tree).pop().expect("a run");
    for _ in 0..11 {
        let done = run(&tree, "exit 0", "").expect(0);
        done.check(done.stderr.is_empty(), "nothing is said");
    }
    let kept = runs(&tree);
    assert_eq!(kept.len(), 9, "eight that ended well, and the one that failed: {kept:?}");
    assert!(kept[0] == crashed && has_failed(&crashed) && !has_failed(&kept[1]));

    // A build that fails leaves no run.
    cargo(tree.path()).args("xhist run --quiet --bin none").done().expect(101);
    assert_eq!(runs(&tree).len(), 8, "room was made for it: {:?}", runs(&tree));

    // By size: the newest failed run stays whatever its size. Each failed run that is removed is named.
    for _ in 0..2 {
        run(&tree, "abort", "").expect(134);
    }
    let done = run(&tree, "exit 0", "300k").expect(0);
    done.check(done.stderr.starts_with("xhist: removed 2 failed runs: "), "that they are gone");
    let kept = runs(&tree);
    assert!(has_failed(&kept[0]) && kept.len() <= 2, "{kept:?}");
}

fn prefork() {
    let tree = fixture("ends");
    let bytes = |run: &Path| {
        let files = rings_in(run).into_iter().map(|path| std::fs::metadata(path).expect("a file"));
        files.map(|meta| std::os::unix::fs::MetadataExt::blocks(&meta) * 512).sum::<u64>()
    };
    for how in ["fork 400", "fork_at_once 400"] {
        let done = run(&tree, how, "64m").expect(0);
        let counts: Vec<usize> = done.stdout.lines().filter_map(|line| line.parse().ok()).collect();
        assert_eq!(counts.len(), 4, "{}", done.summary());
        // Also while it ran: rings made since the last look may be there.
        assert!(counts.iter().all(|count| *count < 300), "{counts:?}");
        let run = runs(&tree).pop().expect("a run");
        assert!(bytes(&run) < 20 << 20, "{how}: {} KiB", bytes(&run) >> 10);
        assert!(rings_in(&run).len() <= 65, "{how}: {}", rings_in(&run).len());
        done.check(!done.stderr.contains("removed") || how == "fork_at_once 400", "nothing is said");
    }
}

fn wrong_size() {
    let tree = Tree::copy_of(&xhist_tests::repository().join("tests/fixtures/ends"));
    let done = run(&tree, "exit 0", "much").expect(1);
    done.check(done.stderr.contains("`XHIST_KEEP=much` is not a size; write "), "what to write");
}
