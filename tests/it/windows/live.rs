//! Does a report on Windows follow a program that runs, and end at Ctrl-C as it does on Linux?

use std::fs;
use std::time::Duration;

use xhist_tests::{Run, Tree};

use super::recorder::{program, run};
use super::{build, wine};

/// The report in a console that is interrupted once it has printed something.
fn interrupted(tree: &Tree, report: &str) -> (i32, String, String) {
    for name in ["interrupted.out", "interrupted.err", "interrupted.count"] {
        let _ = fs::remove_file(tree.join(name));
    }
    let console: Run =
        wine(tree).env("WINEPATH", tree.path()).arg(program()).args("interrupt xhist-report.exe");
    let mut console = console.args(report).limit(Duration::from_secs(120)).start();
    let printed = |name: &str| fs::read_to_string(tree.join(name)).unwrap_or_default();
    console.wait_until("it prints", |_| printed("interrupted.out").lines().count() > 1);
    // For this the console waits.
    tree.write("interrupted.count", "now");
    (console.done().code(), printed("interrupted.out"), printed("interrupted.err"))
}

pub fn follows() {
    let tree = Tree::empty("following-on-windows");
    build(&tree);
    let map = program().ancestors().nth(4).expect("the directory of xhist").join("xhist.map");
    fs::copy(map, tree.join("xhist.map")).expect("copied");
    let ring = tree.join("ring.xhist");
    let counting = run(tree.path(), "steps count").env("XHIST_FILE", "ring.xhist");
    let mut counting =
        counting.env("WINEPREFIX", tree.join("prefix")).limit(Duration::from_secs(300)).start();
    counting.wait_until("it counts", |_| ring.exists() && tree.join("count").exists());
    let (code, printed, notes) = interrupted(&tree, "--follow ring.xhist --map xhist.map");
    assert!(code == 0 && printed.contains("src/main.rs:"), "{code}: {printed}{notes}");
    assert!(!notes.contains("ended"), "the program goes on: {notes}");
}
