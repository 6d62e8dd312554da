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
    // More handlers come inside each other than there are lanes while the first signals wait. The first ring counts what they do.
    let dropped = rings.iter().map(|ring| ring.header.dropped as usize).sum();
    let (mut all_handlers, mut missing, mut has_nested) = (0, 0, false);
    for log in &logs[1..] {
        let ring = rings.iter().find(|ring| ring.header.tid == log.thread).expect("a ring");
        ring.whole("after the storm");
        if keeps_all {
            let left_out = log.agree(&ring.statements, Moment::Done, dropped);
            let left_out = left_out.unwrap_or_else(|why| panic!("{why}"));
            assert_eq!(
                (left_out, ring.misplaced),
                (0, 0),
                "statements left out at the beginning, or without a place"
            );
            missing += log.statements().count() - ring.statements.len();
        } else {
            let higher = log.agree_as_left(ring).unwrap_or_else(|why| panic!("{why}"));
            let (recorded, all) = (ring.statements.len(), log.statements().count());
            assert!(
                (1000..all).contains(&recorded) && higher * 50 < recorded,
                "{recorded} of {all}, {higher}"
            );
        }
        let (statements, handlers) = (log.statements().count(), log.handlers());
        println!(
            "{statements} statements, {} recorded, {dropped} dropped, {} without a place, {handlers} handlers ({sent} signals in {took} ms)",
            ring.statements.len(),
            ring.misplaced
        );
        all_handlers += handlers;
        has_nested |= log.statements().any(|Statement { file, .. }| file >= 200);
    }
    assert!(has_nested, "no handler was interrupted");
    assert!(!keeps_all || dropped == missing, "{missing} are missing, {dropped} are counted");
    // Those that come last come too late.
    assert!(all_handlers * 10 > signals as usize * 9, "{all_handlers} of {signals}");
}
