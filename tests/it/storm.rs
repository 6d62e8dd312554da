//! Is the history complete and in order after a storm of signals whose handlers nest?
//!
//! `XHIST_SIGNALS` is the number of signals: 10,000 usually, 40,000 with `XHIST_LONG=1`.

use qs_core::record::Statement;
use xhist_tests::{Build, Case, Moment, Torture, tries};

pub const CASES: &[Case] = &[
    Case::new("twenty_thousand_signals_a_second", || storms("8m", true)),
    Case::new("with_a_small_ring", || storms("16k", false)),
];

/// Signals a second.
const RATE: u32 = 20_000;

/// One storm in which a handler was interrupted. On a busy machine that needs several storms.
fn storms(size: &str, keeps_all: bool) {
    let signals = tries("XHIST_SIGNALS", 10_000, 40_000);
    assert!((0..5).any(|_| storm(size, signals, keeps_all)), "no handler was interrupted");
}

/// Compares the rings of two threads with the reference log. Returns whether a handler was interrupted.
fn storm(size: &str, signals: usize, keeps_all: bool) -> bool {
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
            let higher = log.agree_as_left(ring, dropped).unwrap_or_else(|why| panic!("{why}"));
            let (recorded, all) = (ring.statements.len(), log.statements().count());
            assert!(
                (1000..all).contains(&recorded) && higher * 4 < recorded,
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
    assert!(!keeps_all || dropped == missing, "{missing} are missing, {dropped} are counted");
    // Those that come last come too late.
    assert!(all_handlers * 10 > signals * 9, "{all_handlers} of {signals}");
    has_nested
}
