//! Front-ends of QP 8, from PyPI, on the port of a session: do they command a target, and get its records?

use std::time::Duration;

use xhist_tests::{Need, Run, Started, Tree, cargo, free_port, report};

use super::interrupt;

/// What front-ends of QP 8 talk to: a target's program, a host, its port for front-ends and that for the target.
fn for_qp8() -> (Tree, Started, u16, u16) {
    let fixture = Tree::with_recorder("tests/fixtures/qutest");
    cargo(fixture.path()).args("build --quiet").succeed();
    let (port, front) = (free_port(), free_port());
    let mut host =
        report(fixture.path()).args(&format!("qspy --qp8 -u {front} tcp-listen://127.0.0.1:{port}")).start();
    host.wait_for_stderr("front-ends: listening");
    (fixture, host, front, port)
}

/// The client of tests.
pub(super) fn qutest() {
    let (fixture, host, front, port) = for_qp8();
    let tests = Run::new(Need::qutest().expect("it is there"), fixture.path())
        .args(&format!("-e target/debug/qutest-fixture -q localhost:{front}:{port} test_thermometer.py"))
        .limit(Duration::from_secs(120))
        .done();
    tests.check(tests.code() == 0 && tests.stdout.contains("OK"), "all tests of the script pass");
    let seen = interrupt(host);
    seen.check(seen.stdout.contains("MEASURED 99"), "the session shows what happened");
    seen.check(seen.stdout.contains("Trg-Ack  QS_RX_TEST_PROBE"), "it shows the answers");
}

/// What shows the records of a target, in a window of Tk.
pub(super) fn qview() {
    let (fixture, mut host, front, port) = for_qp8();
    let target = Run::new(fixture.join("target/debug/qutest-fixture"), fixture.path());
    let _target = target.arg(format!("127.0.0.1:{port}")).start();
    host.wait_for("Trg-RST");
    // It chooses a number that is free, and prints it.
    let mut display = Run::new("Xvfb", fixture.path()).args("-displayfd 1 -nolisten tcp").start();
    display.wait_for("\n");
    let screen = format!(":{}", display.printed().trim());
    let script = Run::new(Need::qview().expect("it is there"), fixture.path()).env("DISPLAY", screen);
    let script = script.args(&format!("view_sum.py localhost:{front}")).limit(Duration::from_secs(120));
    let seen = script.succeed();
    let record = seen.stdout.lines().find_map(|line| line.strip_prefix("record ")).unwrap_or_default();
    // 42 and `sum`, each behind its format.
    seen.check(record.contains("2a000000") && record.contains("73756d00"), "it gets the record");
    let session = interrupt(host);
    session.check(session.stdout.contains("MEASURED 42 sum"), "the target got the command");
    session.check(session.stdout.contains("Trg-Ack  QS_RX_COMMAND"), "it is acknowledged");
}
