//! Is the history complete and in order after a storm of signals whose handlers nest?

use qs_core::record::Statement;
use xhist_tests::{Build, Case, Moment, Torture};

pub const CASES: &[Case] = &[
    Case::new("twenty_thousand_signals_a_second", || storm("8m", 40_000, true)),
    Case::new("with_a_small_ring", || storm("16k", 10_000, false)),
];

/// Signals a second.
const RATE: u32 = 20_000;

/// Compares the rings of two threads with the reference log.
fn storm(size: &str, signals: u32, keeps_all: bool) {
    let torture = Torture::new(Build::Optimised, &format!("storm {signals} {RATE}"), size, 2_000_000);
    let done = torture.run().succeed();
    let (sent, took) = done.stdout.trim().split_once(' ').expect("two numbers");
    let (rings, logs) = (torture.recorded(), torture.references());
    assert_eq!(logs.len(), 3, "main and two threads");
    let mut all_handlers = 0;
    for log in &logs[1..] {
        let ring = rings.iter().find(|ring| ring.header.tid == log.thread).expect("a ring");
        ring.whole("after the storm");
        let dropped = ring.header.dropped as usize;
        let left_out =
            log.agree(&ring.statements, Moment::Done, dropped).unwrap_or_else(|why| panic!("{why}"));
        assert!(!keeps_all || left_out == 0, "{left_out} statements left out at the beginning");
        assert!(keeps_all || left_out > 0 && ring.statements.len() > 2000, "{}", ring.statements.len());
        let (statements, handlers) = (log.statements().count(), log.handlers());
        println!(
            "{statements} statements, {} recorded, {dropped} dropped, {handlers} handlers ({sent} signals in {took} ms)",
            ring.statements.len()
        );
        all_handlers += handlers;
        assert!(log.statements().any(|Statement { file, .. }| file >= 200), "no handler was interrupted");
    }
    // Those that come last come too late.
    assert!(all_handlers * 10 > signals as usize * 9, "{all_handlers} of {signals}");
}
