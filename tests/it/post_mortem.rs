//! Can the history be read from what a debugger or the system leaves: a dump of memory, a core file?

use std::path::{Path, PathBuf};

use xhist_tests::{Case, Listing, Need, Run, Tree, report};

use crate::zoo::{place, program, zoo};

pub const CASES: &[Case] = &[
    Case::needing("gdb_dumps_the_ring_of_a_live_process", &[Need::Gdb], dump_of_live_process),
    Case::needing("gdb_writes_a_core_of_a_live_process", &[Need::Gdb], core_of_live_process),
    Case::needing("away_from_the_project_the_program_has_the_map", &[Need::Gdb], away_from_the_project),
    Case::needing(
        "the_system_leaves_a_core_of_an_aborted_process",
        &[Need::CoreFiles],
        core_of_aborted_process,
    ),
];

/// Runs gdb's commands on a program that waits for ever, in a directory of its own.
fn with_gdb(command: &str) -> Tree {
    let tree = Tree::empty("gdb");
    // No ring file: the rings are in plain memory.
    let mut running = Run::new(program("waits"), tree.path()).start();
    running.wait_for("ready 4950\n");
    std::thread::sleep(std::time::Duration::from_millis(50));
    gdb(&tree, running.pid(), command);
    tree
}

/// Dumps the first ring of a running program.
pub fn dump_ring(tree: &Tree, pid: u32) -> PathBuf {
    gdb(tree, pid, DUMP);
    tree.join("dump.bin")
}

const DUMP: &str =
    "dump binary memory dump.bin *(char**)&XHIST_RING *(char**)&XHIST_RING+*(unsigned long*)&XHIST_RING_LEN";

/// Runs gdb's commands on a running program.
fn gdb(tree: &Tree, pid: u32, command: &str) {
    let gdb = Run::new("gdb", tree.path())
        .args("-nx -batch -p")
        .arg(pid.to_string())
        .args("-ex")
        .arg("set language c")
        .arg("-ex")
        .arg(command);
    gdb.env("DEBUGINFOD_URLS", "").succeed();
}

/// The last statement in a dump; the map is found under `target/xhist` of the project at hand.
fn last_statement(dump: &Path) -> String {
    Listing::parse(&report(zoo().path()).arg(dump).succeed().stdout).last()
}

fn dump_of_live_process() {
    let tree = with_gdb(DUMP);
    let dump = tree.join("dump.bin");
    // The default ring of 512 KiB behind its header, which has 64 KiB, and nothing else.
    assert_eq!(std::fs::metadata(&dump).expect("a dump").len(), (64 + 512) * 1024);
    assert_eq!(last_statement(&dump), place("waits", "last"));
}

fn core_of_live_process() {
    let tree = with_gdb("generate-core-file core.waits");
    assert_eq!(last_statement(&tree.join("core.waits")), place("waits", "last"));
}

/// A core names its program. A dump does not, so the user does.
fn away_from_the_project() {
    let tree = with_gdb("generate-core-file core.waits");
    let listing = report(tree.path()).arg("core.waits").succeed();
    assert_eq!(Listing::parse(&listing.stdout).last(), place("waits", "last"));
    let tree = with_gdb(DUMP);
    Run::new("strip", tree.path()).args("-o stripped").arg(program("waits")).succeed();
    let listing = report(tree.path()).args("dump.bin --program stripped").succeed();
    assert_eq!(Listing::parse(&listing.stdout).last(), place("waits", "last"));
    let without = report(tree.path()).args("dump.bin --program /bin/sh").done().expect(1);
    without.check(without.stderr.contains("/bin/sh has no map in it"), "the program is another one");
    let none = report(tree.path()).args("dump.bin --map /bin/sh").done().expect(2);
    none.check(none.stderr.contains("has no map in it"), "the program is another one");
}

fn core_of_aborted_process() {
    let tree = Tree::empty("core");
    let script = r#"ulimit -c unlimited; exec "$0""#;
    Run::new("sh", tree.path()).arg("-c").arg(script).arg(program("aborts")).done().expect(128 + 6);
    let files = std::fs::read_dir(tree.path()).expect("a directory").flatten().map(|entry| entry.path());
    let cores: Vec<PathBuf> = files.collect();
    assert_eq!(cores.len(), 1, "one core file: {cores:?}");
    assert_eq!(last_statement(&cores[0]), place("aborts", "last"));
}
