//! Does `fuzz/run` fail when a target crashes? Small scripts take the place of cargo and of the targets.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;

use xhist_tests::{Case, Done, Run, Tree, repository};

pub const CASES: &[Case] = &[
    Case::new("a_crash_fails_the_run", crash),
    Case::new("a_silent_crash_fails_the_run", silent_crash),
    Case::new("a_target_that_executes_nothing_fails_the_run", nothing),
    Case::new("good_targets_pass", good),
    Case::new("every_target_is_run", every_target),
];

const CRASH: &str = "echo 'SUMMARY: libFuzzer: deadly signal'; exit 77";
const GOOD: &str = "echo 'stat::number_of_executed_units: 12'";

/// Runs the script on two targets, which do this.
fn fuzz(first: &str, second: &str) -> Done {
    let tree = Tree::copy_of(&repository().join("fuzz"));
    let compiler = Run::new("rustc", tree.path()).args("-vV").succeed();
    let host = compiler.stdout.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let script = |path: &str, text: &str| {
        tree.write(path, &format!("#!/bin/sh\n{text}\n"));
        set_permissions(tree.join(path), Permissions::from_mode(0o755)).expect("a program");
    };
    script("bin/cargo", "exit 0");
    script(&format!("target/{host}/release/first"), first);
    script(&format!("target/{host}/release/second"), second);
    let path = std::env::var("PATH").unwrap_or_default();
    let run = Run::new("bash", tree.path()).args("run 1 first second");
    run.env("PATH", format!("{}:{path}", tree.join("bin").display())).done()
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

/// A target that the script does not name is never run.
fn every_target() {
    let script = std::fs::read_to_string(repository().join("fuzz/run")).expect("the script");
    let named = script.lines().find_map(|line| line.split_once("targets=(f")).expect("the list").1;
    let mut named: Vec<String> =
        format!("f{named}").trim_end_matches(')').split(' ').map(str::to_owned).collect();
    let files = std::fs::read_dir(repository().join("fuzz/targets")).expect("the targets").flatten();
    let mut files: Vec<String> =
        files.map(|file| file.path().file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    // The planted crash proves that the script notices one.
    files.retain(|name| name != "planted");
    named.sort();
    files.sort();
    assert_eq!(named, files);
}
