//! embassy with an executor for each of two priorities, without a line of xhist: is the mistake between their tasks seen?

use std::time::Duration;

use rustix::process::Signal;
use xhist_tests::{Done, line_of, report, repository};

use super::runner::{Project, assert_answer, run};

const SAMPLE: &str = "firmware-executors";

/// The sample with this mistake, ended by Ctrl-C, and what `tasks` says.
fn stopped(project: &Project, feature: &str, last: &[&str]) -> Done {
    let mut started = run(project, feature).start();
    started.wait_for("calibrating");
    // QEMU prints before the mistake is made.
    std::thread::sleep(Duration::from_secs(1));
    started.signal(Signal::INT);
    let done = started.done();
    assert_answer(project, &done, "was stopped by Ctrl-C", last);
    report(project.path()).args("tasks").succeed()
}

/// Each of these is a task at the line of a text, in a function and an interrupt.
#[track_caller]
fn assert_tasks(project: &Project, tasks: &Done, expected: [(&str, &str, &str); 2]) {
    for (state, text, place) in expected {
        let line = line_of(&project.join("src/main.rs"), text);
        let shown = format!(" {state} at src/main.rs:{line} in {place}\n");
        tasks.check(tasks.stdout.contains(&shown), &shown);
    }
}

/// The task of the high priority yields again and again to the one of the low priority, which never runs.
pub(super) fn starves() {
    let project = Project::of(SAMPLE);
    let last =
        ["                yield_now().await;", "HIGH.on_interrupt()", "CALIBRATED.load(Relaxed) < STEPS {"];
    let tasks = stopped(&project, "", &last);
    // The low one is at no `.await`: it was interrupted.
    let lines = tasks.stdout.lines().filter(|line| line.starts_with("task ")).collect::<Vec<_>>();
    let [high, low] = lines[..] else { panic!("{}", tasks.stdout) };
    let shown = high.contains(" in sample, in interrupt 29 QEI0");
    tasks.check(shown, "the task of the high priority");
    let line = line_of(&project.join("src/main.rs"), "async fn ask(") + 2;
    let shown = format!(" running at src/main.rs:{line} in ask, in interrupt 23 SSI0");
    tasks.check(low.ends_with(&shown), &shown);
    // The page shows them.
    let page = std::fs::read_to_string(repository().join("docs/firmware-topics.md")).expect("the page");
    tasks.check(page.contains(low), "what docs/firmware-topics.md shows");
}

/// The high task has sampled before the low one has left its waker.
pub(super) fn lost_wake_up() {
    let project = Project::of(SAMPLE);
    let tasks = stopped(&project, "lost", &["cortex_m::asm::wfi();"]);
    assert_tasks(
        &project,
        &tasks,
        [
            ("parked", "WANTED.wait().await;", "sample, in interrupt 29 QEI0"),
            ("parked", "poll_fn(|context| {", "ask, in interrupt 23 SSI0"),
        ],
    );
    // What came between: the other task, in the statement before the waker is left.
    let listing = report(project.path()).args("history --thread").succeed().stdout;
    let at = |text: &str, interrupt: &str| {
        let line = line_of(&project.join("src/main.rs"), text);
        let entry = format!("src/main.rs:{line}\tring-1 interrupt {interrupt}\n");
        listing.rfind(&entry).unwrap_or_else(|| panic!("{entry} in {listing}"))
    };
    let (asks, leaves) = (at("            WANTED.signal(());", "23 SSI0"), at("WAITING.register", "23 SSI0"));
    let wakes = at("WAITING.wake();", "29 QEI0");
    assert!(asks < wakes && wakes < leaves, "{listing}");
}
