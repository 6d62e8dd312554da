//! Running a recorded test again: with values, and several times.

use xhist_tests::{Case, Done, Tree, cargo};

pub const CASES: &[Case] = &[
    Case::new("a_failed_test_is_answered_with_values", values),
    Case::new("a_call_whose_beginning_is_folded_has_its_arguments", arguments),
    Case::new("a_test_that_passes_the_next_time_is_compared", flaky),
    Case::new("several_runs_part_at_the_first_statement", rerun),
    Case::new("runs_that_do_not_part_are_said_to_be_equal", equal),
    Case::new("an_example_in_documentation_runs_again_alone", example),
    Case::new("what_cannot_run_again_is_an_error", errors),
];

const LIBRARY: &str = r#"
pub fn width(text: &str, limit: usize) -> usize {
    let count = text.len();
    let width = if count > limit { limit } else { count };
    width
}

#[cfg(test)]
mod tests {
    #[test]
    fn short_texts_fit() {
        assert_eq!(super::width("abc", 8), 3);
    }

    #[test]
    #[should_panic]
    fn a_limit_is_there() {
        assert!(super::width("abc", 0) > 0);
    }

    #[test]
    fn characters_are_counted() {
        assert_eq!(super::width("\u{e4}\u{f6}", 8), 2);
    }
}
"#;

fn project(library: &str) -> Tree {
    let tree = Tree::package("again");
    tree.write("src/lib.rs", library);
    tree
}

fn again(tree: &Tree, arguments: &str) -> Done {
    cargo(tree.path()).args(&format!("xhist {arguments}")).done()
}

fn values() {
    let tree = project(LIBRARY);
    let failed = again(&tree, "test --lib").expect(101);
    failed.check(failed.stderr.contains("\nagain, with values: cargo xhist why\n"), "the answer offers it");
    let frame = again(&tree, "frame").expect(0);
    frame
        .check(frame.stdout.starts_with("tests::characters_are_counted  "), "not the test that should panic");
    let done = again(&tree, "why").expect(0);
    done.check(
        done.stderr.starts_with("xhist: running tests::characters_are_counted again, with the values of"),
        "the test",
    );
    done.check(done.stderr.contains("let count = text.len();  "), "the statement with the wrong value");
    done.check(done.stderr.contains("count = 4"), "its value");
    done.check(!done.stderr.contains("no binding matches") && done.stdout.is_empty(), "nothing else");
    done.check(
        done.stderr.contains("suspects of 1 failed test and 2 passed tests"),
        "those of the whole run",
    );
    // The run of all tests is still the one that failed last.
    let suspects = again(&tree, "suspects").expect(0);
    suspects.check(
        suspects.stdout.starts_with("suspects of 1 failed test and 2 passed tests"),
        "of the whole run",
    );
    again(&tree, "why counted").expect(0);
    // What needs no number of an entry is read where the values are.
    let valued = "left this run, with the values of one test";
    for (arguments, found) in
        [("frame width", "(text = "), ("origin count", "= 4"), ("find count=*", "count = 4")]
    {
        let done = again(&tree, arguments).expect(0);
        done.check(done.stderr.contains(valued) && done.stdout.contains(found), arguments);
    }
    let frame = again(&tree, "frame 1").expect(0);
    frame.check(!frame.stderr.contains(valued), "entries have the numbers of the run of all tests");
    let frame = again(&tree, "frame short_texts_fit").expect(0);
    frame.check(!frame.stderr.contains(valued), "the other test is in the run of all tests only");
}

fn arguments() {
    let lines: String = (1..60).map(|number| format!("    sum += {number} & 1;\n")).collect();
    let tree = project(&format!(
        "pub fn scaled(size: u32, factor: u32) -> u32 {{\n    let mut sum = 0;\n{lines}    \
         assert!(size * factor < 100, \"large\");\n    sum\n}}\n\n\
         #[test]\nfn sizes_are_small() {{\n    assert_eq!(scaled(7, 60), 30);\n}}\n"
    ));
    again(&tree, "test --lib").expect(101);
    let done = again(&tree, "why").expect(0);
    let folded = done.stderr.lines().find(|line| line.contains(" statements before")).unwrap_or_default();
    done.check(folded.ends_with(" statements before  size = 7, factor = 60"), "what it was called with");
}

fn example() {
    let tree = project(
        "/// ```\n/// assert_eq!(again::half(3), 2);\n/// ```\n/// ```\n/// assert_eq!(again::half(4), 2);\n/// ```\n\
         pub fn half(number: u32) -> u32 {\n    number / 2\n}\n",
    );
    again(&tree, "test --doc").expect(101);
    let done = again(&tree, "why").expect(0);
    done.check(done.stderr.contains("xhist: running src/lib.rs - half (line 1) again, "), "it is named");
    done.check(done.stderr.contains("number = 0x03 "), "its value");
    done.check(!done.stderr.contains("number = 0x04"), "the other one did not run");
}

/// A test that goes by a file: it fails in every second run.
const FLAKY: &str = r#"
fn is_even(number: u32) -> bool {
    let rest = number % 2;
    if rest == 0 {
        return true;
    }
    false
}

#[test]
fn goes_by_a_file() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/count");
    let count: u32 = std::fs::read_to_string(path).map_or(0, |text| text.parse().unwrap());
    std::fs::write(path, (count + 1).to_string()).unwrap();
    assert!(is_even(count) == FAILS);
}
"#;

fn flaky() {
    // The run that is recorded fails, and the next one passes.
    let tree = project(&FLAKY.replace("FAILS", "false"));
    again(&tree, "test --lib").expect(101);
    let done = again(&tree, "why").expect(0);
    done.check(done.stderr.contains("and now it passed\n"), "it passed");
    done.check(done.stderr.contains("the two runs part here:"), "another run failed");
    done.check(done.stdout.contains("src/lib.rs:5") && done.stdout.contains("src/lib.rs:7"), "both ways");
}

fn rerun() {
    let tree = project(&FLAKY.replace("FAILS", "false"));
    again(&tree, "test --lib").expect(101);
    let done = again(&tree, "diff --rerun 4 goes_by").expect(0);
    done.check(done.stderr.contains("xhist: 2 of 4 runs failed\n"), "the number");
    done.check(done.stderr.contains("xhist: run 1 passed, and run 2 failed at src/lib.rs:"), "which runs");
    done.check(done.stdout.contains("src/lib.rs:5") && done.stdout.contains("src/lib.rs:7"), "both ways");
}

fn equal() {
    let tree = project(LIBRARY);
    again(&tree, "test --lib").expect(101);
    let done = again(&tree, "diff --rerun=3").expect(0);
    done.check(
        done.stdout == "all 3 runs of tests::characters_are_counted ran the same statements\n",
        "nothing parts",
    );
}

fn errors() {
    let tree = project(LIBRARY);
    let none = again(&tree, "why").expect(1);
    none.check(none.stderr.starts_with("error: "), "there is no run");
    again(&tree, "test --lib").expect(101);
    let done = again(&tree, "why unknown_test").expect(1);
    done.check(
        done.stderr
            .contains("no failed test `unknown_test` in that run; failed: tests::characters_are_counted"),
        "its tests",
    );
    again(&tree, "diff --rerun 1").expect(1);
    // A program of an operating system is not started again.
    tree.write("src/main.rs", "fn main() {\n    panic!();\n}\n");
    again(&tree, "run -q -- a b").expect(101);
    let done = again(&tree, "why").expect(1);
    let typed = "in that run no firmware failed, and no test ran; values of a program: cargo xhist run --values '**' -q -- a b\n";
    done.check(done.stderr.contains(typed), "what to type");
    again(&tree, "test --lib").expect(101);
    again(&tree, "why --run nowhere").expect(1);
    // What does not compile any more.
    tree.replace("src/lib.rs", "let count = text.len();", "let count = text.len()");
    let done = again(&tree, "why").expect(1);
    done.check(
        done.stderr.contains("error: nothing ran; this shows what cargo says: cargo xhist test --lib"),
        "what to type",
    );
}
