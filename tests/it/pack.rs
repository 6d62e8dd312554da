//! Is a packed run read on another machine as the run itself is read where it was made?

use std::path::{Path, PathBuf};

use xhist_tests::{Case, Done, Run, Tree, cargo, report};

pub const CASES: &[Case] = &[
    Case::new("a_packed_run_is_read_as_the_run", whole_run),
    Case::new("a_packed_ring_is_read_as_the_ring", one_ring),
    Case::new("values_need_the_programs_of_a_pack", programs),
    Case::new("damaged_and_hostile_packs_are_errors", damaged),
];

const LIBRARY: &str = r#"//! Prices.

/// The price of some pieces, in cents. Ten or more are cheaper.
pub fn price(pieces: u32, cents: u32) -> u32 {
    let mut price = pieces * cents;
    if pieces > 10 {
        price -= price / 10;
    }
    price
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_piece_has_its_price() {
        assert_eq!(price(1, 250), 250);
    }

    #[test]
    fn ten_pieces_are_cheaper() {
        assert_eq!(price(10, 250), 2250);
    }
}
"#;

/// A source that no test runs.
const UNUSED: &str = "//! A secret.\n\n/// Nothing calls it.\npub fn secret() -> u32 {\n    4711\n}\n";

/// The project after a failed run.
fn project() -> Tree {
    let tree = Tree::package("prices");
    tree.write("src/lib.rs", &format!("{LIBRARY}\npub mod unused;\n"));
    tree.write("src/unused.rs", UNUSED);
    cargo(tree.path()).args("xhist test -q --lib").done().expect(101);
    tree
}

/// `xhist-report` on another machine: nothing of the project is there, and it has a cache of its own.
fn elsewhere(machine: &Tree) -> Run {
    report(machine.path()).env("XHIST_CACHE", machine.join("cache"))
}

/// A text without the paths of files, which differ from machine to machine.
fn without_paths(text: &str) -> String {
    let is_path = |word: &&str| word.contains("runs/") || word.contains(".tar.gz");
    let line =
        |line: &str| line.split_whitespace().filter(|word| !is_path(word)).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn files_in(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn whole_run() {
    let tree = project();
    let machine = Tree::empty("machine");
    let pack = machine.join("run.xhist");
    let packed = cargo(tree.path()).args("xhist pack --output").arg(&pack).succeed();
    packed.check(packed.stdout.trim() == pack.display().to_string(), "the name of the file");
    let listed = Run::new("tar", machine.path()).args("tzf run.xhist").succeed();
    let has = |ending: &str| listed.stdout.lines().filter(|name| name.ends_with(ending)).count();
    let counts = (has("/run.json"), has(".xhist"), has(".spectra"), has(".map"), has(".source"));
    // The text of the file that ran, and of no other.
    assert_eq!(counts, (1, 1, 1, 1, 1), "{}", listed.stdout);

    let commands = [
        "answer RUN",
        "suspects RUN",
        "diff RUN::ten_pieces_are_cheaper",
        "history RUN --source",
        "history RUN --format json",
        "calls RUN",
        "hot RUN",
        "builds RUN --format json",
        "view --print RUN",
        "export folded RUN",
    ];
    let here: Vec<Done> =
        commands.iter().map(|args| report(tree.path()).args(&args.replace("RUN", "last")).done()).collect();
    let gone = tree.join("gone");
    std::fs::rename(tree.join("target"), &gone)
        .and_then(|()| std::fs::remove_dir_all(&gone))
        .expect("it is removed");
    std::fs::remove_dir_all(tree.join("src")).expect("it is removed");
    for (args, here) in commands.iter().zip(here) {
        let there = elsewhere(&machine).args(&args.replace("RUN", "run.xhist")).done();
        assert_eq!(there.code(), here.code(), "{args}: {}", there.summary());
        if !args.starts_with("builds") {
            // The program is not in the file, so the frames of the panic are not known there.
            let frames = " at src/lib.rs:23: the calls below that line had returned --";
            let here = without_paths(&here.stdout).replace(frames, "; its message names src/lib.rs:23 --");
            assert_eq!(without_paths(&there.stdout), here, "{args}: {}", there.summary());
        }
        there.check(!there.stdout.is_empty() && !there.stderr.contains("no source text"), args);
    }
    let answer = elsewhere(&machine).args("answer run.xhist").succeed();
    answer.check(answer.stdout.contains("if pieces > 10 {  <- suspect "), "texts and suspects");
    // What it says to type works there.
    let next = answer.stdout.lines().find_map(|line| line.strip_prefix("its history: xhist-report "));
    let next = elsewhere(&machine).args(next.expect("a command")).succeed();
    next.check(next.stdout.lines().count() == 4, "the history of the test");
    elsewhere(&machine).args("page run.xhist -o page.html").succeed();
    assert!(machine.read("page.html").contains("</html>"), "a page");
    // It is unpacked once, and only for the user.
    let unpacked = files_in(&machine.join("cache/packs"));
    assert_eq!(unpacked.len(), 1, "{unpacked:?}");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &machine.join("cache/packs").metadata().expect("a directory").permissions(),
    );
    assert_eq!(mode & 0o77, 0, "others do not read it: {mode:o}");
}

fn one_ring() {
    let tree = project();
    let run = files_in(&tree.join("target/xhist/runs")).pop().expect("a run");
    let ring = xhist_tests::rings_in(&run).pop().expect("a ring");
    std::fs::copy(&ring, tree.join("dump.bin")).expect("a copy");
    report(tree.path()).args("pack dump.bin --no-sources -o dump.tar.gz").succeed();
    let machine = Tree::empty("machine");
    std::fs::copy(tree.join("dump.tar.gz"), machine.join("dump.tar.gz")).expect("a copy");
    let history =
        elsewhere(&machine).args("history dump.tar.gz --thread=tests::ten_pieces_are_cheaper").succeed();
    assert_eq!(history.stdout, "1 src/lib.rs:23\n2 src/lib.rs:5\n3 src/lib.rs:6\n4 src/lib.rs:9\n");
    let texts = elsewhere(&machine).args("history dump.tar.gz --source --last 1").done();
    texts.check(!texts.stdout.contains("price"), "no text");
    let answer = elsewhere(&machine).args("answer dump.tar.gz").succeed();
    answer.check(answer.stdout.contains("before its panic"), "the end of its thread");
    // Neither the ring nor the run is overwritten.
    report(tree.path()).args("pack dump.bin -o dump.bin").done().expect(2);
    assert!(tree.join("dump.bin").metadata().expect("a file").len() > 1000);
}

fn programs() {
    let tree = project();
    cargo(tree.path()).args("xhist test -q --lib --values ** ten_pieces").done().expect(101);
    let machine = Tree::empty("machine");
    for (name, option) in [("plain", ""), ("whole", "--programs")] {
        cargo(tree.path()).args(&format!("xhist pack {option} -o")).arg(machine.join(name)).succeed();
    }
    // Another machine has no program at its place here.
    std::fs::remove_dir_all(tree.join("target/xhist/build")).expect("removed");
    for (name, is_typed) in [("plain", false), ("whole", true)] {
        let frame = elsewhere(&machine).args("frame price#1").arg(name).succeed();
        frame.check(frame.stdout.contains("pieces = 10") == is_typed, "the types of values");
        frame.check(frame.stderr.contains("xhist-report pack --programs;") != is_typed, "what to type");
    }
}

fn damaged() {
    let tree = project();
    report(tree.path()).args("pack -o run.tar.gz").succeed();
    let whole = std::fs::read(tree.join("run.tar.gz")).expect("a file");
    let machine = Tree::empty("machine");
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 4;
    for (name, bytes) in [("cut", &whole[..whole.len() / 2]), ("changed", &changed)] {
        std::fs::write(machine.join(name), bytes).expect("a file");
        for command in ["answer", "suspects", "history", "view --print", "calls"] {
            let done = elsewhere(&machine).args(command).arg(name).done().expect(2);
            done.check(done.stderr.contains("damaged or cut") && done.stdout.is_empty(), "what is wrong");
        }
        let left = files_in(&machine.join("cache/packs"));
        assert!(left.is_empty(), "{left:?}");
    }
    // Where it cannot be unpacked, what to do.
    std::fs::write(machine.join("whole"), &whole).expect("a file");
    let done = report(machine.path()).args("answer whole").env("XHIST_CACHE", "/dev/null").done().expect(2);
    done.check(done.stderr.contains("XHIST_CACHE"), "another directory");
}
