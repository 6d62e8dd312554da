//! Tests that start programs: do the statements of a program count for the test that started it?

use serde_json::Value;
use xhist_tests::{Case, Done, Need, Tree, cargo, line_of, report};

pub const CASES: &[Case] = &[
    Case::new("programs_count_for_the_test_that_started_them", libtest),
    Case::new("programs_count_for_their_test_also_without_a_listing_of_passed_tests", quiet),
    Case::new("a_test_alone_has_all_programs_below_it", alone),
    Case::new("programs_that_no_test_is_known_of_are_counted", unknown),
    Case::needing("with_nextest_programs_are_no_tests_of_their_own", &[Need::Nextest], nextest),
];

const PROGRAM: &str = include_str!("../fixtures/children/main.rs");
const TESTS: &str = include_str!("../fixtures/children/cli.rs");
const SYSTEM: &str = include_str!("../fixtures/children/system.rs");
const FAILED: u64 = 5;
const PASSED: u64 = 3;

fn project() -> Tree {
    let tree = Tree::package("tens");
    tree.write("src/main.rs", PROGRAM);
    tree.write("tests/cli.rs", TESTS);
    tree
}

fn json(tree: &Tree) -> Value {
    let done = report(tree.path()).args("suspects --format json").succeed();
    serde_json::from_str(&done.stdout).expect("JSON")
}

fn counts(suspects: &Value, function: &str) -> Vec<(Option<u64>, Option<u64>)> {
    let suspects = suspects["suspects"].as_array().expect("suspects").iter();
    let own = suspects.filter(|suspect| suspect["function"] == function);
    own.map(|own| (own["failed"].as_u64(), own["passed"].as_u64())).collect()
}

/// The suspects of the tests: all of them, and only they, count; and the wrong line is the first.
fn check_suspects(tree: &Tree) {
    let suspects = json(tree);
    let tests = (suspects["tests"]["failed"].as_u64(), suspects["tests"]["passed"].as_u64());
    assert_eq!(tests, (Some(FAILED), Some(PASSED)), "{suspects:#}");
    assert_eq!(counts(&suspects, "up"), [(Some(FAILED), Some(0))], "{suspects:#}");
    // Of the failed tests only that of the grandchildren rounds down.
    assert_eq!(counts(&suspects, "down"), [(Some(1), Some(2))], "{suspects:#}");
    let line = line_of(&tree.join("src/main.rs"), "// wrong");
    assert_eq!(suspects["suspects"][0]["line"], line, "{suspects:#}");
}

/// Each failed test has the listing of the program that it started last, which ran the wrong line.
fn check_answer(done: &Done, tests: &[&str]) {
    for test in tests {
        let title = format!("that test {test} started\n");
        let at = done.stderr.rfind(&title).map_or("", |at| &done.stderr[at..]);
        let listing = at.split("\nwhole history: ").next().unwrap_or_default();
        done.check(listing.contains("// wrong") || listing.contains("/ 10 * 10 + 1"), &title);
    }
}

const FAILING: [&str; 5] = [
    "large_numbers_go_up",
    "so_do_grandchildren",
    "so_do_those_of_a_thread",
    "so_do_those_of_a_shell",
    "so_do_those_of_a_fork",
];

fn libtest() {
    let tree = project();
    let done = cargo(tree.path()).args("xhist test --test cli").done().expect(101);
    check_answer(&done, &FAILING);
    done.check(!done.stderr.contains("for no test"), "all processes count");
    check_suspects(&tree);
    // The programs are found, though the failed tests are of another process.
    let found = report(tree.path()).args("find up").succeed();
    let headings: Vec<&str> = found.stdout.lines().filter(|line| line.starts_with("-- ")).collect();
    found.check(headings.len() == FAILED as usize, "a program for each failed test");
    let frame = found.stdout.split("frame ").nth(1).and_then(|rest| rest.lines().next()).expect("a command");
    let frame = report(tree.path()).args("frame").args(frame).succeed();
    frame.check(frame.stdout.starts_with("up  src/main.rs:"), "the call in that program");
}

fn quiet() {
    let tree = project();
    let done = cargo(tree.path()).args("xhist test -q --test cli -- --test-threads=2").done().expect(101);
    check_answer(&done, &FAILING);
    check_suspects(&tree);
}

/// Where the recorder does not see the thread, the only test of a process has its programs.
fn alone() {
    let tree = project();
    tree.write("tests/system.rs", SYSTEM);
    let done = cargo(tree.path()).args("xhist test --test system two").done().expect(101);
    done.check(done.stderr.contains("that test two started"), "the program of the test");
    assert_eq!(counts(&json(&tree), "down"), [(Some(1), Some(0))]);
}

fn unknown() {
    let tree = project();
    tree.write("tests/system.rs", SYSTEM);
    let done = cargo(tree.path()).args("xhist test --test system").done().expect(101);
    let line = "2 processes that tests started count for no test";
    done.check(done.stderr.contains(line), line);
}

fn nextest() {
    let tree = project();
    let done = cargo(tree.path()).args("xhist nextest run --no-fail-fast --test cli").done().expect(100);
    let (failed, passed) = (FAILED, PASSED);
    let title = format!("suspects of {failed} failed tests and {passed} passed tests");
    done.check(done.stderr.contains(&title), &title);
    check_answer(&done, &FAILING);
    let own = done.stderr.matches("\nxhist: test ").count();
    done.check(own == FAILING.len(), "only tests are tests");
    check_suspects(&tree);
    let done = report(tree.path()).args("runs").succeed();
    done.check(done.stdout.contains("5 tests failed"), "the number of tests");
}
