//! An RTIC program without a line of xhist: are its tasks recorded, each in its interrupt, and is the mistake explained?

use std::time::Duration;

use rustix::process::Signal;
use xhist_tests::{Done, line_of, report, repository};

use super::runner::{Project, assert_answer, run};

const SAMPLE: &str = "firmware-rtic";

/// The lines of an answer are in the page.
#[track_caller]
fn assert_in_page(done: &Done, first: &str) {
    let page = std::fs::read_to_string(repository().join("docs/firmware.md")).expect("the page");
    let shown = page.split(first).nth(1).and_then(|rest| rest.split("whole history").next());
    done.check(done.stderr.contains(shown.expect("a run")), "what docs/firmware.md shows");
}

/// A task of priority 1 is interrupted by one of priority 3, which empties their queue.
pub(super) fn panics() {
    let project = Project::of(SAMPLE);
    let done = run(&project, "").done().expect(1);
    assert_answer(&project, &done, "ended with exit code 1", &["reading.expect("]);
    assert_in_page(&done, "\nxhist: firmware-rtic ended");
    done.check(!done.stderr.contains("map not verified"), "`#[init]` names the build");
    let main = project.join("src/main.rs");
    // Tasks have the interrupts of their priorities, and the names of the device.
    for (text, interrupt) in [
        ("for _ in 0..8", "29 QEI0"),
        ("readings.len()", "23 SSI0"),
        ("let reading = *cx.local.next", "30 ADC0_SEQUENCE_0"),
    ] {
        let place = format!("src/main.rs:{}\tring-1 interrupt {interrupt}\n", line_of(&main, text));
        let listing = report(project.path()).args("history --thread").succeed().stdout;
        assert!(listing.contains(&place), "{place} in {listing}");
    }
    let named =
        |line: &&str| line.contains(r#""interrupt":16,"interrupt_name":"GPIOA","interrupt_priority":3"#);
    for (words, first) in [("history", "cx.shared.readings.lock(|readings| {"), ("calls", "fn alarm(")] {
        let lines = report(project.path()).args(words).args("--format json").succeed();
        let is_first = format!(r#""line":{}"#, line_of(&main, first));
        let shown = lines.stdout.lines().find(named).is_some_and(|line| line.contains(&is_first));
        lines.check(shown, "the interrupt by name, at its first statement");
    }
    let document = report(project.path()).args("answer --format json").succeed();
    document.check(
        document.stdout.contains(r#""interrupt":"interrupt 16 GPIOA, priority 3""#),
        "who interrupted whom",
    );
    // The page shows the lanes of the same recording.
    let found = report(project.path()).args("find app::alarm").succeed();
    found.check(found.stdout.contains("thread ring-1 interrupt 16 GPIOA"), "the lane of an interrupt");
    let alarm = report(project.path()).args("history --thread").arg("* interrupt GPIOA").succeed().stdout;
    let lines = [line_of(&main, "cx.shared.readings.lock(|readings| {"), line_of(&main, "readings.clear()")];
    for line in lines {
        assert!(alarm.contains(&format!("src/main.rs:{line}\n")), "{alarm}");
    }
    assert!(!alarm.contains(&format!("src/main.rs:{}\n", line_of(&main, "reading.expect("))), "{alarm}");
}

/// The converter measures before the task that waits has left its waker.
pub(super) fn lost_wake_up() {
    let project = Project::of(SAMPLE);
    let mut started = run(&project, "lost").start();
    started.wait_for("measuring");
    // QEMU prints before the mistake is made.
    std::thread::sleep(Duration::from_secs(1));
    started.signal(Signal::INT);
    let done = started.done();
    assert_answer(&project, &done, "was stopped by Ctrl-C", &["cortex_m::asm::wfi();"]);
    assert_in_page(&done, "\nxhist: firmware-rtic was stopped");
    let waits = line_of(&project.join("src/main.rs"), "let reading = poll_fn(");
    let tasks = report(project.path()).args("tasks").succeed();
    let parked =
        format!("task 1 parked at src/main.rs:{waits} in app::measure, in interrupt 29 QEI0, priority 2\n");
    tasks.check(tasks.stdout.contains(&parked), &parked);
}

pub(super) fn ends_well() {
    let project = Project::of(SAMPLE);
    let done = run(&project, "good").succeed();
    done.check(!done.stderr.contains("newest last"), "no answer");
    let manifest = std::fs::read_to_string(repository().join("samples").join(SAMPLE).join("Cargo.toml"));
    assert_eq!(project.read("Cargo.toml"), manifest.expect("a text"), "it is as it was");
}
