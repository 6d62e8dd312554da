//! Two cores, each with a ring of its own: does their merged history show a race?

use std::time::Duration;

use xhist_tests::{TWO_CORES, report};

use super::runner::Project;

pub(super) fn race() {
    let project = Project::of("firmware-two-cores");
    let run = TWO_CORES.cargo(project.path(), "xhist run --quiet").limit(Duration::from_secs(500));
    let done = run.done();
    println!("{:?}\n{}\n{}", done.code(), done.stdout, done.stderr);
    let done = report(project.path()).args("history --last 60").done();
    println!("{:?}\n{}\n{}", done.code(), done.stdout, done.stderr);
    panic!();
}
