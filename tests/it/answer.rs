//! Does the answer to a failure show the wrong line among few others, and nothing that ran afterwards?

use std::path::Path;
use std::sync::OnceLock;

use xhist_tests::{Case, Done, Run, Tree, cargo, line_of, report, run_of};

use super::after_run::fixture;

pub const CASES: &[Case] = &[
    Case::new("the_wrong_line_is_shown_and_what_ran_behind_the_panic_is_not", wrong_line),
    Case::new("a_crowd_of_failed_tests_is_named_one_by_one", crowd),
    Case::new("test_programs_that_a_signal_ends_show_their_last_statement", signals),
    Case::new("a_history_on_a_terminal_is_folded_unless_all_is_wanted", terminal),
    Case::new("a_pager_takes_what_is_longer_than_the_screen", pager),
    Case::new("places_are_links_only_where_terminals_take_them", links),
];

/// Tests that fail, built once.
pub fn tree() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(|| fixture("answer"))
}

fn test(arguments: &str) -> Run {
    cargo(tree().path()).args(&format!("xhist test -q {arguments}"))
}

/// The listing of a test.
fn part<'d>(done: &'d Done, test: &str) -> &'d str {
    let start = done.stderr.find(&format!("xhist: test {test} failed\n"));
    let rest = &done.stderr[start.unwrap_or_else(|| panic!("{test}: {}", done.summary()))..];
    rest.find("\nits history: ").map_or(rest, |end| &rest[..end])
}

pub fn place(file: &str, mark: &str) -> String {
    format!("{file}:{} ", line_of(&tree().join(file), mark))
}

/// Lines of statements, each with its place.
fn statements(listing: &str) -> Vec<&str> {
    listing.lines().filter(|line| line.starts_with("  src/") || line.starts_with("  tests/")).collect()
}

fn wrong_line() {
    let done = test("--lib").done().expect(101);
    let wrong = part(&done, "tests::a_comparison_is_wrong");
    let shown = statements(wrong);
    done.check(shown.len() <= 28, "few lines");
    let at = shown.iter().position(|line| line.contains(&place("src/lib.rs", "// wrong")));
    done.check(
        at.is_some_and(|at| at + 2 == shown.len()),
        "the wrong line, and the one behind it is the last",
    );
    done.check(shown[at.unwrap_or(0)].contains("Length::is_less  "), "its function");
    done.check(shown[at.unwrap_or(0)].contains("let (own, other) = (self.0 % 100"), "its text");
    for hidden in ["// format", "// guard"] {
        done.check(!wrong.contains(place("src/lib.rs", hidden).trim_end()), hidden);
    }
    done.check(wrong.contains("\n  ... 6 statements formatted the message"), "the message");
    let end = format!(
        "\n  -- the thread panicked at {}: the calls below that line had returned --\n  ... 2 statements ran after",
        place("src/lib.rs", "{short} is not less than {long}").trim_end()
    );
    done.check(wrong.contains(&end), "the end");
    done.check(wrong.contains("sum ") && wrong.contains(" statements"), "the long call is folded");
    // What makes the text is what is wrong here.
    let text = part(&done, "tests::a_text_is_wrong");
    done.check(text.contains(&place("src/lib.rs", "// format")), "the text is shown");
    let recursion = part(&done, "tests::a_recursion_ends");
    done.check(recursion.contains(" open calls of depth\n"), "the recursion is folded");
    let last = statements(recursion).pop().unwrap_or_default();
    done.check(last.contains(&place("src/lib.rs", "// deepest")), "its last statement");
    let endless = part(&done, "tests::a_loop_ends");
    let endless = statements(endless).pop().unwrap_or_default();
    done.check(
        endless.contains(&place("src/lib.rs", "// endless")) && endless.contains(" x 301"),
        "the loop",
    );
    done.check(done.stderr.contains("  <- suspect 1\n"), "suspects are marked");
    done.check(!done.stderr.contains("a_panic_is_right"), "no test that passed");
    // The user may type the same.
    let run = run_of(tree(), &done);
    let again = report(tree().path()).args("answer").arg(&run).succeed();
    done.check(again.stdout.contains(part(&done, "tests::a_comparison_is_wrong")), "the same once more");
    let few = report(tree().path()).args("answer --lines 6").arg(run).succeed();
    let few = few.stdout.split("xhist: test ").nth(1).unwrap_or_default().to_owned();
    done.check(statements(&few).len() <= 6, "fewer lines");
}

fn crowd() {
    let done = test("--test crowd").done().expect(101);
    for number in 0..50 {
        done.check(done.stderr.contains(&format!("xhist: test t{number:02} failed\n")), "each is named");
    }
    let listings = done.stderr.matches("before its panic (newest last):").count();
    done.check(listings == 40, "not all have a listing");
    done.check(
        done.stderr.matches("its history: cargo xhist history --ring ").count() == 50,
        "each has its ring",
    );
    let check = place("tests/crowd.rs", "// check");
    let listings = done.stderr.split("\nsuspects of ").next().unwrap_or_default();
    done.check(listings.matches(&check).count() == 40, "and its last statement");
}

fn signals() {
    let programs = [
        ("dies", "a_destructor_panics", "// second", "SIGABRT"),
        ("killed", "it_is_killed", "// kill", "SIGKILL"),
    ];
    for (program, name, last, signal) in programs {
        let done = test(&format!("--test {program}")).done().expect(101);
        let title = format!(": test {name} died of {signal} (signal ");
        done.check(done.stderr.contains(&title), &title);
        done.check(!done.stderr.contains(" caught"), "no panic was caught");
        let runs = report(tree().path()).args("runs").succeed().stdout;
        done.check(runs.contains(&format!("1 test failed: {name}")), &runs);
        let listing = &done.stderr[done.stderr.find(&title).unwrap_or(0)..];
        let listing = listing.split("last statements of thread ").nth(1).unwrap_or_default();
        let place = place(&format!("tests/{program}.rs"), last);
        done.check(statements(listing).last().is_some_and(|line| line.contains(&place)), &place);
    }
}

/// What a command prints on a terminal of this many lines, and its exit code.
fn on_a_terminal(command: &str, lines: u32, environment: &[(&str, &str)]) -> (String, i32) {
    let directory = tree().path();
    let binary = report(directory).into_command().get_program().to_owned();
    let bin = Path::new(&binary).parent().expect("a directory").display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    let typed = format!("stty rows {lines} cols 120; {command}");
    let run = Run::new("script", directory).args("-qec").arg(typed).arg("/dev/null").env("PATH", path);
    let run = environment.iter().fold(run.env("TERM", "xterm"), |run, (name, value)| run.env(name, *value));
    let done = run.done();
    (done.stdout.replace('\r', ""), done.code())
}

/// The only failed run whose answer has this test.
fn failed_once() -> String {
    let done = test("--lib a_comparison").done().expect(101);
    let line =
        done.stderr.lines().rev().find_map(|line| line.strip_prefix("its history: cargo xhist history "));
    line.expect("a command").to_owned()
}

const NO_PAGER: &[(&str, &str)] = &[("XHIST_PAGER", "")];

fn terminal() {
    let source = failed_once();
    let (folded, code) = on_a_terminal(&format!("xhist-report {source}"), 50, NO_PAGER);
    assert_eq!(code, 0, "{folded}");
    assert!(folded.contains("-- the thread panicked at "), "{folded}");
    assert!(folded.contains("; --all prints them"), "{folded}");
    assert!(folded.ends_with("folded to the end of each thread; --all prints every entry\n"), "{folded}");
    let (all, code) = on_a_terminal(&format!("xhist-report --all {source}"), 50, NO_PAGER);
    assert_eq!(code, 0, "{all}");
    let guard = place("src/lib.rs", "// guard");
    assert!(all.contains(guard.trim_end()) && !folded.contains(&guard), "{all}");
    // Options about entries are about all of them.
    for option in ["--last 5", "--time", "--thread", "--source", "--lanes"] {
        let (listed, _) = on_a_terminal(&format!("xhist-report {option} {source}"), 50, NO_PAGER);
        assert!(listed.contains(guard.trim_end()) && !listed.contains("folded to"), "{option}: {listed}");
    }
    // On a pipe it is the paper's listing, with and without the option.
    let lines = |option: &str| report(tree().path()).args(&format!("{option} {source}")).succeed().stdout;
    assert_eq!(lines("--all"), lines("--format history"));
    assert!(lines("--all").starts_with("1 src/lib.rs:"), "{}", lines("--all"));
}

fn pager() {
    let source = failed_once();
    let command = format!("xhist-report --all {source}");
    let mark = [("XHIST_PAGER", "sed 's/^/PAGED /'"), ("PAGER", "false")];
    let (paged, code) = on_a_terminal(&command, 20, &mark);
    assert!(code == 0 && paged.contains("\nPAGED ") && paged.contains(" panicked here --"), "{paged}");
    let (short, _) = on_a_terminal(&format!("xhist-report {source}"), 200, &mark);
    assert!(
        !short.contains("PAGED") && short.contains("-- the thread panicked at "),
        "it needs no pager: {short}"
    );
    let (without, _) = on_a_terminal(&format!("{command} --no-pager"), 20, &mark);
    assert!(!without.contains("PAGED") && without.contains("panicked here"), "{without}");
    let (other, _) = on_a_terminal(&command, 20, &[("PAGER", "sed s/^/OTHER/")]);
    assert!(other.contains("\nOTHER"), "{other}");
    let (dumb, _) = on_a_terminal(&command, 20, &[("PAGER", "sed s/^/OTHER/"), ("TERM", "dumb")]);
    assert!(!dumb.contains("OTHER") && dumb.contains("panicked here"), "{dumb}");
    // A pager that is not there, directly or in a shell, loses nothing.
    for missing in ["no-such-pager -x", "no-such-pager '-x'"] {
        let (text, code) = on_a_terminal(&command, 20, &[("XHIST_PAGER", missing)]);
        assert!(code == 0 && text.contains("panicked here"), "{missing}: {text}");
    }
    // The user leaves early: it ends at once, and with the code of the report.
    let (text, code) = on_a_terminal(&command, 20, &[("XHIST_PAGER", "head -n 2")]);
    assert!(code == 0 && !text.contains("panicked here"), "{text}");
    let ring = source.rsplit(' ').next().expect("a file");
    let dump = tree().join("cut.bin");
    let bytes = std::fs::read(tree().join(ring)).expect("the ring file");
    std::fs::write(&dump, &bytes[..bytes.len() - 40_000]).expect("a dump");
    let plain = report(tree().path()).args("--all cut.bin").done().code();
    let (_, code) = on_a_terminal("xhist-report --all cut.bin", 20, &[("XHIST_PAGER", "head -n 2")]);
    assert_eq!((code, plain), (1, 1), "a cut ring");
}

fn links() {
    let source = failed_once();
    let command = format!("xhist-report {source}");
    let with = |environment: &[(&str, &str)]| on_a_terminal(&command, 200, environment).0;
    let line = line_of(&tree().join("src/lib.rs"), "// wrong");
    let path = tree().path().canonicalize().expect("a directory");
    let link = format!(
        "\u{1b}]8;;file://{}/src/lib.rs#{line}\u{1b}\\src/lib.rs:{line}\u{1b}]8;;\u{1b}\\",
        path.display()
    );
    let linked = with(&[("VTE_VERSION", "7600")]);
    assert!(linked.contains(&link), "{linked:?}");
    let plain = with(&[]);
    assert!(!plain.contains("\u{1b}]8") && plain.contains(&format!("src/lib.rs:{line}")), "{plain:?}");
    let piped = report(tree().path()).args(&source).env("VTE_VERSION", "7600").succeed();
    assert!(!piped.stdout.contains('\u{1b}'), "{}", piped.stdout);
    let piped = report(tree().path()).args("answer").env("FORCE_HYPERLINK", "1").succeed();
    assert!(!piped.stdout.contains('\u{1b}'), "{}", piped.stdout);
}
