//! Two cores, each with a ring of its own: does their merged history show a race?

use std::time::Duration;

use xhist_tests::{Board, Done, Tree, line_of, report};

use super::runner::Project;

const SAMPLE: &str = "firmware-two-cores";

fn run(project: &Tree, board: &Board, feature: &str) -> Done {
    let cargo = board.cargo(project.path(), "xhist run --quiet").limit(Duration::from_secs(500));
    if feature.is_empty() { cargo } else { cargo.args("--features").arg(feature) }.done()
}

/// The lost count: between the two steps of a core in the section, the other one reads the same count. A statement is recorded
/// before it runs, so in some runs the history has the store before the read that came first.
pub(super) fn race(board: &Board) {
    let project = Project::of(SAMPLE);
    assert!((0..5).any(|_| shows_race(&project, board)), "both cores read the same count");
    let calls = report(project.path()).args("calls --thread").arg("core 1").done().expect(0);
    calls.check(
        calls.stdout.contains("take_event") && !calls.stdout.contains("post_events"),
        "one core alone",
    );
}

fn shows_race(project: &Tree, board: &Board) -> bool {
    let done = run(project, board, "").expect(1);
    done.check(done.stdout.contains("core 0: panicked"), "the count is wrong");
    for core in ["core 0", "core 1"] {
        done.check(done.stderr.contains(&format!("last statements of {core} (newest last):\n")), core);
    }
    let section = project.join("src/crit_section.rs");
    let place = |text| format!("src/crit_section.rs:{}", line_of(&section, text));
    let (read, store) = (place("let waiting = read()"), place("WAITING.store("));
    let history = report(project.path()).args("history --thread").done().expect(0);
    // Each step of the section, with its core.
    let steps = history.stdout.lines().filter_map(|line| {
        let (step, core) = line.split_once('\t')?;
        let place = step.split(' ').nth(1)?;
        (place == read || place == store).then_some((place == read, core))
    });
    let steps: Vec<(bool, &str)> = steps.collect();
    for core in ["core 0", "core 1"] {
        let own: Vec<bool> = steps.iter().filter(|step| step.1 == core).map(|step| step.0).collect();
        let is_in_turn = own.windows(2).all(|pair| pair[0] != pair[1]);
        history.check(!own.is_empty() && is_in_turn, "a core reads and stores in turn");
    }
    // A read, one of the other core, and a store.
    steps.windows(3).any(|three| three[0].0 && three[1].0 && !three[2].0 && three[0].1 != three[1].1)
}

/// With its lock, and the program's critical section is one for both cores.
pub(super) fn ends_well(board: &Board) {
    let project = Project::of(SAMPLE);
    let done = run(&project, board, "good").expect(0);
    done.check(!done.stderr.contains("last statements"), "no answer");
}
