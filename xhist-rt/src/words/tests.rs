//! What is written is read back, at every single store: a small reader of its own looks at the ring after each.

mod model;
mod program;

use core::cell::{Cell, RefCell};
use std::boxed::Box;
use std::vec::Vec;

use proptest::prelude::*;
use qs_core::record::words::{MAX_TIMES, SHORT_END};

use model::{Item, read};
use program::{Program, Ring};

std::thread_local! {
    /// Looks at the ring after every store, as a debugger that stopped the program there.
    static WATCH: RefCell<Option<Box<dyn FnMut()>>> = const { RefCell::new(None) };
    static IS_WATCHED: Cell<bool> = const { Cell::new(false) };
    /// Bytes are zeroed from the last one on.
    static IS_BACKWARD: Cell<bool> = const { Cell::new(false) };
}

pub(super) fn is_watched() -> bool {
    IS_WATCHED.get()
}

pub(super) fn step() {
    if is_watched() {
        WATCH.with_borrow_mut(|watch| watch.as_mut().expect("a watch")());
    }
}

/// Zeros bytes in one of the orders that `memset` has, watched at the ends and in between now and then.
pub(super) fn zero(len: usize, put: impl Fn(usize)) {
    for step in 0..len {
        let at = if IS_BACKWARD.get() { len - 1 - step } else { step };
        IS_WATCHED.set(step < 12 || len - step < 12 || step % 61 == 0);
        put(at);
    }
    IS_WATCHED.set(true);
}

#[derive(Clone, Debug)]
enum Part {
    /// Statements, from a number on; long ones below [`SHORT_END`] are short words.
    Straight { from: u32, count: u32, step: u32 },
    Loop(Vec<Part>, u32),
    Record(u8),
    Event,
    /// A stamp that comes so many ticks later.
    Stamp(u64),
    Close,
    /// A handler came, so the next turn must not fold.
    Handler,
}

fn run(program: &mut Program, parts: &[Part]) {
    for part in parts {
        if program.is_long() {
            return;
        }
        match part {
            Part::Straight { from, count, step } => {
                for index in 0..*count {
                    program.statement(from + index * step);
                }
            }
            Part::Loop(parts, times) => {
                for _ in 0..*times {
                    program.check();
                    run(program, parts);
                }
            }
            Part::Record(len) => program.record(*len),
            Part::Event => program.event(),
            Part::Stamp(ticks) => program.stamp(*ticks),
            Part::Close => program.close(),
            Part::Handler => program.may_fold = false,
        }
    }
}

/// Numbers of statements: of short words, of long ones, and of long ones whose units look alike.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 1u32..6, 2 => 60_000u32..60_005, 1 => Just(program::ALIKE), 1 => 1u32..SHORT_END]
}

fn part() -> impl Strategy<Value = Part> {
    let ticks = prop_oneof![4 => 1u64..1000, 1 => Just(1 << 32), 1 => (1u64 << 32)..(1 << 34)];
    let leaf = prop_oneof![
        8 => (number(), 1u32..12, 0u32..2).prop_map(|(from, count, step)| Part::Straight { from, count, step }),
        1 => (number(), 12u32..120, 0u32..2).prop_map(|(from, count, step)| Part::Straight { from, count, step }),
        1 => prop_oneof![0u8..20, 20u8..200].prop_map(Part::Record),
        1 => Just(Part::Event),
        2 => ticks.prop_map(Part::Stamp),
        1 => Just(Part::Close),
        1 => Just(Part::Handler),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        (prop::collection::vec(inner, 1..5), prop_oneof![4 => 1u32..20, 1 => 20u32..300])
            .prop_map(|(parts, times)| Part::Loop(parts, times))
    })
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    prop::collection::vec(part(), 1..8)
}

/// Cases, fewer where the code is slow.
fn cases(release: u32) -> ProptestConfig {
    let cases = if cfg!(debug_assertions) { release / 10 } else { release };
    ProptestConfig { cases, max_shrink_iters: 2000, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn what_is_written_is_read_back(parts in parts(), size in 12u32..19, is_timed: bool) {
        let ring = Ring::new(1 << size);
        let mut program = Program::new(&ring, is_timed, false);
        run(&mut program, &parts);
        program.finish();
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn at_every_store_the_ring_is_what_was_written(parts in parts(), size in 12u32..15, is_timed: bool, backward: bool) {
        IS_BACKWARD.set(backward);
        let ring = Ring::new(1 << size);
        let mut program = Program::new(&ring, is_timed, true);
        run(&mut program, &parts);
        program.finish();
    }
}

/// A loop of that many statements a round leaves what ran before it, and its rounds are counted exactly.
fn folds(body: u32, rounds: u64, long: bool, stamps: bool) {
    let ring = Ring::new(64 << 10);
    let mut program = Program::new(&ring, true, false);
    let from = if long { 60_000 } else { 1 };
    let words: Vec<_> = (from..from + body).map(program::word).collect();
    program.statement(7);
    program.is_logged = false;
    for round in 0..rounds {
        program.check();
        if stamps && round % 7 == 3 {
            program.stamp(1000);
        }
        for (bytes, len) in &words {
            program.store(&bytes[..*len]);
        }
    }
    program.statement(9);
    let reading = read(ring.header(), ring.data());
    let numbers = |items: &[Item]| {
        items.iter().filter_map(|item| item.number()).collect::<Vec<_>>()
    };
    assert!(reading.is_certain);
    // One statement after the other.
    let (mut next, mut counted) = (0u64, 0u64);
    let mut is_first = true;
    for run in &reading.runs {
        let mut items = &numbers(&run.items)[..];
        if items.is_empty() {
            continue;
        }
        if is_first {
            assert_eq!(items[0], 7, "what ran before the loop of {body}");
            (items, is_first) = (&items[1..], false);
        }
        for (at, number) in items.iter().enumerate() {
            if *number == 9 && !(1..=body as u64).contains(&9) || (counted, next) == (rounds, 0) {
                assert_eq!((*number, at + 1, run.times), (9, items.len(), 1));
                continue;
            }
            assert_eq!(*number, u64::from(from) + next);
            next += 1;
            if next == u64::from(body) {
                (next, counted) = (0, counted + 1);
            }
        }
        if run.times > 1 {
            assert_eq!(items.len() as u64 % u64::from(body), 0, "whole rounds");
            counted += (run.times - 1) * (items.len() as u64 / u64::from(body));
        }
    }
    assert_eq!((counted, next), (rounds, 0), "rounds of a loop of {body}");
}

#[test]
fn loops_of_any_length_leave_what_ran_before() {
    let few = if cfg!(debug_assertions) { 197 } else { 1 };
    for body in (1..=2000).step_by(few) {
        let rounds = (400_000 / u64::from(body)).max(150);
        folds(body, rounds, true, false);
        folds(body, rounds, body % 2 == 0, true);
    }
    let (rounds, bodies) = match cfg!(debug_assertions) {
        true => (20_000, &[1, 3, 100][..]),
        false => (1_000_000, &[1, 2, 3, 7, 50, 333, 1000, 1999, 2000][..]),
    };
    for body in bodies {
        folds(*body, rounds, true, false);
    }
}

#[test]
fn the_rounds_stop_at_their_highest_number() {
    let ring = Ring::new(1 << 16);
    let mut program = Program::new(&ring, false, false);
    (0..20_000).for_each(|_| program.looped(1));
    assert!(program.writer.again.times > 0);
    program.writer.again.times = MAX_TIMES - 10;
    (0..20_000).for_each(|_| program.looped(1));
    assert!(program.writer.again.times < 20_000);
    assert_eq!(program.writer.before.units as u64, program.writer.chunk() / 2);
}
