//! Ten failures: the first answer, and at most two further calls, contain the cause. None of them is longer than 8 KB.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use xhist_tests::{CORTEX_M, COUNTED, Done, Firmware, Run, Tree, cargo, line_of, report, repository};

/// The bytes of an answer at most.
const MOST: usize = 8192;

/// How a program is made to fail.
enum WayToFail {
    /// `cargo xhist test` with these words, one after another.
    Tests(&'static [&'static str]),
    /// `cargo xhist run` with this argument.
    Dies(&'static str),
    /// The same; it is interrupted when it has hung for a while.
    Hangs(&'static str),
}

struct ExplainedFailure {
    name: &'static str,
    how: WayToFail,
    /// The file, and the comment of its line, that is the cause.
    cause: (&'static str, &'static str),
    /// What is asked: the first one is the answer.
    calls: &'static [&'static str],
}

const FAILURES: [ExplainedFailure; 9] = [
    ExplainedFailure {
        name: "a panic",
        how: WayToFail::Tests(&["--lib list"]),
        cause: ("src/lib.rs", "cause of the panic"),
        calls: &["answer", "frame"],
    },
    ExplainedFailure {
        name: "an assertion",
        how: WayToFail::Tests(&["--lib cheaper"]),
        cause: ("src/lib.rs", "cause of the assertion"),
        calls: &["answer", "frame price#last"],
    },
    ExplainedFailure {
        name: "a hang",
        how: WayToFail::Hangs("hang"),
        cause: ("src/main.rs", "cause of the hang"),
        calls: &["answer", "source src/main.rs:12-19"],
    },
    ExplainedFailure {
        name: "a deadlock",
        how: WayToFail::Hangs("deadlock"),
        cause: ("src/main.rs", "cause of the deadlock"),
        calls: &["answer", "find transfer"],
    },
    ExplainedFailure {
        name: "a task that is never woken",
        how: WayToFail::Hangs("parked"),
        cause: ("src/main.rs", "cause of the wait"),
        calls: &["answer", "tasks"],
    },
    ExplainedFailure {
        name: "a stack overflow",
        how: WayToFail::Dies("overflow"),
        cause: ("src/main.rs", "cause of the overflow"),
        calls: &["answer", "frame depth#1"],
    },
    ExplainedFailure {
        name: "an access violation",
        how: WayToFail::Dies("fault"),
        cause: ("src/main.rs", "cause of the fault"),
        calls: &["answer", "frame"],
    },
    ExplainedFailure {
        name: "a child process that fails",
        how: WayToFail::Tests(&["--test child"]),
        cause: ("src/lib.rs", "cause of the child's failure"),
        calls: &["answer"],
    },
    ExplainedFailure {
        name: "a flake",
        how: WayToFail::Tests(&["--lib flaky", "--lib flaky"]),
        cause: ("src/lib.rs", "cause of the flake"),
        calls: &["answer", "diff prev last"],
    },
];

/// Makes it fail, and asks.
pub fn hosted() {
    let tree = Tree::copy_of(&repository().join("tests/fixtures/failures"));
    cargo(tree.path()).args("generate-lockfile --quiet").succeed();
    for failure in &FAILURES {
        let run = |command: &str, words: &str| cargo(tree.path()).args("xhist").args(command).args(words);
        match failure.how {
            WayToFail::Tests(all) => all.iter().for_each(|words| drop(run("test -q", words).done())),
            WayToFail::Dies(how) => drop(run("run -q --", "").arg(how).done()),
            WayToFail::Hangs(how) => {
                let mut started = run("run -q --", "").arg(how).start();
                started.wait_for("ready\n");
                // Longer than the threads of the deadlock sleep.
                std::thread::sleep(Duration::from_millis(500));
                let group = Pid::from_raw(started.pid().cast_signed()).expect("a process");
                kill_process_group(group, Signal::INT).expect("a group");
                drop(started.done());
            }
        }
        let (file, mark) = failure.cause;
        let cause = format!("{file}:{}", line_of(&tree.join(file), mark));
        ask(failure.name, failure.calls, &[&cause], |call| {
            cargo(tree.path()).args("xhist").args(call).args("--budget 8k")
        });
    }
}

/// A core that waits for ever: a handler entered the critical section again.
pub fn firmware() {
    let firmware = Firmware::sample(&CORTEX_M, "");
    let (start, len) = firmware.ring();
    // In real time a busy host decides when the timer comes.
    let mut machine = firmware.start(&COUNTED);
    machine.ask("?");
    let tree = Tree::empty("hung-core");
    machine.run_until("a function is entered again", |machine| {
        std::fs::write(tree.join("dump.bin"), machine.memory(start, len)).expect("written");
        let answer = report(tree.path()).args("answer dump.bin --program").arg(&firmware.elf).done().stdout;
        answer.contains("was entered again").then_some(())
    });
    // The handler came between its first statement and the next one.
    let line = line_of(&firmware.directory.join("src/crit_section.rs"), "let waiting = read()");
    let cause = format!(
        "add was entered again by the handler PendSV at src/crit_section.rs:{line}, before line {}",
        line + 1
    );
    ask("a hung core", &["answer dump.bin", "find add dump.bin"], &[&cause], |call| {
        report(tree.path()).args(call).arg("--program").arg(&firmware.elf).args("--budget 8k")
    });
}

/// Each call is within the budget, and together they name the cause.
fn ask(name: &str, calls: &[&str], causes: &[&str], run: impl Fn(&str) -> Run) {
    assert!(calls.len() <= 3);
    let mut missing = causes.to_vec();
    for call in calls {
        let done: Done = run(call).done();
        done.check(matches!(done.code(), 0 | 1), "it answers");
        done.check(!done.stdout.is_empty() && done.stdout.len() <= MOST, "it is within the budget");
        missing.retain(|cause| !done.stdout.contains(cause));
        println!("{name}: {call}: {} bytes, {} causes missing", done.stdout.len(), missing.len());
    }
    assert!(missing.is_empty(), "{name}: {missing:?} not in the answers");
}
