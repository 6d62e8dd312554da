//! Tests of `embedded-test` without a line of xhist: does each that failed have its own history?

use std::path::{Path, PathBuf};
use std::time::Duration;

use xhist_tests::{
    CORTEX_M, Done, Run, Tree, bin_directory, kept_builds, line_of, online_cargo, report, repository, ring_of,
};

use super::runner::Project;

const SAMPLE: &str = "firmware-tests";

/// The tests that fail, and the text of the last statement of each, where there is only one.
const FAILED: [(&str, &str); 4] = [
    ("tests::forgets_old_readings", "self.readings[self.next] = reading;"),
    ("tests::starts_cold", "0 => Err("),
    ("tests::cools_down", ""),
    // A hard fault.
    ("tests::reads_the_sensor", "self.take(function());"),
];

/// `cargo xhist test` of the project.
fn test(project: &Project) -> Run {
    CORTEX_M.cargo(project.path(), "xhist test --quiet").limit(Duration::from_secs(500))
}

/// The runner from crates.io, compiled once.
fn runner() -> PathBuf {
    let root = kept_builds().join("embedded-test-qemu-runner");
    let program = root.join("bin/embedded-test-qemu-runner");
    if !program.is_file() {
        let install = |network: &str| {
            let directory = Tree::empty("runner");
            let cargo = online_cargo(directory.path()).args("install --quiet --locked --debug").args(network);
            let cargo = cargo.args("embedded-test-qemu-runner@0.1.0 --root").arg(&root);
            let cargo = cargo.env("CARGO_PROFILE_DEV_DEBUG", "0");
            cargo.arg("--target-dir").arg(root.join("target")).limit(Duration::from_secs(500)).done()
        };
        if install("--offline").code() != 0 {
            install("").expect(0);
        }
        let _ = std::fs::remove_dir_all(root.join("target"));
    }
    program
}

/// Each test that failed has an answer with its own last statement, and none that passed.
fn assert_answers(project: &Project, done: &Done) {
    for (name, last) in FAILED {
        let title = format!("\nxhist: test {name} failed\n");
        done.check(done.stderr.contains(&title), &title);
        let answer = done.stderr.split(&title).nth(1).and_then(|rest| rest.split_once("whole history: "));
        let (answer, rest) = answer.expect("an answer");
        let function = format!("  {name} ");
        done.check(answer.contains(&function), &format!("the function of {name}"));
        let mut others = FAILED.iter().filter(|(other, _)| *other != name);
        let has_other = others.any(|(other, _)| answer.contains(&format!("  {other} ")));
        done.check(!has_other, &format!("only the statements of {name}"));
        done.check(answer.trim_end().lines().last().is_some_and(|line| line.contains(last)), last);
        let whole = rest
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("cargo xhist history "))
            .expect("a command");
        let whole = report(project.path()).args(whole).succeed().stdout;
        done.check(whole.contains("tests/thermostat.rs:") && !whole.contains("before the reset"), &whole);
    }
    let endless = line_of(&project.join("src/lib.rs"), "core::hint::spin_loop()");
    done.check(done.stderr.contains(&format!("src/lib.rs:{endless} ")), "where the time went");
    for passed in ["averages", "needs_a_limit"] {
        done.check(!done.stderr.contains(&format!("xhist: test tests::{passed}")), passed);
    }
    done.check(!done.stderr.contains("map not verified"), "a test names the build");
}

/// Away from the project the program of the tests is enough.
#[track_caller]
fn assert_names_are_in_the_program(project: &Project, done: &Done) {
    let ring = ring_of(done);
    let name = Path::new(ring)
        .file_stem()
        .and_then(|stem| stem.to_str()?.rsplit_once('-'))
        .expect("a program and its number")
        .0;
    let program = project.join("target/xhist/build/thumbv7m-none-eabi/release/deps").join(name);
    let elsewhere = Tree::empty("tests-elsewhere");
    std::fs::copy(project.join(ring), elsewhere.join("dump.bin")).expect("a copy");
    let history = report(elsewhere.path()).args("history dump.bin --program").arg(program).succeed().stdout;
    assert!(history.contains("tests/thermostat.rs:"), "{history}");
}

/// One of the tests runs again by the same runner, with values.
#[track_caller]
fn assert_runs_again(project: &Project, with_runner: impl Fn(Run) -> Run) {
    let why = with_runner(CORTEX_M.why(project.path(), "forgets").limit(Duration::from_secs(500))).succeed();
    why.check(why.stderr.contains("\nxhist: test tests::forgets_old_readings failed\n"), "the test");
    why.check(why.stderr.contains(" reading = 4 ") && !why.stderr.contains("now it"), "its values");
}

/// The runner starts one emulator for each test.
pub(super) fn in_qemu() {
    let project = Project::of(SAMPLE);
    let directory = runner();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = directory.parent().map(PathBuf::from).into_iter().chain(std::env::split_paths(&path));
    let tools = bin_directory();
    let path = std::env::join_paths([tools.to_owned()].into_iter().chain(directories)).expect("a path");
    let done = test(&project).env("PATH", &path).done().expect(1);
    assert_answers(&project, &done);
    done.check(done.stdout.contains("test result: FAILED. 2 passed; 4 failed;"), "what the runner prints");
    done.check(done.stdout.contains("timed out after 5s"), "the time-out is that of the runner");
    // The page shows one of the answers, whose number is that of its run.
    let page = std::fs::read_to_string(repository().join("docs/firmware-topics.md")).expect("the page");
    let shown = page.split("\nxhist: test tests::starts_cold").nth(1);
    let shown = shown.and_then(|rest| rest.split("whole history").next()).expect("an answer");
    done.check(done.stderr.contains(shown), "what docs/firmware-topics.md shows");
    assert_names_are_in_the_program(&project, &done);
    assert_runs_again(&project, |why| why.env("PATH", &path));
}

/// The chip has the ring of its last test only.
pub(super) fn by_probe() {
    probed(&Project::of(SAMPLE));
}

/// Before 0.7 the target lists its tests, and the program's file has no names of them.
pub(super) fn by_probe_before_07() {
    let older = |manifest: &str| manifest.replace("embedded-test = \"0.7\"", "embedded-test = \"=0.6.2\"");
    probed(&Project::changed(SAMPLE, "firmware-tests-before-07", older));
}

fn probed(project: &Project) {
    let state = Tree::empty("probe-state");
    let probe = repository().join("tests/fixtures/probe-rs/probe-rs").display().to_string();
    let runner = format!("{probe} run --chip LM3S6965 --probe 0d28:0204");
    // A list on the command line would be added to that of the file.
    let with_runner = |cargo: Run| {
        cargo.env("CARGO_TARGET_THUMBV7M_NONE_EABI_RUNNER", &runner).env("PROBE_STATE", state.path())
    };
    let run = |words: &str| with_runner(test(project)).args(words);
    let done = run("").done().expect(101);
    assert_answers(project, &done);
    for (name, _) in FAILED {
        done.check(done.stderr.contains(&format!("xhist: for its history, {name} runs again alone\n")), name);
    }
    assert_runs_again(project, with_runner);
    // It fails only behind the others.
    let done = run("").env("PROBE_PASSES", "tests::starts_cold").done().expect(101);
    let note = "xhist: this time tests::starts_cold passed, so it has no history\n";
    done.check(done.stderr.contains(note), "that nothing is known");
    done.check(done.stderr.contains("xhist: test tests::starts_cold failed"), "and that it failed");
    // One alone is not repeated.
    let done = run("-- tests::starts_cold --exact").done().expect(101);
    done.check(!done.stderr.contains("runs again"), "its ring is still there");
    done.check(
        done.stderr.contains("\nxhist: test tests::starts_cold failed\nlast statements"),
        "its history",
    );
}
