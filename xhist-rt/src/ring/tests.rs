//! Everything that is appended is read, whatever comes in between. [`interrupt`] lets a "signal handler" in at every
//! fence, which stand where the steps of an append must not change places.

use std::boxed::Box;
use std::cell::{Cell, RefCell};
use std::vec::Vec;

use proptest::prelude::*;
use qs_core::record::{EventKind, Statement};
use qs_core::ring::{self as layout, FLAG_PACKED, HOSTED_HEADER_LEN, Item, Reader};

use super::{Append, Header, HostedHeader, Hot, Place, Record, SHORT, Writer};
use crate::site::Site;

std::thread_local! {
    /// Steps to go before each interrupt, innermost last; taken from the back.
    static PLAN: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    static WRITER: Cell<*mut Writer> = const { Cell::new(core::ptr::null_mut()) };
    static NEXT: Cell<u32> = const { Cell::new(0) };
    /// In the order in which they were appended.
    static DONE: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    static HANDLER: Cell<fn()> = const { Cell::new(|| ()) };
    /// Where the hot path is, when statements are appended shortly where that can be done.
    static PLACE: Cell<Option<Place>> = const { Cell::new(None) };
    static SHORTLY: Cell<bool> = const { Cell::new(false) };
    static IS_HANDLER: Cell<bool> = const { Cell::new(false) };
    /// One in three is a record and no statement.
    static RECORDS: Cell<bool> = const { Cell::new(false) };
    /// Looks at the ring at every step, as a debugger that stopped the program there.
    static WATCH: Cell<Option<fn()>> = const { Cell::new(None) };
}

pub(crate) fn interrupt() {
    if let Some(look) = WATCH.take() {
        look();
        WATCH.set(Some(look));
    }
    let due = PLAN.with_borrow_mut(|plan| match plan.last_mut() {
        None => false,
        Some(0) => plan.pop().is_some(),
        Some(steps) => {
            *steps -= 1;
            false
        }
    });
    if due {
        let was = IS_HANDLER.replace(true);
        HANDLER.get()();
        IS_HANDLER.set(was);
    }
}

fn append(what: Append) {
    let place = || PLACE.get().filter(|_| SHORTLY.get());
    // SAFETY: the test's writer lives until its end, on this thread.
    unsafe {
        if let Append::Statement(site) = what
            && place().is_some()
            && !IS_HANDLER.get()
        {
            let publish = |cursor| PLACE.set(Some(Place { cursor, page: site.page() }));
            if Writer::append_shortly(WRITER.get(), site, place, publish) {
                return;
            }
        }
        let publish = |page, cursor| PLACE.set((page != Site::NONE).then_some(Place { cursor, page }));
        Writer::append(WRITER.get(), what, || Hot::Free(place()), publish);
    }
}

/// Tries both ways.
fn both(test: impl Fn()) {
    for shortly in [false, true] {
        SHORTLY.set(shortly);
        test();
    }
}

/// A record with a number, some of whose bytes need an escape.
const NUMBERED: u8 = 100;

fn append_record(number: u32) {
    let mut bytes = [0; SHORT];
    let [low, high, ..] = number.to_le_bytes();
    bytes[1..6].copy_from_slice(&[NUMBERED, low, high, 0x7D, 0x7E]);
    let record = Record { bytes: &bytes, len: 6, timed: false };
    let is_free = SHORTLY.get() && PLACE.get().is_none() && !IS_HANDLER.get();
    // SAFETY: as in `append`.
    if !is_free || !unsafe { Writer::record::<SHORT, false>(WRITER.get(), &bytes, 6) } {
        append(Append::Short(record));
    }
}

/// Appends statements that all differ, on pages that change.
fn record(count: u32) {
    for _ in 0..count {
        let next = NEXT.get() + 1;
        NEXT.set(next);
        match RECORDS.get() && next.is_multiple_of(3) {
            true => append_record(next),
            false => append(Append::Statement(statement(next))),
        }
        DONE.with_borrow_mut(|done| done.push(next));
    }
}

/// Changes the page after one, two, three, ... statements.
fn statement(number: u32) -> Site {
    Site::new((number / 7 % 5) as u16, number as u16)
}

fn number(statement: Statement) -> u32 {
    u32::from(statement.line)
}

struct Ring {
    memory: Vec<u64>,
    writer: Box<Writer>,
}

impl Ring {
    fn new(size: u32) -> Ring {
        let mut memory = vec![0u64; (HOSTED_HEADER_LEN + size as usize) / 8];
        let header = memory.as_mut_ptr().cast::<HostedHeader>();
        // SAFETY: the memory is long enough and aligned for a header, and lives as long as the writer.
        let writer = unsafe {
            (*header).init(size, 0, FLAG_PACKED, 7);
            let mut writer = Box::<Writer>::new_uninit();
            Writer::init(writer.as_mut_ptr(), header.cast::<Header>(), None, None);
            writer.assume_init()
        };
        let mut ring = Ring { memory, writer };
        WRITER.set(&raw mut *ring.writer);
        NEXT.set(0);
        DONE.take();
        PLAN.set(vec![]);
        WATCH.set(None);
        PLACE.set(None);
        ring
    }

    fn history(&self) -> Vec<Statement> {
        history(self.memory.as_ptr().cast(), self.memory.len() * 8)
    }

    fn numbers(&self) -> Vec<u32> {
        self.history().into_iter().map(number).collect()
    }
}

/// What is in the ring, repetitions written out.
fn history(start: *const u8, len: usize) -> Vec<Statement> {
    // SAFETY: the callers' rings live as long as they look.
    let image = unsafe { core::slice::from_raw_parts(start, len) }.to_vec();
    let header = layout::Header::parse(&image).expect("a header");
    let mut reader = Reader::new(header, &image);
    let mut statements: Vec<Statement> = Vec::new();
    while let Some(item) = reader.next() {
        match item {
            Item::Statement(statement, _) => statements.push(statement),
            Item::Again(again) => {
                let round = statements[statements.len() - again.statements..].to_vec();
                (0..again.times).for_each(|_| statements.extend(&round));
            }
            Item::Frame(frame) if frame.id == NUMBERED => {
                let line = u16::from_le_bytes([frame.payload[0], frame.payload[1]]);
                statements.push(Statement { file: u16::MAX, line });
            }
            Item::Frame(_) => {}
            other => panic!("{other:?} after {statements:?}"),
        }
    }
    statements
}

fn run(plan: Vec<u32>, before: u32, handler: fn()) -> (Vec<u32>, Vec<u32>) {
    let ring = Ring::new(8192);
    HANDLER.set(handler);
    record(before);
    PLAN.set(plan);
    record(3);
    PLAN.set(vec![]);
    record(2);
    (ring.numbers(), DONE.take())
}

#[test]
fn records_keep_their_place_whatever_comes_in_between() {
    both(|| {
        RECORDS.set(true);
        for before in [0, 1, 2, 3, 239, 240, 241] {
            for outer in 0..40 {
                for inner in [0, 1, 2, 5, 9, 14, 30] {
                    let (read, done) = run(vec![inner, outer], before, || record(2));
                    check(&read, &done, &format!("{before} {outer} {inner}"));
                }
            }
        }
        RECORDS.set(false);
    });
}

#[test]
fn every_interrupted_append_keeps_every_statement_in_order() {
    both(|| {
        // Depth 3: a handler that interrupts a handler that interrupts an append, at each step. A frame is 240 statements
        // or so; around there one is closed.
        let handler: fn() = || record(2);
        for before in [0, 3, 171, 173] {
            for outer in 0..24 {
                for inner in 0..24 {
                    for third in [0, 1, 2, 3, 5, 8, 13, 21] {
                        let (read, done) = run(vec![third, inner, outer], before, handler);
                        check(&read, &done, &format!("{before} {outer} {inner} {third}"));
                    }
                }
            }
        }
    });
}

#[test]
fn a_handler_may_write_more_than_a_frame() {
    both(|| {
        let handler: fn() = || record(400);
        for outer in 0..60 {
            let (read, done) = run(vec![7, outer], 170, handler);
            check(&read, &done, &format!("{outer}"));
        }
    });
}

/// The statement that was interrupted may stand before or behind those of the handler; all others keep their order.
fn check(read: &[u32], done: &[u32], place: &str) {
    let mut sorted = read.to_vec();
    sorted.sort_unstable();
    assert!(sorted.iter().copied().eq(1..=done.len() as u32), "{place}: {read:?}");
    let interrupted = |number: &u32| {
        let at = done.iter().position(|done| done == number).expect("appended");
        done[..at].iter().any(|earlier| earlier > number)
    };
    let calm: Vec<u32> = read.iter().copied().filter(|number| !interrupted(number)).collect();
    let expected: Vec<u32> = done.iter().copied().filter(|number| !interrupted(number)).collect();
    assert_eq!(calm, expected, "{place}: {read:?}");
}

#[test]
fn a_dump_at_any_step_ends_in_the_statement_at_hand_or_the_one_before() {
    fn look() {
        // SAFETY: the header is the test's, which lives until its end.
        let header = unsafe { Writer::header(WRITER.get()) };
        let read: Vec<u32> =
            history(header.cast::<u8>(), HOSTED_HEADER_LEN + 2048).into_iter().map(number).collect();
        let (last, begun) = (read.last().copied().unwrap_or(0), NEXT.get());
        assert!(last == begun || last + 1 == begun, "{last} of {begun}");
        assert!(read.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{read:?}");
    }
    both(|| {
        let _ring = Ring::new(2048);
        WATCH.set(Some(look));
        record(2500);
        WATCH.set(None);
    });
}

#[test]
fn a_ring_of_any_size_keeps_the_newest_statements() {
    both(|| {
        for size in [256, 512, 1024, 4096, 65536] {
            let ring = Ring::new(size);
            for _ in 0..400 {
                record(37);
                let read = ring.numbers();
                assert_eq!(read.last(), Some(&(NEXT.get() & 0xFFFF)), "{size}");
                assert!(read.windows(2).all(|pair| (pair[0] + 1) & 0xFFFF == pair[1]), "{size}: {read:?}");
            }
            let kept = ring.numbers().len();
            // What is prepared ahead holds no history.
            let expected = (size as usize - 2 * layout::frame_room(size as usize)) / 3;
            assert!(kept > expected.min(14_000), "{kept} statements in {size} bytes");
        }
    });
}

#[test]
fn a_loop_takes_no_room() {
    both(|| {
        let ring = Ring::new(4096);
        record(5);
        let bodies: [&[(u16, u16)]; 4] = [
            &[(1, 40)],
            &[(1, 40), (1, 41), (1, 42)],
            &[(1, 40), (2, 500), (1, 41), (3, 7), (3, 8), (1, 43)],
            &[
                (1, 1),
                (1, 2),
                (1, 3),
                (1, 4),
                (1, 5),
                (1, 6),
                (1, 7),
                (1, 8),
                (1, 9),
                (1, 10),
                (1, 11),
                (1, 12),
                (1, 13),
            ],
        ];
        let mut expected: Vec<Statement> = ring.history();
        for body in bodies {
            for _ in 0..5000 {
                for (file, line) in body {
                    append(Append::Statement(Site::new(*file, *line)));
                    expected.push(Statement { file: *file, line: *line });
                }
            }
        }
        let read = ring.history();
        assert_eq!(read.len(), expected.len());
        assert!(read == expected);
    });
}

#[test]
fn a_loop_of_any_length_up_to_the_limit_takes_no_room() {
    both(|| {
        let unfolded: Vec<u16> = (1..=FOLDED).filter(|len| !is_folded(*len)).collect();
        assert!(unfolded.is_empty(), "{unfolded:?}");
    });
}

/// Statements a round, on one page, up to which every loop folds; docs/limits.md names the number.
const FOLDED: u16 = 80;

/// Whether what ran before a loop is still there after rounds that would fill the ring many times over.
fn is_folded(len: u16) -> bool {
    let ring = Ring::new(4096);
    record(5);
    let before = ring.history();
    for _ in 0..20 * 4096 / u32::from(len) {
        for line in 10..10 + len {
            append(Append::Statement(Site::new(9, line)));
        }
    }
    ring.history().starts_with(&before)
}

proptest! {
    #[test]
    fn whatever_is_appended_is_read(
        pieces in prop::collection::vec((0u16..4, 0u16..300, 1u16..40, 1usize..60, any::<u8>()), 1..40),
        shortly: bool,
    ) {
        SHORTLY.set(shortly);
        let ring = Ring::new(1 << 16);
        let mut expected = Vec::new();
        for (file, line, lines, times, kind) in pieces {
            match kind {
                0..16 => append(Append::Event(EventKind::Unknown(9), 0x7E7D)),
                16..24 => {
                    append(Append::Single(Site::new(file, line), None));
                    expected.push(Statement { file, line });
                }
                _ => for _ in 0..times {
                    for line in line..line + lines {
                        append(Append::Statement(Site::new(file, line)));
                        expected.push(Statement { file, line });
                    }
                }
            }
        }
        let read = ring.history();
        prop_assert!(expected.ends_with(&read));
        prop_assert!(read.len() > 20_000 || read.len() == expected.len(), "{} of {}", read.len(), expected.len());
    }
}
