//! Firmware that logs by the crate `log`: is each line in the history, at its statement?

use xhist_tests::{Tree, finding_recorder, line_of, report, repository};

use super::runner::run;

pub(super) fn lines() {
    let fixture = repository().join("tests/fixtures/log-lines");
    let project = Tree::kept("log-lines", &fixture, finding_recorder);
    let done = run(&project, "").done().expect(1);
    done.check(done.stdout.contains("WARN late by 6\nERROR no answer\n"), "the program's own logger");
    let line = |mark: &str| line_of(&project.join("src/main.rs"), &format!("// {mark}"));
    done.check(done.stderr.contains("its log (newest last):\n"), "the log is in the answer");
    let history = report(project.path()).args("history").succeed().stdout;
    let entries: Vec<&str> = history.lines().map(|line| line.split_once(' ').expect("a number").1).collect();
    let logged: Vec<usize> = (0..entries.len()).filter(|at| entries[*at].contains("log_lines: ")).collect();
    let texts = ["late by 0", "late by 3", "late by 6", "no answer"];
    assert_eq!(logged.len(), texts.len(), "{history}");
    for (at, text) in logged.into_iter().zip(texts) {
        let (level, mark) = if text == "no answer" { ("error", "error") } else { ("warn", "late") };
        assert!(entries[at].contains(&format!("log_{level}(")) && entries[at].ends_with(text), "{history}");
        assert_eq!(entries[at - 1], format!("src/main.rs:{}", line(mark)), "{history}");
    }
}
