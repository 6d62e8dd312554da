//! Each test reads back what it has written. A small reader of its own checks the ring after every single store.

mod model;
mod program;
mod prologue;

use core::cell::{Cell, RefCell};
use core::sync::atomic::Ordering::Relaxed;
use std::boxed::Box;
use std::vec::Vec;

use proptest::prelude::*;
use qs_core::record::words::{MAX_TIMES, SHORT_END};

use model::{Item, read};
use program::{MappedRing, Program};

std::thread_local! {
    /// Checks the ring after every store, like a debugger that stops the program there.
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

/// Zeros bytes in one of the orders that `memset` may use. A check follows the first and the last bytes and some
/// between.
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
    /// Statements from a number on. Long ones below [`SHORT_END`] are short words.
    Straight {
        from: u32,
        count: u32,
        step: u32,
    },
    Loop(Vec<Part>, u32),
    Record(u8),
    Event,
    /// A stamp this number of ticks later.
    Stamp(u64),
    Close,
    /// A handler came, so the next roll-over must not fold.
    Handler,
    /// The thread waits this many ticks.
    Pause(u64),
    /// The ring file is emptied, and these statements run before the next check.
    Emptied(Vec<u32>),
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
                    if program.is_long() {
                        return;
                    }
                    program.check();
                    run(program, parts);
                }
            }
            Part::Record(len) => program.record(*len),
            Part::Event => program.event(),
            Part::Stamp(ticks) => program.stamp(*ticks),
            Part::Close => program.close(),
            Part::Handler => program.may_fold = false,
            Part::Pause(ticks) => program.pause(*ticks),
            Part::Emptied(numbers) => program.emptied(numbers),
        }
    }
}

/// Numbers of statements: of short words, of long ones, and of long ones whose units look alike.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 1u32..6, 2 => 60_000u32..60_005, 1 => Just(program::ALIKE), 1 => 1u32..SHORT_END]
}

/// Numbers of values.
fn value() -> impl Strategy<Value = u32> {
    prop_oneof![2 => program::VALUE..program::VALUE + 7, 1 => program::VALUE..program::VALUE + 300]
}

/// Readers take a full time behind a chunk for the time of the chunk if the low halves are equal. Two clock readings
/// of a program practically never have equal low halves, so tests keep them apart.
const APART: u64 = 50_000_001;

fn part() -> impl Strategy<Value = Part> {
    let ticks = prop_oneof![4 => 1u64..1000, 1 => Just((1 << 32) + APART), 1 => (1u64 << 32)..(1 << 34)];
    let leaf = prop_oneof![
        8 => (number(), 1u32..12, 0u32..2).prop_map(|(from, count, step)| Part::Straight { from, count, step }),
        2 => (value(), 1u32..12, 0u32..2).prop_map(|(from, count, step)| Part::Straight { from, count, step }),
        1 => (number(), 12u32..120, 0u32..2).prop_map(|(from, count, step)| Part::Straight { from, count, step }),
        1 => prop_oneof![0u8..20, 20u8..200].prop_map(Part::Record),
        1 => Just(Part::Event),
        2 => ticks.clone().prop_map(Part::Stamp),
        2 => ticks.prop_map(Part::Pause),
        1 => Just(Part::Close),
        1 => Just(Part::Handler),
        1 => prop::collection::vec(number(), 0..12).prop_map(Part::Emptied),
        1 => prop::collection::vec(number(), 200..350).prop_map(Part::Emptied),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        (prop::collection::vec(inner, 1..5), prop_oneof![4 => 1u32..20, 1 => 20u32..300])
            .prop_map(|(parts, times)| Part::Loop(parts, times))
    })
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    prop::collection::vec(part(), 1..8)
}

/// Number of cases, without optimisation an eighth of them.
pub(super) fn cases(optimised: u32) -> ProptestConfig {
    let cases = if cfg!(debug_assertions) { optimised / 16 } else { optimised };
    ProptestConfig { cases, max_shrink_iters: 2000, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn the_reader_finds_what_was_written(parts in parts(), size in 12u32..19, is_timed: bool) {
        let ring = MappedRing::new(1 << size);
        let mut program = Program::new(&ring, is_timed, false);
        run(&mut program, &parts);
        program.finish();
    }
}

proptest! {
    #![proptest_config(cases(80))]

    #[test]
    fn at_every_store_the_reader_finds_what_was_written(parts in parts(), size in 12u32..15, is_timed: bool, backward: bool) {
        IS_BACKWARD.set(backward);
        let ring = MappedRing::new(1 << size);
        let mut program = Program::new(&ring, is_timed, true);
        run(&mut program, &parts);
        program.finish();
    }
}

/// The stamp of an empty chunk is not in any frame.
#[test]
fn stamps_of_empty_chunks_do_not_hide_how_much_time_has_passed() {
    let ring = MappedRing::new(1 << 12);
    let mut program = Program::new(&ring, true, true);
    program.writer.append_slowly();
    program.check_alone(0);
    program.statement(1);
    program.close();
    // Together they exceed 4 bytes, counted from the only frame.
    for _ in 0..3 {
        program.check_alone(super::frame::FAR - 1000);
    }
    program.statement(1);
    program.record(20);
    program.finish();
}

#[test]
fn a_pause_of_more_than_four_bytes_of_ticks_before_a_record_misdates_nothing() {
    for backward in [false, true] {
        IS_BACKWARD.set(backward);
        let ring = MappedRing::new(1 << 12);
        let mut program = Program::new(&ring, true, true);
        program.check();
        program.statement(1);
        program.close();
        program.check();
        program.pause(1 << 32);
        program.record(0);
        program.finish();
    }
}

/// A statement with a stamp, and what follows it.
#[derive(Clone, Copy, Debug)]
struct Alone {
    number: u32,
    ticks: u64,
    then: u8,
}

fn alone() -> impl Strategy<Value = Alone> {
    let far = prop_oneof![Just((1u64 << 32) - APART), Just((1 << 32) + APART), (1u64 << 32) + 1..(1 << 34)];
    let ticks = prop_oneof![20 => 0u64..20, 4 => 200u64..300, 4 => 0u64..100_000, 1 => far];
    (number(), ticks, 0u8..60).prop_map(|(number, ticks, then)| Alone { number, ticks, then })
}

/// Runs the statements. Each of them that is still in the ring has its own stamp.
fn run_alone(program: &mut Program, statements: &[Alone], is_timed: bool) {
    program.writer.append_slowly();
    let mut expected = std::vec![];
    for Alone { number, ticks, then } in statements {
        program.check_alone(*ticks);
        program.statement(*number);
        let (bytes, len) = program::word(*number);
        let named = Item::Word(qs_core::record::words::Words::new(&bytes[..len]).next().unwrap());
        expected.push((named.number().unwrap(), program.now()));
        match then {
            0 => program.record(20),
            1 => program.event(),
            2 => program.close(),
            3 => program.writer.mark(program.place.cursor),
            4 => program.writer.stop_counting(),
            // Words between two checks.
            5 => {
                program.statement(1);
                expected.push((1, program.now()));
            }
            _ => {}
        }
    }
    program.finish();
    let read = program.statements();
    assert!(!read.is_empty());
    let expected = &expected[expected.len() - read.len()..];
    for ((number, time), (wanted, stamp)) in read.iter().zip(expected) {
        assert_eq!(number, wanted);
        // The low halves of the times of frames before the newest full time are known.
        assert_eq!(*time as u32, if is_timed { *stamp as u32 } else { 0 }, "of {number}");
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn each_statement_has_a_stamp_of_its_own(statements in prop::collection::vec(alone(), 1..3000), size in 12u32..16, is_timed: bool) {
        let ring = MappedRing::new(1 << size);
        let mut program = Program::new(&ring, is_timed, false);
        run_alone(&mut program, &statements, is_timed);
    }
}

proptest! {
    #![proptest_config(cases(80))]

    #[test]
    fn at_every_store_each_statement_has_its_stamp(statements in prop::collection::vec(alone(), 1..if cfg!(debug_assertions) { 150 } else { 400 }), size in 12u32..14, is_timed: bool, backward: bool) {
        IS_BACKWARD.set(backward);
        let ring = MappedRing::new(1 << size);
        let mut program = Program::new(&ring, is_timed, true);
        run_alone(&mut program, &statements, is_timed);
    }
}

/// Checks that a loop with that many statements per round leaves what ran before it, and that its rounds are counted
/// exactly.
fn folds(body: u32, rounds: u64, long: bool, stamps: bool) {
    let ring = MappedRing::new(64 << 10);
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
    let numbers = |items: &[Item]| items.iter().filter_map(|item| item.number()).collect::<Vec<_>>();
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
fn folding_a_loop_of_any_length_keeps_what_ran_before() {
    let few = if cfg!(debug_assertions) { 197 } else { 1 };
    for body in (1..=2000).step_by(few) {
        let rounds = (20_000 / u64::from(body)).max(25);
        folds(body, rounds, true, false);
        folds(body, rounds, body % 2 == 0, true);
    }
    let (rounds, bodies) = match cfg!(debug_assertions) {
        true => (20_000, &[1, 3, 100][..]),
        false => (1_000_000, &[1, 2, 7, 333, 2000][..]),
    };
    for body in bodies {
        folds(*body, rounds, true, false);
    }
}

#[test]
fn the_count_of_rounds_stops_at_its_highest_number() {
    let ring = MappedRing::new(1 << 16);
    let mut program = Program::new(&ring, false, false);
    program.is_logged = false;
    (0..20_000).for_each(|_| program.looped(1));
    assert!(program.writer.repetition.times > 0);
    program.writer.repetition.times = MAX_TIMES - 10;
    (0..20_000).for_each(|_| program.looped(1));
    assert!(program.writer.repetition.times < 20_000);
    assert_eq!(program.writer.previous.units as u64, program.writer.chunk() / 2);
}

/// Number of bytes of a loop until it is folded, after that many chunks without repetitions.
fn until_folded(size: usize, chunks: u64) -> u64 {
    let ring = MappedRing::new(size);
    let mut program = Program::new(&ring, false, false);
    program.is_logged = false;
    let chunk = program.writer.chunk();
    let mut number = 1u32;
    for index in 0..chunks * chunk / 2 {
        if index % 50 == 0 {
            program.check();
        }
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        program.statement(1 + (number >> 8) % 20_000);
    }
    assert_eq!(program.writer.repetition.times, 0);
    let rounds = (1..size as u64).find(|_| {
        program.looped(5);
        program.writer.repetition.times > 0
    });
    2 * rounds.expect("a fold") / chunk
}

/// Writes `before` statements and 2,000 rounds of a loop, and checks for room only behind them. Whether the loop is folded.
fn folds_behind(program: &mut Program, before: u32) -> bool {
    (0..before).for_each(|at| program.statement(100 + at * 7 % 20_011));
    (0..10_000).for_each(|at| program.statement(30_000 + at % 5));
    program.check();
    program.finish();
    program.writer.repetition.times > 0
}

#[test]
fn a_tail_behind_more_words_than_a_header_can_count_is_not_folded() {
    for (before, is_folded) in [(0xFFFF - 5, true), (0xFFFF - 4, false)] {
        let ring = MappedRing::new(1 << 20);
        let mut program = Program::new(&ring, false, false);
        assert_eq!(folds_behind(&mut program, before), is_folded, "{before}");
    }
}

#[test]
fn a_tail_is_not_folded_where_the_full_time_has_to_follow_the_chunk() {
    for (more, is_folded) in [(0, true), (1, false)] {
        let ring = MappedRing::new(1 << 16);
        let mut program = Program::new(&ring, true, false);
        (0..20_000).for_each(|_| {
            program.check();
            program.statement(1);
        });
        assert!(program.writer.repetition.times > 0);
        // The clock goes on by one more tick when it is read.
        program.stamp(program.writer.stamp + super::frame::FAR + more - program.now() - 1);
        assert_eq!(folds_behind(&mut program, 20), is_folded, "{more}");
    }
}

#[test]
fn after_many_chunks_without_a_loop_the_next_one_is_found_a_few_chunks_later() {
    let of_large = [0, 2, 5].map(|chunks| until_folded(1 << 18, chunks));
    assert!(of_large.iter().all(|chunks| *chunks <= 4), "{of_large:?}");
    assert!(of_large[0] <= 1 && of_large.iter().any(|chunks| *chunks > 1), "{of_large:?}");
    // In a ring that has no room for more, all are searched.
    let of_small = [0, 3, 8].map(|chunks| until_folded(1 << 16, chunks));
    assert!(of_small.iter().all(|chunks| *chunks <= 1), "{of_small:?}");
}

/// A quarter of each chunk is a loop at its end.
#[test]
fn short_loops_do_not_pay_for_the_search_in_each_chunk() {
    let ring = MappedRing::new(1 << 20);
    let mut program = Program::new(&ring, false, false);
    program.is_logged = false;
    let chunk = program.writer.chunk() as u32 / 2;
    let mut number = 1u32;
    for _ in 0..20 {
        for _ in 0..chunk * 3 / 4 {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            program.statement(1 + (number >> 8) % 20_000);
        }
        let head = program.writer.head;
        while program.writer.head == head {
            program.looped(5);
        }
        program.check();
    }
    assert!(program.writer.misses >= 20, "{} misses", program.writer.misses);
}

#[test]
fn trimming_keeps_exactly_the_requested_statements() {
    for (limit, body) in [(0, 3), (1, 3), (10, 1), (4999, 1), (5000, 7), (20_000, 2)] {
        let ring = MappedRing::new(1 << 16);
        let mut program = Program::new(&ring, false, true);
        program.is_logged = false;
        (0..50).for_each(|number| program.statement(1 + number));
        assert!(!program.writer.is_counting());
        program.writer.mark(program.place.cursor);
        assert!(program.writer.is_counting());
        let trimmed = 'all: loop {
            for number in 0..body {
                program.statement(if number % 2 == 0 { 60_000 + number } else { number });
            }
            if program.place.cursor >= program.place.limit {
                if let Some(place) = program.writer.trim_to(program.place.cursor, limit) {
                    break 'all place;
                }
                program.check();
            }
        };
        program.place = trimmed;
        assert_eq!(program.writer.count(), limit);
        program.writer.stop_counting();
        assert!(!program.writer.is_counting());
        let reading = read(ring.header(), ring.data());
        assert_eq!(reading.items().len() as u64, 50 + limit, "{limit} statements");
        program.event();
        let reading = read(ring.header(), ring.data());
        assert_eq!(reading.items().len() as u64, 51 + limit);
        assert!(matches!(reading.items().last(), Some(Item::Record(..))));
    }
}

#[test]
fn words_that_overwrite_their_own_chunk_are_not_trimmed() {
    let ring = MappedRing::new(4096);
    let mut program = Program::new(&ring, false, false);
    program.is_logged = false;
    program.writer.mark(program.place.cursor);
    (0..1500).for_each(|number| program.statement(60_000 + number));
    assert!(program.writer.trim_to(program.place.cursor, 1).is_none());
    program.check();
    assert_eq!((program.writer.header().dropped.load(Relaxed), program.writer.count()), (1500, 1500));
}

#[test]
fn the_bitmap_has_each_statement_of_a_closed_chunk() {
    use crate::hosted::executed::ExecutedBitmap;
    let mut memory = std::vec![0u128; ExecutedBitmap::len(256) / 16];
    // SAFETY: the memory is long enough, aligned and outlives the ring.
    let executed = unsafe { ExecutedBitmap::new(memory.as_mut_ptr().cast(), 256, 7, 1) };
    let ring = MappedRing::new(1 << 14);
    let mut program = Program::new(&ring, false, false);
    program.writer.executed = Some(executed);
    for round in 0..3000 {
        program.check();
        // The loop is folded. The statements at its start and the rare ones are noted, too.
        program.statement(if round == 0 { 77 } else { 60_001 });
        program.statement(5);
    }
    program.statement(501);
    program.close();
    program.statement(502);
    // SAFETY: the ring has no writer any more.
    let image =
        unsafe { core::slice::from_raw_parts(memory.as_ptr().cast::<u8>(), ExecutedBitmap::len(256)) };
    let read = qs_core::ring::executed::ExecutedBitmap::parse(image).expect("a bitmap");
    let mut ran: Vec<u32> = read.statements().map(|statement| statement.to_word()).collect();
    ran.sort_unstable();
    let number = |number: u32| (u32::from(super::count::NUMBERS) << 16) + number;
    assert_eq!(ran, [60_001, number(5), number(77), number(501)]);
}

/// The limit is a little before the words reach the head of their chunk again.
#[test]
fn words_that_just_reach_their_own_chunk_are_counted() {
    let mut lengths = Vec::new();
    for written in 950..1060 {
        let ring = MappedRing::new(4096);
        let mut program = Program::new(&ring, false, false);
        program.is_logged = false;
        (0..written).for_each(|number| program.statement(60_000 + number));
        program.check();
        let dropped = program.writer.header().dropped.load(Relaxed);
        if dropped == written {
            lengths.push(4 * written);
        }
        let read: Vec<u64> =
            read(ring.header(), ring.data()).items().iter().filter_map(Item::number).collect();
        assert!(
            (60_000 + u64::from(dropped)..60_000 + u64::from(written)).eq(read),
            "{dropped} of {written} dropped"
        );
    }
    assert!(lengths.first().is_some_and(|len| *len < 4096) && lengths.last().is_some_and(|len| *len > 4096));
}

#[test]
fn words_that_overwrite_their_own_chunk_are_dropped_and_counted() {
    for (extra, survives) in [(0, true), (60, true), (550, false), (950, false)] {
        let ring = MappedRing::new(4096);
        let mut program = Program::new(&ring, false, false);
        program.statement(3);
        program.event();
        program.is_logged = false;
        let seq = program.writer.seq;
        let written = 950 + extra;
        (0..written).for_each(|number| program.statement(60_000 + number));
        program.check();
        let dropped = program.writer.header().dropped.load(Relaxed);
        assert!(if survives { (200..written).contains(&dropped) } else { dropped == written });
        let kept = read(ring.header(), ring.data());
        assert!(kept.is_certain && kept.items().len() as u32 == written - dropped);
        // What was dropped took a sequence number.
        assert_eq!(program.writer.seq, seq + 1 + u8::from(survives));
        program.statement(4);
        program.event();
        let reading = read(ring.header(), ring.data());
        assert_eq!(reading.items().iter().filter_map(Item::number).next_back(), Some(4));
    }
}

/// Words that ran on beyond the slack leave room for the next chunk, and the newest of them are there even so.
#[test]
fn the_newest_words_beyond_the_slack_stay() {
    for written in (10..900).step_by(7) {
        let ring = MappedRing::new(4096);
        let mut program = Program::new(&ring, false, false);
        program.is_logged = false;
        let number = |at: u32| if at.is_multiple_of(5) { 60_000 + at } else { 1 + at % 200 };
        (0..written).for_each(|at| program.statement(number(at)));
        program.check();
        let dropped = program.writer.header().dropped.load(Relaxed);
        let read: Vec<u64> =
            read(ring.header(), ring.data()).items().iter().filter_map(Item::number).collect();
        assert!(
            (dropped..written).map(|at| u64::from(number(at))).eq(read.iter().copied()),
            "{dropped} of {written} dropped"
        );
        assert!(dropped == 0 || read.len() > 700);
        program.event();
        assert_eq!(program.writer.header().dropped.load(Relaxed), dropped);
    }
}

/// A stamp may come while the words are deep in the slack. There is room behind the folded words then, too.
#[test]
fn folding_in_the_slack_leaves_room() {
    for before in (0..700).step_by(7) {
        let ring = MappedRing::new(1 << 12);
        let mut program = Program::new(&ring, true, false);
        program.record(200);
        for number in 1..=before {
            program.check();
            program.statement(number);
        }
        for number in [1, 2, 3].repeat(80) {
            program.statement(number);
        }
        program.stamp(5);
        assert!(
            program.writer.cleared >= program.writer.position(program.place.cursor) + program.writer.slack()
        );
        program.finish();
    }
}

/// Writes random words without repetitions.
fn fill(program: &mut Program) {
    let mut random = 1u32;
    while program.place.cursor < program.place.limit {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        program.statement(1 + (random >> 8) % (SHORT_END - 1));
    }
}

/// To measure these functions, run the test under callgrind with `--toggle-collect` and the function's name.
#[inline(never)]
fn measured_roll_over(program: &mut Program) {
    program.place = program.writer.roll_over(program.place.cursor, 9, Some(&|_| true), false);
}

#[inline(never)]
fn measured_fold(program: &mut Program) {
    program.place = program.writer.roll_over(program.place.cursor, 10, Some(&|_| true), false);
}

#[inline(never)]
fn measured_record(program: &mut Program, bytes: &[u8; 32]) {
    program.place = program.writer.append_record::<32, true>(program.place.cursor, bytes, 14, 9);
}

#[inline(never)]
fn measured_record_behind_words(program: &mut Program, bytes: &[u8; 32]) {
    program.place = program.writer.append_record::<32, true>(program.place.cursor, bytes, 14, 11);
}

#[test]
fn records_and_roll_overs_cost_what_they_should() {
    let ring = MappedRing::new(1 << 18);
    let mut program = Program::new(&ring, true, false);
    program.is_logged = false;
    fill(&mut program);
    let head = program.writer.head;
    measured_roll_over(&mut program);
    assert!(program.writer.head >= head + program.writer.chunk());
    (0..20_000).for_each(|_| program.looped(60_000));
    let head = program.writer.head;
    while program.place.cursor < program.place.limit {
        program.statement(60_000);
    }
    measured_fold(&mut program);
    assert_eq!(program.writer.head, head);
    program.event();
    let mut bytes = [0; 32];
    (bytes[1], bytes[6]) = (100, 3);
    let head = program.writer.head;
    measured_record(&mut program, &bytes);
    assert_eq!(program.writer.head, head + 16);
    (0..10).for_each(|number| program.statement(number + 1));
    measured_record_behind_words(&mut program, &bytes);
    assert!(program.writer.head > head + 32);
}

/// Each pause dates the words behind it, also if several pauses came before one check.
#[test]
fn words_behind_a_pause_have_its_time() {
    let ring = MappedRing::new(1 << 14);
    let mut program = Program::new(&ring, true, true);
    let begun = program.now();
    let mut expected = std::vec![];
    for (number, ticks) in [(1, 500), (3, 1 << 33), (5, 7), (7, 0)] {
        let time = if number == 1 { begun } else { program.now() };
        for number in [number, number + 1] {
            program.statement(number);
            expected.push((u64::from(number), time));
        }
        if ticks > 0 {
            program.pause(ticks);
        }
    }
    program.stamp(1000);
    program.finish();
    assert_eq!(program.newest(8), expected);
}

/// The waiting rounds are counted, and what is behind the last pause has its time.
#[test]
fn a_loop_that_waits_is_folded() {
    let ring = MappedRing::new(1 << 14);
    let mut program = Program::new(&ring, true, true);
    for _ in 0..200 {
        program.statement(1);
        program.pause(1000);
        program.statement(2);
        program.stamp(1);
    }
    program.statement(3);
    let behind = program.now();
    program.pause(1000);
    program.statement(4);
    program.stamp(1);
    program.finish();
    assert!(program.writer.head < 3000, "{} bytes", program.writer.head);
    assert_eq!(program.newest(2), [(3, behind), (4, behind + 1001)]);
}

#[test]
fn words_that_stay_in_an_emptied_file_have_no_later_time() {
    let ring = MappedRing::new(1 << 12);
    let mut program = Program::new(&ring, true, false);
    program.emptied(&[1]);
    program.finish();
}
