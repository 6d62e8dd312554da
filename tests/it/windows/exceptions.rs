//! Does a program for Windows handle its exceptions as without the recorder, and is what its handlers ran in the history?

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use xhist_tests::{Done, Need, Run, Tree, line_of, report, repository};

use super::TARGET;
use super::recorder::{LINKER, windows};

/// Unoptimised and optimised, without the recorder and with it.
struct Programs {
    tree: Tree,
    pairs: [[PathBuf; 2]; 2],
}

fn programs() -> &'static Programs {
    static PROGRAMS: OnceLock<Programs> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let tree = Tree::copy_of(&repository().join("tests/fixtures/exceptions"));
        let pairs = [("debug", ""), ("release", " --release")].map(|(profile, option)| {
            ["target", "target/xhist/build"].map(|target| {
                let command = if target == "target" { "build" } else { "xhist build" };
                windows().cargo(tree.path(), &format!("{command} --quiet{option}")).succeed();
                tree.join(target).join(TARGET).join(profile).join("exceptions.exe")
            })
        });
        Programs { tree, pairs }
    })
}

fn run(tree: &Tree, program: &Path, args: &str) -> Run {
    let run = Run::new(Need::wine().expect("wine"), tree.path()).arg(program).args(args);
    windows().wine(run).env("XHIST_FILE", "ring.xhist").env("XHIST_SIZE", "64k")
}

/// Runs both programs of a pair. They print and end alike. The ring file is that of the recorded one.
fn same(tree: &Tree, [plain, recorded]: &[PathBuf; 2], args: &str) -> Done {
    let expected = run(tree, plain, args).done();
    let found = run(tree, recorded, args).done();
    let is_same = found.stdout == expected.stdout && found.stderr == expected.stderr;
    found.check(found.code() == expected.code(), &format!("{args}: it ends with {}", expected.code()));
    found.check(is_same, &format!("{args}: it prints\n{}{}", expected.stdout, expected.stderr));
    found
}

/// The statements of the ring file that have a mark in the source, by their marks.
fn marks(tree: &Tree, program: &Path, all: &[&'static str]) -> Vec<&'static str> {
    let source = programs().tree.join("src/main.rs");
    let places: Vec<(String, &'static str)> = all
        .iter()
        .map(|mark| (format!(" src/main.rs:{}", line_of(&source, &format!(" // {mark}"))), *mark))
        .collect();
    let history = report(tree.path()).args("ring.xhist --all --program").arg(program).succeed();
    let of_line = |line: &str| places.iter().find(|(place, _)| line.ends_with(place)).map(|(_, mark)| *mark);
    let mut marks: Vec<_> = history.stdout.lines().filter_map(of_line).collect();
    // A block on one line is a statement with another one in it.
    marks.dedup();
    marks
}

const STORE: &[&str] = &["protected", "one", "two", "three", "store"];
const HANDLER: &[&str] = &["handler begins", "handler ends"];
const AFTER: &[&str] = &["five", "six", "seven", "eight"];

fn all() -> Vec<&'static str> {
    let ends = ["violation", "raised", "handled", "filter gives up", "ends"];
    [STORE, HANDLER, AFTER, &ends].concat()
}

/// A frame's handler gets what it gets without the recorder, and so does its filter.
pub fn structured() {
    let tree = Tree::empty("structured");
    for (pair, is_exact) in programs().pairs.iter().zip([true, false]) {
        let done = same(&tree, pair, "structured");
        done.check(done.stdout == "handled: true\nraised: true\nrepaired: true\nends\n", "its handlers ran");
        let found = marks(&tree, &pair[1], &all());
        let first = ["violation", "handler begins", "handled", "raised", "handler begins", "handled"];
        let expected = [&first, STORE, HANDLER, AFTER, &["handled", "ends"]].concat();
        // Optimised code may have its newest statements in registers when the filter records.
        assert!(found == expected || !is_exact && found.ends_with(&["handled", "ends"]), "{found:?}");
        has_status(&tree, "main", "exited");
    }
}

/// What an optimised program has stored at the moment of an exception is right up to a piece of code without jumps. So there the
/// statements of the handler are compared apart from those of the program.
fn compare(tree: &Tree, program: &Path, is_exact: bool, expected: &[&'static str]) {
    let found = marks(tree, program, &all());
    if is_exact {
        return assert_eq!(found, expected);
    }
    for is_handler in [true, false] {
        let of = |marks: &[&'static str]| -> Vec<&'static str> {
            marks.iter().copied().filter(|mark| HANDLER.contains(mark) == is_handler).collect()
        };
        assert_eq!(of(&found), of(expected));
    }
}

/// No statement of the interrupted code or of the handler replaces one of the other.
pub fn vectored() {
    let tree = Tree::empty("vectored");
    for (pair, is_exact) in programs().pairs.iter().zip([true, false]) {
        let done = same(&tree, pair, "vectored");
        done.check(done.stdout == "removed: 1\nhandled: true\nends\n", "its handler ran");
        let round = [STORE, HANDLER, AFTER].concat();
        let last: &[&str] = &["violation", "handler begins", "handled", "ends"];
        compare(&tree, &pair[1], is_exact, &[&round, &round, &round, last].concat());
        has_status(&tree, "main", "exited");
    }
}

/// The recorder maps memory for a long way without a check, and the handler does not see that.
pub fn first() {
    let tree = Tree::empty("first");
    for pair in &programs().pairs {
        let done = same(&tree, pair, "first");
        done.check(done.stdout.ends_with("seen: 0\nhandled: true\nseen: 1\nends\n"), "what it saw");
    }
}

pub fn filter() {
    let tree = Tree::empty("filter");
    for (pair, is_exact) in programs().pairs.iter().zip([true, false]) {
        let done = same(&tree, pair, "filter");
        done.check(done.stdout == "its own: true\nthe same: true\nnothing: true\nends\n", "its filter ran");
        compare(&tree, &pair[1], is_exact, &[STORE, HANDLER, AFTER, &["ends"]].concat());
        has_status(&tree, "main", "exited");
    }
}

pub fn dies() {
    let tree = Tree::empty("dies");
    for pair in &programs().pairs {
        let done = same(&tree, pair, "dies");
        done.check(done.stdout == "gives up\n" && done.code() == 5, "its filter ran");
        assert_eq!(marks(&tree, &pair[1], &all()), ["violation", "filter gives up"]);
        has_status(&tree, "failing", "killed");
    }
}

fn has_status(tree: &Tree, name: &str, status: &str) {
    let json = report(tree.path()).args("--format json ring.xhist").done();
    let thread = format!("\"thread\":\"{name}\",\"status\":\"{status}\"");
    json.check(json.stdout.contains(&thread), &thread);
}

/// The same exceptions, for the first and for the second time.
pub fn debugger() {
    let tree = Tree::empty("debugger");
    for pair in &programs().pairs {
        for (args, last) in
            [("structured", "first"), ("vectored", "first"), ("violate", "second"), ("dies", "second")]
        {
            let [plain, recorded] = pair;
            // The debugger itself is not recorded, so its program has the file.
            let run = |program: &Path| run(&tree, program, "debug").args(args).env("XHIST", "off").done();
            let (expected, found) = (run(plain), run(recorded));
            found.check(found.stdout == expected.stdout, &format!("{args}: {}", expected.stdout));
            let exceptions = found.stdout.lines().rfind(|line| line.ends_with("chance"));
            let last = format!("debugger: C0000005 {last} chance");
            found.check(exceptions == Some(&last), &last);
            assert!(marks(&tree, recorded, &all()).contains(&"ends") == (last.contains("first")), "{args}");
        }
    }
}

/// The recorder keeps the library loaded, since threads and exceptions call it. Where it is off, it leaves nothing behind.
pub fn freed_library() {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/plugin"));
    Run::new(LINKER, tree.path()).args("-o host.exe host-windows.c").succeed();
    for command in ["build", "xhist build"] {
        windows().cargo(tree.path(), &format!("{command} --quiet")).succeed();
    }
    let host = |target: &str, setting: &str, stderr: &str| {
        let library = tree.join(target).join(TARGET).join("debug/plugin.dll");
        std::fs::copy(&library, tree.join("plugin.dll")).expect("copied");
        let done = run(&tree, &tree.join("host.exe"), "plugin.dll").env("XHIST", setting).done().expect(3);
        let rounds: String =
            (0..5).map(|round| format!("round {round}: freed 1, seen {}\n", round + 1)).collect();
        done.check(done.stdout.replace('\r', "") == rounds, &rounds);
        done.check(done.stderr.trim_end() == stderr, stderr);
    };
    host("target", "on", "");
    host("target/xhist/build", "off", "");
    assert!(!tree.join("ring.xhist").exists(), "nothing is recorded");
    host("target/xhist/build", "on", "the library is loaded");
    let history = report(tree.path()).args("ring.xhist --all --map target/xhist/xhist.map").succeed();
    let calls = history.stdout.lines().filter(|line| line.ends_with(" src/lib.rs:14")).count();
    assert_eq!(calls, 10, "{}", history.stdout);
}
