//! Does `fuzz/run` fail when a target crashes? Small scripts take the place of cargo and of the targets.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;

use xhist_tests::{Case, Done, Run, Tree, repository};

pub const CASES: &[Case] = &[
    Case::new("a_crash_fails_the_run", crash),
    Case::new("a_silent_crash_fails_the_run", silent_crash),
    Case::new("a_target_that_executes_nothing_fails_the_run", nothing),
    Case::new("good_targets_pass", good),
    Case::new("a_crash_at_a_kept_input_fails_the_replay", replay),
    Case::new("every_target_is_run", every_target),
];

const CRASH: &str = "echo 'SUMMARY: libFuzzer: deadly signal'; exit 77";
const GOOD: &str = "echo 'stat::number_of_executed_units: 12'";

/// Fuzzes two targets for a second with the script. They do this.
fn fuzz(first: &str, second: &str) -> Done {
    let compiler = Run::new("rustc", repository()).args("-vV").succeed();
    let host = compiler.stdout.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    run("1", &format!("{host}/fuzz"), first, second)
}

/// Runs the script on two targets with one input each, which do this and are built into this directory.
fn run(how: &str, directory: &str, first: &str, second: &str) -> Done {
    let tree = Tree::copy_of(&repository().join("fuzz"));
    let script = |path: &str, text: &str| {
        tree.write(path, &format!("#!/bin/sh\n{text}\n"));
        set_permissions(tree.join(path), Permissions::from_mode(0o755)).expect("a program");
    };
    script("bin/cargo", "exit 0");
    script(&format!("target/{directory}/first"), first);
    script(&format!("target/{directory}/second"), second);
    for target in ["first", "second"] {
        tree.write(&format!("corpus/{target}/input"), "kept");
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let run = Run::new("bash", tree.path()).args(&format!("run {how} first second"));
    let run = run.env("PATH", format!("{}:{path}", tree.join("bin").display()));
    run.env("CARGO_TARGET_DIR", tree.join("target")).done()
}

fn crash() {
    for done in [fuzz(CRASH, GOOD), fuzz(GOOD, CRASH)] {
        let done = done.expect(1);
        done.check(done.stdout.contains("failed with exit code 77"), "it names the failure");
    }
}

fn silent_crash() {
    fuzz("kill -9 $$", GOOD).expect(1);
}

fn nothing() {
    fuzz(GOOD, "echo 'stat::number_of_executed_units: 0'").expect(1);
}

fn good() {
    fuzz(GOOD, GOOD).expect(0);
}

/// The input itself is named, not its directory: without coverage libFuzzer reads no directories.
fn replay() {
    const RUNS: &str = "case \"$*\" in *corpus/*/input) echo 'Executed corpus/x/input in 3 ms';; esac";
    let done = run("replay", "debug", RUNS, RUNS).expect(0);
    done.check(done.stdout.matches("replaying the corpus of").count() == 2, "it replays both");
    for done in [run("replay", "debug", CRASH, RUNS), run("replay", "debug", RUNS, CRASH)] {
        done.expect(1);
    }
    run("replay", "debug", RUNS, "exit 0").expect(1);
}

/// A target that the script does not name is never run.
fn every_target() {
    let script = std::fs::read_to_string(repository().join("fuzz/run")).expect("the script");
    let named = script.lines().find_map(|line| line.split_once("targets=(f")).expect("the list").1;
    let mut named: Vec<String> =
        format!("f{named}").trim_end_matches(')').split(' ').map(str::to_owned).collect();
    let files = std::fs::read_dir(repository().join("fuzz/targets")).expect("the targets").flatten();
    // A directory is what targets share.
    let files = files.map(|file| file.path()).filter(|path| path.is_file());
    let mut files: Vec<String> =
        files.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    // The planted crash proves that the script notices one.
    files.retain(|name| name != "planted");
    named.sort();
    files.sort();
    assert_eq!(named, files);
}
