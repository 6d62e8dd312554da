//! Tests of the bare-metal recorder. They read its ring as a report does, also between two bytes of a write.

#[cfg(feature = "multi-core")]
mod cores;

use std::cell::{Cell, RefCell};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

use proptest::prelude::*;
use qs_core::frame::{Decoder, Outcome};
use qs_core::record::Statement;
use qs_core::record::value::RecordedValue;
use qs_core::ring::{self, Item, Reader};

use super::draft::FrameDraft;
use super::value::put_value;
use super::{RING_SIZE, append, export, flush, interrupt, memory, record_at, set_map_hash, set_time, writer};
use crate::qs;

const STATEMENTS: qs::Records = qs::Records::Id(122);

/// Resets the recorder, and locks it: all tests share one ring, so they run one after another.
fn lock_recorder() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    let guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    reset_writers();
    memory::forget();
    guard
}

#[cfg(not(feature = "multi-core"))]
fn reset_writers() {
    writer::with(|writer| *writer = writer::Writer::NEW);
}

#[cfg(feature = "multi-core")]
use cores::reset_writers;

fn image() -> Vec<u8> {
    let mut image = Vec::new();
    export(|piece| image.extend_from_slice(piece));
    image
}

/// The statements in the ring with repetitions expanded, and the number of other records.
fn read(image: &[u8]) -> (Vec<u32>, usize) {
    let header = ring::Header::parse(image).expect("a header");
    assert_eq!(header.size, RING_SIZE);
    let mut reader = Reader::new(header, image);
    let (mut words, mut records) = (Vec::new(), 0);
    while let Some(item) = reader.next() {
        match item {
            Item::Statement(statement, _) => words.push(statement.to_word()),
            Item::Repetition(again) => {
                let round = words[words.len() - again.statements..].to_vec();
                (0..again.times).for_each(|_| words.extend(&round));
            }
            Item::Frame(_) => records += 1,
            Item::Value(value, _) => assert_eq!(value, value_of(value.number)),
            other => panic!("{other:?} after {} statements", words.len()),
        }
    }
    (words, records)
}

/// The statements of a ring that may have gaps.
fn read_what_is_left(image: &[u8]) -> Vec<u32> {
    let mut reader = Reader::new(ring::Header::parse(image).expect("a header"), image);
    let mut words = Vec::new();
    while let Some(item) = reader.next() {
        if let Item::Statement(statement, _) = item {
            words.push(statement.to_word());
        }
    }
    words
}

/// A value, whose number determines the rest.
fn value_of(number: u32) -> RecordedValue {
    let bytes: Vec<u8> = (0..32).map(|at| (number.wrapping_mul(77) >> (at % 24)) as u8).collect();
    let len = [0, 1, 2, 4, 8, 32][number as usize % 6];
    let mut value = RecordedValue::new(number, &bytes[..len]);
    value.type_key = number.is_multiple_of(5).then_some(number << 16);
    value
}

#[cfg(feature = "multi-core")]
pub(super) use cores::core;

/// [`masked`] for what is computed before.
#[cfg(any(feature = "single-core", feature = "multi-core"))]
pub(super) fn masked_with<R>(act: impl FnOnce([usize; 2]) -> R) -> impl FnOnce([usize; 2]) -> R {
    move |values| masked(|| act(values))()
}

fn history() -> Vec<u32> {
    read(&image()).0
}

fn record_word(word: u32) {
    record_at(Statement::from_word(word));
}

#[test]
fn the_newest_statements_are_kept_in_order() {
    let _lock = lock_recorder();
    set_map_hash(7);
    for word in 0..3 {
        record_word(word);
    }
    assert_eq!(history(), [0, 1, 2]);
    for word in 3..200_000 {
        record_word(word);
    }
    let history = history();
    assert_eq!(history.last(), Some(&199_999));
    assert!(history.windows(2).all(|pair| pair[0] + 1 == pair[1]));
    // A byte each, the bytes of a frame for 240 of them, and the bytes prepared ahead.
    assert!(history.len() > RING_SIZE * 2 / 3, "{}", history.len());
    assert_eq!(ring::Header::parse(&image()).expect("a header").map_hash, 7);
}

#[test]
fn values_are_behind_their_statements() {
    let _lock = lock_recorder();
    super::set_values();
    for word in 1..20_000 {
        record_word(word % 700);
        put_value(&value_of(word));
    }
    let image = image();
    let header = ring::Header::parse(&image).expect("a header");
    assert!(header.has_values());
    let mut reader = Reader::new(header, &image);
    let (mut pairs, mut newest) = (0, 0);
    while let Some(item) = reader.next() {
        match item {
            Item::Statement(statement, _) => newest = statement.to_word(),
            Item::Value(value, _) => {
                assert_eq!(value, value_of(value.number));
                assert!(pairs == 0 || value.number % 700 == newest, "{} {newest}", value.number);
                pairs += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(pairs > 100 && newest == 19_999 % 700, "{pairs}");
}

#[test]
fn the_hooks_record_values() {
    let _lock = lock_recorder();
    crate::sl(crate::long(1, 2));
    crate::v::<1, _>(&0x8000_7D7Eu32);
    crate::vw::<2, _>(&[7u64; 9]);
    crate::vg::<3, _>(&1u8);
    let image = image();
    let mut reader = Reader::new(ring::Header::parse(&image).expect("a header"), &image);
    let mut values = Vec::new();
    while let Some(item) = reader.next() {
        if let Item::Value(value, _) = item {
            values.push(value);
        }
    }
    assert_eq!(values.iter().map(|value| value.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(values[0].bytes(), 0x8000_7D7Eu32.to_le_bytes());
    assert_eq!(values[1].bytes(), [7u64; 4].map(u64::to_le_bytes).as_flattened());
    assert!(values[2].bytes() == [1] && values[2].type_key.is_some());
}

/// Interrupts record while the ring is exported. The export shows the contents at its start, except for overwritten bytes.
#[test]
fn an_export_shows_nothing_newer_as_older() {
    for meanwhile in [0, 1, 3, 40, 300] {
        let _lock = lock_recorder();
        let mut word = 0;
        let mut record_some = |count| {
            for _ in 0..count {
                record_word(word);
                word += 1;
            }
        };
        record_some(100_000);
        let mut image = Vec::new();
        export(|piece| {
            image.extend_from_slice(piece);
            record_some(meanwhile);
        });
        let words = read_what_is_left(&image);
        assert!(words.windows(2).all(|pair| pair[0] < pair[1]), "{meanwhile}: {words:?}");
        assert!(meanwhile > 40 || words.contains(&99_999), "{meanwhile}: {:?}", words.last());
        assert!(meanwhile > 3 || words.len() > RING_SIZE / 2, "{meanwhile}: {}", words.len());
    }
}

/// While it is exported, the open frame grows over the end of the ring.
#[test]
fn an_export_ends_where_the_open_frame_did() {
    let _lock = lock_recorder();
    let mut word = 0;
    for round in 0..40 {
        (0..997).for_each(|at| record_word(word + at));
        word += 997;
        let mut image = Vec::new();
        let mut more = 0;
        export(|piece| {
            image.extend_from_slice(piece);
            (0..4).for_each(|_| {
                record_word(word + more);
                more += 1;
            });
        });
        let words = read_what_is_left(&image);
        assert!(words.windows(2).all(|pair| pair[0] < pair[1]), "{round}: {words:?}");
        assert!(words.contains(&(word - 1)), "{round}");
        word += more;
    }
}

#[test]
fn uncleared_memory_starts_a_ring_without_a_map() {
    let _lock = lock_recorder();
    // Enough runs that every ring was used.
    for _ in 0..=memory::RINGS {
        memory::forget();
        assert_eq!(ring::Header::parse(&image()).expect("a header").map_hash, 0);
        set_map_hash(7);
    }
}

#[test]
fn a_loop_takes_no_room() {
    let _lock = lock_recorder();
    let bodies: [&[(u16, u16)]; 4] = [
        &[(1, 40)],
        &[(1, 40), (1, 41), (1, 42)],
        &[(1, 40), (2, 500), (1, 41), (3, 7), (3, 8), (1, 43)],
        &[(40, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (1, 7), (1, 8), (1, 9), (1, 10), (1, 11)],
    ];
    record_word(5);
    let mut expected = vec![5];
    for body in bodies {
        for _ in 0..5000 {
            for (file, line) in body {
                record_at(Statement { file: *file, line: *line });
                expected.push(Statement { file: *file, line: *line }.to_word());
            }
        }
    }
    let history = history();
    assert_eq!(history.len(), expected.len());
    assert!(history == expected);
}

#[test]
fn a_loop_of_any_length_up_to_the_limit_takes_no_room() {
    let unfolded = |most, line: fn(u32) -> u32, files| {
        (1..=most).filter(|len| !is_folded(*len, line, files)).collect::<Vec<_>>()
    };
    assert_eq!(unfolded(FOLDED, |at| at, 1), []);
    // The lines of each file are one behind the other, on four pages in all.
    assert_eq!(unfolded(FOLDED, |at| at / 32 * 8 + at % 8, 4), []);
    // On up to twelve pages.
    assert_eq!(unfolded(FOLDED_OVER_PAGES, |at| at, 4), []);
}

/// Longest loop that always folds, in statements: on up to five pages, and on more than those. `docs/limits.md` has the numbers.
const FOLDED: u32 = 200;
const FOLDED_OVER_PAGES: u32 = 110;

/// Whether statements before a loop are still there after iterations that would fill the ring many times. A round is in
/// pieces of eight statements, each in the next file.
fn is_folded(len: u32, line: fn(u32) -> u32, files: u32) -> bool {
    let _lock = lock_recorder();
    record_word(5);
    for _ in 0..4 * RING_SIZE as u32 / len {
        (0..len).for_each(|at| record_word(((at / 8 % files) << 16) + 10 + line(at)));
    }
    history().first() == Some(&5)
}

#[test]
fn calls_of_a_handler_take_no_room() {
    let unfolded: Vec<u32> = (1..=FOLDED).filter(|len| !are_calls_folded(*len)).collect();
    assert_eq!(unfolded, []);
}

/// Whether calls of a handler take few frames. The first statement of each call takes the slow path.
fn are_calls_folded(len: u32) -> bool {
    let _lock = lock_recorder();
    // Frames of full length.
    (1000..1300).for_each(record_word);
    flush();
    for _ in 0..4 * RING_SIZE as u32 / len {
        interrupt(7, || (10..10 + len).for_each(record_word));
    }
    history().first() == Some(&1000) && interrupted().len() < 5 * writer::ROOM
}

/// The lines of the ring, each with its interrupt. Repetitions are not expanded.
fn interrupted() -> Vec<(u16, u16)> {
    let image = image();
    let mut reader = Reader::new(ring::Header::parse(&image).expect("a header"), &image);
    let mut lines = Vec::new();
    while let Some(item) = reader.next() {
        let Item::Statement(statement, _) = item else { continue };
        lines.push((statement.line, reader.interrupt()));
    }
    lines
}

#[test]
fn statements_have_their_interrupt() {
    let _lock = lock_recorder();
    record_word(1);
    interrupt(15, || {
        record_word(2);
        interrupt(511, || (3..5).for_each(record_word));
        record_word(5);
    });
    record_word(6);
    // A frame that starts in an interrupt.
    interrupt(40, || {
        flush();
        record_word(7);
        interrupt(3, || record_word(8));
        record_word(9);
    });
    flush();
    record_word(10);
    let expected = [(1, 0), (2, 15), (3, 511), (4, 511), (5, 15), (6, 0), (7, 40), (8, 3), (9, 40), (10, 0)];
    assert_eq!(interrupted(), expected);
}

#[test]
fn a_loop_in_an_interrupt_takes_no_room() {
    let _lock = lock_recorder();
    let mut expected = vec![9];
    record_word(9);
    for number in [3, 200] {
        interrupt(number, || {
            for _ in 0..50_000 {
                (1..4).for_each(record_word);
                expected.extend(1..4);
            }
        });
    }
    assert!(history() == expected);
    let lines = interrupted();
    assert!(lines.len() < 2_000 && lines[0] == (9, 0), "{}", lines.len());
    assert_eq!(lines.last(), Some(&(3, 200)));
}

#[test]
fn a_muted_ring_stays_as_it_is() {
    let _lock = lock_recorder();
    (1..10).for_each(record_word);
    qs::global_off(STATEMENTS);
    (10..20).for_each(record_word);
    qs::global_on(STATEMENTS);
    (20..23).for_each(record_word);
    assert_eq!(history(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 21, 22]);
}

#[test]
fn triggers_stop_and_start_at_a_passage() {
    let _lock = lock_recorder();
    let pass = |word| {
        crate::start_at(5, 4);
        record_word(word);
        crate::stop_at(6, 2, 100);
    };
    (1..10).for_each(pass);
    assert_eq!(history(), [1, 2, 4, 5, 6, 7, 8, 9]);
    crate::watch(7, 0, Some("3"), &4);
    record_word(10);
    crate::watch(7, 0, None, &4);
    record_word(11);
    crate::start();
    assert_eq!(history().last(), Some(&10));
}

#[test]
fn frames_have_the_time() {
    let _lock = lock_recorder();
    set_time(|| 0x7D7E_0001);
    (0..1000).for_each(record_word);
    let image = image();
    let header = ring::Header::parse(&image).expect("a header");
    let mut reader = Reader::new(header, &image);
    assert!(matches!(reader.next(), Some(Item::Statement(_, Some(0x7D7E_0001)))));
    assert_eq!(history(), (0..1000).collect::<Vec<_>>());
}

std::thread_local! {
    static ON_WRITE: Cell<Option<fn()>> = const { Cell::new(None) };
    static COUNT: Cell<u32> = const { Cell::new(0) };
    static NEXT: Cell<u32> = const { Cell::new(0) };
}

/// A third of this in a usual run, which has some turns of the ring, too.
fn times(in_a_long_run: u32) -> u32 {
    let is_long = std::env::var_os("XHIST_LONG").is_some_and(|long| long != "0");
    if is_long { in_a_long_run } else { in_a_long_run / 3 }
}

/// Called after each written byte of the ring: a debugger can stop the core here.
pub(super) fn written() {
    if let Some(check) = ON_WRITE.take() {
        check();
        ON_WRITE.set(Some(check));
    }
}

#[test]
fn a_dump_at_any_step_ends_with_the_current_or_the_previous_statement() {
    let _lock = lock_recorder();
    fn check_ring() {
        let mut image = vec![0; size_of::<memory::Ring>()];
        memory::copy(memory::current(), 0, &mut image);
        let (words, _) = read(&image);
        let (last, begun) = (words.last().copied().unwrap_or(0), NEXT.get());
        assert!(last == begun || last + 1 == begun, "{last} of {begun}");
        assert!(words.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{begun}");
    }
    NEXT.set(0);
    writer::with(|_| ());
    ON_WRITE.set(Some(check_ring));
    for word in 1..times(6000) {
        NEXT.set(word);
        record_word(word);
        if word % 3 == 0 {
            put_value(&value_of(word));
        }
    }
    ON_WRITE.set(None);
}

std::thread_local! {
    static HANDLER: Cell<Option<fn()>> = const { Cell::new(None) };
    static IS_MASKED: Cell<bool> = const { Cell::new(false) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static RECORDED: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    static RANDOM: Cell<u32> = const { Cell::new(1) };
}

/// Runs a handler before interrupts are masked, and none while they are.
pub(super) fn masked<R>(act: impl FnOnce() -> R) -> impl FnOnce() -> R {
    if let Some(handler) = HANDLER.get().filter(|_| DEPTH.get() < 2 && !IS_MASKED.get()) {
        DEPTH.set(DEPTH.get() + 1);
        handler();
        DEPTH.set(DEPTH.get() - 1);
    }
    || {
        let before = IS_MASKED.replace(true);
        let result = act();
        IS_MASKED.set(before);
        result
    }
}

fn random(below: u32) -> u32 {
    let mut state = RANDOM.get();
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    RANDOM.set(state);
    (state >> 4) % below
}

#[test]
fn statements_of_handlers_come_before_the_drafted_one() {
    let _lock = lock_recorder();
    fn record_and_note(word: u32) {
        record_word(word);
        RECORDED.with_borrow_mut(|recorded| recorded.push(word));
    }
    fn handler() {
        match random(60) {
            0 => flush(),
            1 => append(&[0, 100, 0, 0, 0, 0, 1, 0x7E], true),
            2..4 => interrupt(random(50) as u16 + 1, || (7..10).for_each(record_and_note)),
            6 => put_value(&value_of(1 + random(2000))),
            4..6 => (0..random(9)).for_each(|_| record_and_note(random(3) << 16 | random(300))),
            _ => {}
        }
    }
    /// Reading the ring takes long, so it is not done at each byte.
    fn check_ring() {
        if random(60) > 0 {
            return;
        }
        let mut image = vec![0; size_of::<memory::Ring>()];
        memory::copy(memory::current(), 0, &mut image);
        let (words, _) = read(&image);
        let all_but_last = words.split_last().map_or(&[][..], |(_, before)| before);
        let is_end = |words: &[u32]| RECORDED.with_borrow(|recorded| recorded.ends_with(words));
        assert!(is_end(&words) || is_end(all_but_last), "{} statements", words.len());
    }
    writer::with(|_| ());
    ON_WRITE.set(Some(check_ring));
    HANDLER.set(Some(handler));
    for round in 0..times(600) {
        let start = random(4) << 16 | random(200);
        for _ in 0..random(80) {
            (start..start + 5).for_each(record_and_note);
        }
        if round % 10 == 0 {
            HANDLER.set(None);
            let (history, _) = read(&image());
            let is_end = RECORDED.with_borrow(|recorded| recorded.ends_with(&history));
            assert!(
                is_end && history.len() >= RECORDED.with_borrow(|recorded| recorded.len().min(500)),
                "round {round}"
            );
            HANDLER.set(Some(handler));
        }
    }
    HANDLER.set(None);
    ON_WRITE.set(None);
}

#[test]
fn handlers_at_any_time_block_no_statement() {
    let _lock = lock_recorder();
    fn handler() {
        COUNT.set(COUNT.get() + 1);
        assert!(COUNT.get() < 2_000, "it is never the program's turn");
        record_word(9);
    }
    HANDLER.set(Some(handler));
    for act in [|| record_word(300), flush, || append(&[0, 100, 0, 0, 0, 0, 1, 2], true)] {
        COUNT.set(0);
        record_word(1);
        act();
    }
    HANDLER.set(None);
}

#[test]
fn a_handler_that_changes_a_filter_during_a_change_leaves_both_correct() {
    let _lock = lock_recorder();
    let changes: [fn(); 4] =
        [|| qs::global_off(STATEMENTS), || qs::global_on(STATEMENTS), crate::stop, crate::start];
    for outer in changes {
        for inner in changes {
            HANDLER.set(Some(inner));
            outer();
            HANDLER.set(None);
            let is_wanted = crate::filters::wants_statements() && !crate::filters::is_frozen();
            let mut draft = FrameDraft::new();
            draft.begin();
            assert_eq!(draft.writer.is_muted, !is_wanted);
        }
    }
    changes[1]();
    changes[3]();
}

#[test]
fn the_report_of_an_overrun_causes_no_overrun() {
    let _lock = lock_recorder();
    crate::trace::set_logger(Some(crate::trace::to_ring));
    for number in 0..2_000 {
        append(&[0, 100, 0, 0, 0, 0, 1, number as u8], true);
    }
    let ids = || {
        let mut decoder = Decoder::default();
        let frame = |byte| match decoder.push(byte) {
            Outcome::Frame(frame) => Some(frame.id),
            _ => None,
        };
        std::iter::from_fn(super::get_byte).take(2 * RING_SIZE).filter_map(frame).collect::<Vec<_>>()
    };
    let records = ids();
    assert!(records.len() > 200 && records.iter().all(|id| *id == 100), "{}", records.len());
    assert_eq!(ids(), [crate::trace::EXCEPTION]);
    assert_eq!(ids(), []);
    crate::trace::set_logger(None);
}

proptest! {
    #[test]
    fn all_that_is_appended_is_read(
        pieces in prop::collection::vec((0u16..40, 0u16..300, 1u16..40, 1usize..60, any::<u8>()), 1..40),
    ) {
        let _lock = lock_recorder();
        let (mut expected, mut records, mut values) = (Vec::new(), 0, 0);
        for (file, line, lines, times, kind) in pieces {
            match kind {
                0..16 => {
                    append(&[0, 100, 0, 0, 0, 0, 1, 0x7D, 0x7E, kind], true);
                    records += 1;
                }
                16..20 => {
                    append(&[&[0, 100, 0, 0, 0, 0], [0x7E; 450].as_slice()].concat(), true);
                    records += 1;
                }
                20..24 => flush(),
                24..60 => {
                    (0..times).for_each(|_| put_value(&value_of(1 + u32::from(line))));
                    values += times;
                }
                _ => for _ in 0..times {
                    for line in line..line + lines {
                        record_at(Statement { file, line });
                        expected.push(Statement { file, line }.to_word());
                    }
                }
            }
        }
        let (history, kept) = read(&image());
        prop_assert!(expected.ends_with(&history));
        prop_assert!(kept <= records);
        // Repetitions count more than once, so this is a lower bound. Values take more room.
        prop_assert!(values > 0 || history.len() >= expected.len().min(700), "{} of {}", history.len(), expected.len());
    }
}
