//! Several cores. A thread is a core, and may become another one.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::super::cores::CORES;
use super::*;

std::thread_local! {
    static CORE: Cell<usize> = const { Cell::new(0) };
}

pub(in super::super) fn core() -> usize {
    CORE.get()
}

/// Calls `act` on this core.
fn on<R>(core: usize, act: impl FnOnce() -> R) -> R {
    let before = CORE.replace(core);
    let result = act();
    CORE.set(before);
    result
}

pub(super) fn reset_writers() {
    (0..CORES).for_each(|core| on(core, || writer::with(|writer| *writer = writer::Writer::NEW)));
}

/// The lines of each ring, and its header.
fn rings(image: &[u8]) -> Vec<(ring::Header, Vec<u16>)> {
    let found = ring::find(image).map(|found| (found.header.expect("a header"), &image[found.offset..]));
    let lines = |header, image| {
        let mut reader = Reader::new(header, image);
        let mut lines = Vec::new();
        while let Some(item) = reader.next() {
            match item {
                Item::Statement(statement, _) => lines.push(statement.line),
                other => panic!("{other:?}"),
            }
        }
        lines
    };
    found.map(|(header, image)| (header, lines(header, image))).collect()
}

#[test]
fn each_core_has_its_own_history_and_all_have_one_map_and_clock() {
    let _lock = lock_recorder();
    on(1, || record_word(100));
    set_map_hash(7);
    set_time(|| 0x7D7E_0001);
    for word in 1..50 {
        record_word(word);
        on(1, || interrupt(3, || record_word(100 + word)));
    }
    let rings = rings(&image());
    assert_eq!(rings.len(), CORES);
    assert_eq!(rings[0].1, (1..50).collect::<Vec<_>>());
    assert_eq!(rings[1].1, (100..150).collect::<Vec<_>>());
    for (number, (header, _)) in rings.iter().enumerate() {
        let facts = (usize::from(header.core), usize::from(header.cores), header.map_hash, header.time_width);
        assert_eq!(facts, (number, CORES, 7, 4));
    }
}

#[test]
fn an_interrupt_is_that_of_its_core() {
    let _lock = lock_recorder();
    on(1, || interrupt(3, || on(0, || record_word(1))));
    on(0, || interrupt(3, || on(1, || record_word(1))));
    interrupt(9, || record_word(2));
    assert_eq!(interrupted(), [(1, 0), (2, 9)]);
}

#[test]
fn a_core_without_a_ring_records_nothing_and_is_counted() {
    let _lock = lock_recorder();
    record_word(1);
    on(CORES, || {
        (2..9).for_each(record_word);
        append(&[0, 100, 0, 0, 0, 0, 7], true);
        assert_eq!(super::super::get_byte(), None);
        assert_eq!(interrupt(9, || 5), 5);
    });
    record_word(9);
    let rings = rings(&image());
    assert_eq!(rings[0].1, [1, 9]);
    assert_eq!((rings[0].0.dropped, rings[1].0.dropped), (7, 0));
    assert!(rings[1..].iter().all(|(_, lines)| lines.is_empty()));
}

#[test]
fn a_core_that_is_stopped_by_another_one_notices_it_soon() {
    let _lock = lock_recorder();
    on(1, || (1..60).for_each(record_word));
    crate::stop();
    on(1, || (60..300).for_each(record_word));
    crate::start();
    on(1, || (300..303).for_each(record_word));
    let lines = rings(&image()).remove(1).1;
    let late = lines.iter().filter(|line| (60..300).contains(*line)).count();
    assert!(late < 40 && lines.ends_with(&[300, 301, 302]), "{late} {lines:?}");
}

/// While one core exports, the other one records.
#[test]
fn an_export_has_no_gap_that_it_does_not_show() {
    let _lock = lock_recorder();
    let is_done = AtomicBool::new(false);
    let images: Vec<Vec<u8>> = std::thread::scope(|scope| {
        scope.spawn(|| {
            CORE.set(1);
            (0..).take_while(|_| !is_done.load(Relaxed)).for_each(|word| record_word(word & 0xFFF));
        });
        let images = (0..200).map(|round| {
            record_word(round % 50);
            image()
        });
        let images = images.collect();
        is_done.store(true, Relaxed);
        images
    });
    let mut most = 0;
    for image in images {
        // The second one is behind the first.
        let second = &image[image.len() / CORES..];
        let mut reader = Reader::new(ring::Header::parse(second).expect("a header"), second);
        let (mut newest, mut count) = (None, 0);
        while let Some(item) = reader.next() {
            let Item::Statement(statement, _) = item else {
                newest = None;
                continue;
            };
            let is_next = |line: u16| statement.line == (line + 1) & 0xFFF;
            assert!(newest.is_none_or(is_next), "{} behind {newest:?}", statement.line);
            newest = Some(statement.line);
            count += 1;
        }
        most = most.max(count);
    }
    assert!(most > RING_SIZE / 4, "{most}");
}
