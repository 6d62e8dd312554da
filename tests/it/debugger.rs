//! Do the commands that `--how-to-dump` prints work when they are typed, and does gdb's command `xhist` find all rings?

use std::path::{Path, PathBuf};

use xhist_tests::{Case, Done, Listing, Need, Run, Started, Tree, other_cargo, report};

use crate::zoo::{place, program, zoo};

const GDB: &[Need] = &[Need::Gdb];

pub const CASES: &[Case] = &[
    Case::needing("what_is_printed_for_a_process_works_when_typed", GDB, typed_for_a_process),
    Case::new("what_is_printed_for_a_ring_file_works_when_typed", typed_for_a_ring_file),
    Case::needing("gdb_prints_the_rings_of_all_threads", GDB, all_threads),
    Case::needing("gdb_prints_rings_that_are_in_a_file", GDB, in_a_file),
    Case::needing("gdb_prints_what_is_in_a_core", GDB, core),
    Case::needing("gdb_finds_rings_of_a_stripped_program", GDB, stripped),
    Case::needing("gdb_says_what_is_missing", GDB, missing),
    Case::needing("gdb_needs_cargo_xhist_only", GDB, only_cargo_xhist),
    Case::needing("gdb_prints_other_reports_than_the_history", GDB, other_reports),
];

/// What is typed, block by block.
fn blocks(elf: &Path) -> Vec<String> {
    let printed = report(zoo().path()).args("--how-to-dump").arg(elf).succeed().stdout;
    printed.split("# ").skip(1).map(|block| block.split_once('\n').expect("commands").1.to_owned()).collect()
}

/// A shell in this directory that has our commands; it stops at the first that fails.
fn shell(directory: &Path, commands: &str) -> Run {
    other_cargo("sh", directory).env("DEBUGINFOD_URLS", "").arg("-e").arg("-c").arg(commands)
}

/// A program under a name and in a directory that no other case has. The map is found below the directory.
fn own(name: &str, tree: &Tree) -> PathBuf {
    let own = tree.join(&format!("own_{name}"));
    std::fs::hard_link(program(name), &own).expect("a link");
    std::os::unix::fs::symlink(zoo().join("target"), tree.join("target")).expect("a link");
    own
}

fn started(name: &str, text: &str, tree: &Tree) -> Started {
    started_as(Run::new(program(name), tree.path()), text)
}

fn started_as(run: Run, text: &str) -> Started {
    let mut running = run.start();
    running.wait_for(text);
    std::thread::sleep(std::time::Duration::from_millis(100));
    running
}

fn script(tree: &Tree) -> String {
    let script = report(tree.path()).args("--gdb-script").succeed().stdout;
    tree.write("xhist.py", &script);
    "-nx -batch -x xhist.py".to_owned()
}

/// gdb's command, for a process or a core.
fn gdb(tree: &Tree, what: &[&str], command: &str) -> Run {
    let gdb = other_cargo("gdb", tree.path()).env("DEBUGINFOD_URLS", "").args(&script(tree));
    what.iter().fold(gdb, |gdb, word| gdb.arg(word)).arg("-ex").arg(command)
}

/// The lines of the listing; gdb has words of its own around them.
fn listing(done: &Done) -> Listing {
    let is_entry = |line: &&str| {
        line.split_once(' ')
            .is_some_and(|(number, place)| number.parse::<u32>().is_ok() && place.contains(".rs:"))
    };
    Listing::parse(&done.stdout.lines().filter(is_entry).map(|line| format!("{line}\n")).collect::<String>())
}

fn typed_for_a_process() {
    let tree = Tree::empty("typed");
    let elf = own("waits", &tree);
    let _running = started_as(Run::new(&elf, tree.path()), "ready 4950\n");
    let blocks = blocks(&elf);
    let with_gdb = shell(tree.path(), &blocks[1]).succeed();
    assert_eq!(listing(&with_gdb).last(), place("waits", "last"));
    let pid = blocks[1].lines().next().expect("PID=");
    let with_core = shell(tree.path(), &format!("{pid}\n{}", blocks[2])).succeed();
    assert_eq!(listing(&with_core).last(), place("waits", "last"));
}

fn typed_for_a_ring_file() {
    let tree = Tree::empty("typed");
    std::os::unix::fs::symlink(zoo().join("target"), tree.join("target")).expect("a link");
    let blocks = blocks(&program("exits_at_once"));
    let done = shell(tree.path(), blocks[0].replace("\nxhist", " || true\nxhist").as_str()).succeed();
    assert!(done.stdout.contains("src/bin/exits_at_once.rs:"), "{}", done.stdout);
}

fn all_threads() {
    let tree = Tree::empty("threads");
    let running = started_as(Run::new(own("waits_in_threads", &tree), tree.path()), "works 4\n");
    let pid = running.pid().to_string();
    let done = gdb(&tree, &["-p", &pid], "xhist --thread").succeed();
    for thread in ["main", "worker-1", "worker-2"] {
        let mut own = done.stdout.lines().filter(|line| line.ends_with(&format!("\t{thread}")));
        let last = own.next_back().unwrap_or_else(|| panic!("{thread} in {}", done.stdout));
        assert!(last.contains(&place("waits_in_threads", "waits")), "{last}");
    }
    // It goes on afterwards.
    assert!(Path::new(&format!("/proc/{pid}/exe")).exists());
    assert_eq!(
        std::fs::read_dir(tree.path())
            .expect("it")
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(".xhist-"))
            .count(),
        0
    );
}

fn in_a_file() {
    let tree = Tree::empty("ring-file");
    let run = Run::new(program("waits"), tree.path()).env("XHIST_FILE", tree.join("ring.xhist"));
    let running = started_as(run, "ready 4950\n");
    let done = gdb(&tree, &["-p", &running.pid().to_string()], "xhist --last 3").succeed();
    assert_eq!(listing(&done).last(), place("waits", "last"));
    assert_eq!(listing(&done).places().len(), 3);
}

fn core() {
    let tree = Tree::empty("core");
    let running = started("waits", "ready 4950\n", &tree);
    let pid = running.pid().to_string();
    shell(tree.path(), &format!("gcore -o core {pid}")).succeed();
    let elf = program("waits");
    let core = format!("core.{pid}");
    let done =
        gdb(&tree, &[&elf.to_string_lossy(), &core], "xhist --map MAP".replace("MAP", &map()).as_str())
            .succeed();
    assert_eq!(listing(&done).last(), place("waits", "last"));
}

fn map() -> String {
    zoo().join("target/xhist/xhist.map").display().to_string()
}

fn stripped() {
    let tree = Tree::empty("stripped");
    let elf = tree.join("waits");
    Run::new("strip", tree.path()).args("-s -o").arg(&elf).arg(program("waits")).succeed();
    let printed = report(tree.path()).args("--how-to-dump waits").succeed();
    printed.check(
        printed.stdout.contains("as it was stripped") && printed.stdout.contains("-ex xhist"),
        "the ways",
    );
    let running = started_as(Run::new(&elf, tree.path()), "ready 4950\n");
    let done = gdb(&tree, &["-p", &running.pid().to_string()], &format!("xhist --map {}", map())).succeed();
    assert_eq!(listing(&done).last(), place("waits", "last"));
}

/// A word before the options is the report.
fn other_reports() {
    let tree = Tree::empty("other-reports");
    let running = started("waits", "ready 4950\n", &tree);
    let command = format!("xhist calls --map {}", map());
    let done = gdb(&tree, &["-p", &running.pid().to_string()], &command).succeed();
    done.check(done.stdout.contains("-- ring 1 (thread "), "a tree for each thread");
    let unknown = gdb(&tree, &["-p", &running.pid().to_string()], "xhist nothing").done();
    unknown.check(unknown.stderr.contains("nothing"), "what is wrong");
}

/// Where `cargo xhist` is installed and nothing else of ours, its reports print the rings.
fn only_cargo_xhist() {
    let tree = Tree::empty("only-cargo-xhist");
    let running = started("waits", "ready 4950\n", &tree);
    let tool = other_cargo("sh", tree.path()).args("-c").arg("command -v cargo-xhist").succeed().stdout;
    std::os::unix::fs::symlink(tool.trim(), tree.join("cargo-xhist")).expect("a link");
    let path = format!("{}:/usr/bin:/bin", tree.path().display());
    let command = format!("xhist --map {}", map());
    let done = gdb(&tree, &["-p", &running.pid().to_string()], &command).env("PATH", &path).succeed();
    assert_eq!(listing(&done).last(), place("waits", "last"), "{}", done.stderr);
}

/// Without xhist-report, without a program, without a ring: one sentence, and no Python traceback.
fn missing() {
    let tree = Tree::empty("missing");
    let running = started("waits", "ready 4950\n", &tree);
    let pid = running.pid().to_string();
    let without = gdb(&tree, &["-p", &pid], "xhist").env("PATH", "/usr/bin:/bin").done();
    without.check(without.stderr.contains("cargo install --path cargo-xhist"), "what to install");
    let named = gdb(&tree, &["-p", &pid], "xhist").env("XHIST_REPORT", "/nowhere/xhist-report").done();
    named.check(named.stderr.contains("`/nowhere/xhist-report` cannot be started"), "which one");
    let nothing = gdb(&tree, &[], "xhist").done();
    nothing.check(nothing.stderr.contains("attach PID"), "what to do first");
    let mut sleeps = Run::new("sh", tree.path()).arg("-c").arg("echo ready; exec sleep 100").start();
    sleeps.wait_for("ready");
    let no_ring = gdb(&tree, &["-p", &sleeps.pid().to_string()], "xhist").done();
    no_ring.check(no_ring.stderr.contains("no ring of xhist is in its memory"), "why nothing is there");
    for done in [without, named, nothing, no_ring] {
        done.check(
            !done.stderr.contains("Traceback") && !done.stderr.contains("Python"),
            "no words of Python's",
        );
    }
}
