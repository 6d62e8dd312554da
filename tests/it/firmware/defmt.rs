//! Firmware that logs by `defmt`, without a line of xhist: is each line in the history, at its statement, in its own words?

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use xhist_tests::{RISC_V, Tree, line_of, report, repository, ring_of};

use super::runner::run;

/// What each line of the program is, by the comment behind its statement.
const LINES: [(&str, &str, &str); 15] = [
    ("start", "info", "start"),
    ("numbers", "trace", "200 -3 0x0000beef -5000000000 101"),
    ("floats", "debug", "1.5 -0.25 true é 7"),
    ("bits", "debug", "5 0xa 300"),
    ("wide", "debug", "83.000005 340282366920938463463374607431768211455"),
    ("strings", "info", "plain any interned {}"),
    ("slices", "info", r#"b"ab\n" [1, 2] [7, 8] [true, false]"#),
    ("adapters", "info", "Idle 3"),
    ("derived", "info", "Running { speed: 900, limit: Some(-1) }"),
    ("failed", "warn", "Idle and Failed(Reason(stuck), [1, 2, 3])"),
    ("by hand", "info", "23.5 C (1, -1.0 C)"),
    ("flags", "info", "READY | LATE"),
    ("always", "info", "always"),
    ("long", "warn", "long x"),
    ("error", "error", "no answer in round 2"),
];

pub(super) fn lines() {
    let fixture = repository().join("tests/fixtures/defmt-lines");
    let project = Tree::kept("defmt-lines", &fixture, str::to_owned);
    let done = run(&project, "").done().expect(1);
    let line = |mark: &str| line_of(&project.join("src/main.rs"), &format!("// {mark}"));
    let log = done.stderr.split("its log (newest last, 7 more before):\n").nth(1).expect("the log").lines();
    let log: Vec<String> =
        log.take(8).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let error = format!("src/main.rs:{} error 0.000014 defmt_lines: no answer in round 2", line("error"));
    assert_eq!(log.last(), Some(&error), "{log:#?}");
    let lock = std::fs::read_to_string(fixture.join("Cargo.lock")).expect("a lock file");
    assert_eq!(project.read("Cargo.lock"), lock, "the lock file is as it was");

    // In the history, each behind its statement. The record of the run names its program, so another one of the same sources,
    // with other texts, does not matter.
    let builds = project.join("target/xhist/build/thumbv7m-none-eabi/release");
    let program = builds.join("defmt-lines");
    let mut other = File::options()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o755)
        .open(builds.join("deps/defmt_lines-0"));
    let other = other.as_mut().expect("another program");
    other.write_all(&in_other_words(&program)).expect("written");
    other.set_modified(SystemTime::UNIX_EPOCH).expect("the time of an earlier build");
    let history = report(project.path()).args("history").succeed().stdout;
    let entries: Vec<&str> = history.lines().map(|line| line.split_once(' ').expect("a number").1).collect();
    let logged: Vec<usize> = (0..entries.len()).filter(|at| entries[*at].contains("defmt_lines: ")).collect();
    assert_eq!(logged.len(), LINES.len(), "{history}");
    for (number, (at, (mark, level, text))) in logged.into_iter().zip(LINES).enumerate() {
        let (head, shown) = entries[at].split_once(" defmt_lines: ").expect("its crate");
        assert!(
            head.contains(&format!("log_{level}(")) && head.ends_with(&format!("0.{number:06}")),
            "{head}"
        );
        match mark {
            "long" => assert!(shown.starts_with("long xxx") && shown.ends_with("x..."), "{shown}"),
            _ => assert_eq!(shown, text),
        }
        // What formats a value by hand is recorded, too.
        if mark != "by hand" {
            assert_eq!(entries[at - 1], format!("src/main.rs:{}", line(mark)), "{history}");
        }
    }
    let severe = report(project.path()).args("traceinfo --severity 1..").succeed().stdout;
    assert_eq!(severe.lines().count(), 3, "{severe}");
    let found = report(project.path()).args("find").arg("\"round 2").succeed().stdout;
    assert!(found.contains(&format!("src/main.rs:{}", line("error"))), "{found}");

    // Elsewhere the bytes are there, and the text with the program.
    let elsewhere = Tree::empty("defmt-elsewhere");
    std::fs::copy(project.join(ring_of(&done)), elsewhere.join("dump.bin")).expect("a copy");
    let history = report(elsewhere.path()).args("history dump.bin").done().stdout;
    let bytes = "xhist(0x000001) defmt(0x0b): 12 00 00 00 00 00; a dump with --program FILE has its text";
    assert!(history.contains(bytes), "{history}");
    let named = report(elsewhere.path()).args("history dump.bin --program").arg(program).done().stdout;
    assert!(named.contains("log_info(0x06): 0.000000 defmt_lines: start"), "{named}");

    // Statements of the logger come behind the one that wrote a line.
    let with_logger = run(&project, "").args("--deps all").done().expect(1);
    let log = with_logger.stderr.split("its log (newest last").nth(1).expect("the log").lines().skip(1);
    let newest = log.take_while(|line| line.starts_with("  ")).last().unwrap_or_default();
    assert_eq!(newest.split_whitespace().collect::<Vec<_>>().join(" "), error, "{}", with_logger.stderr);
    let history = report(project.path()).args("history").done().stdout;
    assert!(history.contains("/defmt-rtt-"), "{history}");
}

/// A program with another text in place of one of its lines.
fn in_other_words(program: &Path) -> Vec<u8> {
    let mut program = std::fs::read(program).expect("the program");
    let (text, other) = (b"no answer in round", b"an answer in round");
    let at = program.windows(text.len()).position(|window| window == text).expect("the name of a symbol");
    program[at..at + text.len()].copy_from_slice(other);
    program
}

/// A RISC-V, whose linker places the flags in another order.
pub(super) fn on_risc_v() {
    let fixture = repository().join("tests/fixtures/defmt-riscv");
    let project = Tree::kept("defmt-riscv", &fixture, str::to_owned);
    let cargo = RISC_V.cargo(project.path(), "xhist run --quiet").limit(Duration::from_secs(500));
    let done = cargo.done().expect(1);
    let line = |mark: &str| line_of(&project.join("src/main.rs"), &format!("// {mark}"));
    let log = done.stderr.split("its log (newest last):\n").nth(1).expect("the log").lines();
    let log: Vec<String> =
        log.take(3).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let (round, flags) = (line("round"), line("flags"));
    let expected = [
        format!("src/main.rs:{round} info defmt_riscv: round 0"),
        format!("src/main.rs:{round} info defmt_riscv: round 1"),
        format!("src/main.rs:{flags} warn defmt_riscv: READY | LATE"),
    ];
    assert_eq!(log, expected, "{}", done.stderr);
}
