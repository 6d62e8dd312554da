//! Does `cargo xhist nextest run` keep and show the history of the tests that failed, and of no other?

use std::path::PathBuf;

use walkdir::WalkDir;
use xhist_tests::{Case, Need, Tree, cargo, history_of, line_of};

pub const CASES: &[Case] = &[
    Case::needing("tests_that_fail_are_shown_and_no_others", &[Need::Nextest], failing),
    Case::needing("a_run_is_found_by_its_name_in_nextests_record", &[Need::Nextest], by_nextests_name),
    Case::needing("a_runner_of_the_user_is_kept", &[Need::Nextest], users_runner),
    Case::new("other_commands_of_nextest_are_refused", refused),
];

const TESTS: &str = r#"
#[test]
fn passes() {
    assert_eq!(half(4), 2);
}

#[test]
#[should_panic]
fn panics_as_it_should() {
    half(0);
}

#[test]
fn fails() {
    half(0);
}

#[test]
fn is_killed() {
    let number = half(2);
    std::process::abort(); // abort
}

#[test]
fn hangs() {
    loop {
        half(6); // turn
    }
}

/// Half of it.
pub fn half(number: u32) -> u32 {
    assert_ne!(number, 0); // check
    number / 2
}
"#;

fn project() -> Tree {
    let tree = Tree::package("alone");
    tree.write("src/lib.rs", &format!("//! Five tests.\n#![allow(unused)]\n{TESTS}"));
    tree.write(
        ".config/nextest.toml",
        "[profile.default]\nslow-timeout = { period = \"2s\", terminate-after = 1 }\n",
    );
    cargo(tree.path()).args("generate-lockfile --quiet").succeed();
    tree
}

/// Ring files of all runs.
fn rings(tree: &Tree) -> Vec<PathBuf> {
    let files =
        WalkDir::new(tree.join("target/xhist/runs")).into_iter().flatten().map(|entry| entry.into_path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "xhist")).collect()
}

fn place(tree: &Tree, mark: &str) -> String {
    let file = "src/lib.rs";
    format!("{file}:{}", line_of(&tree.join(file), &format!(" // {mark}")))
}

fn failing() {
    let tree = project();
    let before = tree.fingerprint();
    let run =
        |verb: &str| cargo(tree.path()).args(&format!("{verb}nextest run --no-fail-fast")).done().expect(100);
    let plain = run("");
    let ours = run("xhist ");
    let summary = |stderr: &str| {
        let line = stderr.lines().find(|line| line.contains("tests run:")).unwrap_or_default();
        line.split(']').next_back().unwrap_or_default().to_owned()
    };
    assert_eq!(summary(&ours.stderr), summary(&plain.stderr));
    ours.check(ours.stderr.contains("SIGABRT"), "nextest prints the signal");
    assert_eq!(rings(&tree).len(), 3, "one for each test that failed: {:?}", rings(&tree));
    let messages = ours.stderr.split("\nxhist: ").skip(1).collect::<Vec<_>>();
    assert_eq!(messages.len(), 3, "{}", ours.stderr);
    let panicked = messages.iter().find(|text| text.contains("had a panic")).expect("the one that panicked");
    assert!(panicked.contains("thread fails"), "{panicked}");
    assert!(panicked.contains(&place(&tree, "check")), "{panicked}");
    let died = |test: &str, signal: &str, mark: &str| {
        let place = place(&tree, mark);
        let text =
            messages.iter().find(|text| text.starts_with(&format!("test {test} "))).expect("it is named");
        text.contains(&format!(" died of {signal}\n")) && text.contains(&place)
    };
    assert!(died("is_killed", "SIGABRT (signal 6)", "abort"), "the one that aborted: {messages:?}");
    assert!(died("hangs", "SIGTERM (signal 15)", "turn"), "the one that nextest ended: {messages:?}");
    assert!(!history_of(&ours, tree.path()).0.is_empty());
    before.assert_same(&tree.fingerprint());

    let one = cargo(tree.path()).args("xhist nextest run passes").succeed();
    one.check(!one.stderr.contains("\nxhist: "), "nothing is printed after a success");
    let blanks = tree.join("with blanks");
    let blanks =
        cargo(tree.path()).env("CARGO_TARGET_DIR", &blanks).args("xhist nextest run passes").succeed();
    blanks.check(blanks.stderr.contains("1 test run: 1 passed"), "a path with blanks");
    let skipped = "-- --skip fails --skip is_killed --skip hangs";
    let rest = cargo(tree.path()).args(&format!("xhist nextest run {skipped}")).succeed();
    rest.check(rest.stderr.contains("2 tests run: 2 passed"), "arguments behind `--` are the test programs'");
}

/// Nextest's record names the run, by its first eight digits.
fn by_nextests_name() {
    let tree = project();
    let state = tree.join("state");
    let cargo = |args: &str| {
        let run = cargo(tree.path()).args(args);
        run.env("NEXTEST_EXPERIMENTAL_RECORD", "1").env("NEXTEST_STATE_DIR", &state).done()
    };
    tree.write(".config/user.toml", "[record]\nenabled = true\n");
    let config = "--user-config-file .config/user.toml";
    cargo(&format!("xhist nextest run fails {config}")).expect(100);
    cargo(&format!("xhist nextest run is_killed {config}")).expect(100);
    let list = cargo(&format!("nextest store list {config}")).expect(0);
    let is_name = |word: &&str| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let names: Vec<&str> = list.stdout.split_whitespace().filter(is_name).collect();
    list.check(names.len() == 2, "two runs");
    let answers: Vec<String> =
        names.iter().map(|name| cargo(&format!("xhist answer {name}")).expect(0).stdout).collect();
    let of_test = |test: &str| answers.iter().filter(|answer| answer.contains(test)).count();
    assert_eq!((of_test("test fails"), of_test("test is_killed")), (1, 1), "{answers:?}");
    let shared = cargo("xhist answer 0123").expect(2);
    shared.check(shared.stderr.contains("0123"), "no run has this name");
}

fn users_runner() {
    let tree = project();
    tree.write("run.sh", "#!/bin/sh\necho \"$1\" >>ran.log\nexec \"$@\"\n");
    xhist_tests::Run::new("chmod", tree.path()).args("+x run.sh").succeed();
    tree.write(".cargo/config.toml", "[target.'cfg(unix)']\nrunner = \"./run.sh\"\n");
    cargo(tree.path()).args("xhist nextest run passes").succeed();
    assert!(tree.read("ran.log").contains("target/xhist/build/debug/deps/alone-"));
}

fn refused() {
    let tree = project();
    let done = cargo(tree.path()).args("xhist nextest list").done().expect(1);
    done.check(done.stderr.contains("only `cargo xhist nextest run` is there"), "what there is");
}
