//! Lines of the crate `defmt`: each is an event with the bytes that the program encoded, which a reader turns into text with
//! the program's file.
//!
//! `cargo xhist` has the program's `defmt` call these functions. They pass everything on to the program's own logger, so what it
//! sends is as before.

use core::cell::UnsafeCell;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

use qs_core::record::trace::{BLOCK, Code, EXCEPTION, Severity, exception_head};

use crate::qs::{self, CUT, SIZES};
use crate::recorder;

/// Bytes of a record before those of the line: a sequence number, its id, a time, its elements, and the length.
const HEAD: usize = 2 + SIZES.time as usize + 7 + 2;

/// Bytes of a line that are kept. Numbers and indices are short; only long strings are cut.
const LEN: usize = {
    const USUAL: usize = 128;
    // A small ring has shorter records. Two more bytes follow: checksum and flag.
    let longest = if recorder::longest_record() > 64 { recorder::longest_record() } else { 64 };
    let room = longest - 2 - HEAD - CUT.len();
    if room < USUAL { room } else { USUAL }
};

/// A record with a line that was cut.
type RecordBytes = [u8; HEAD + LEN + CUT.len()];

static LINE: Line = Line::new();

// The logger of the program, by the names that `#[defmt::global_logger]` gives it.
unsafe extern "Rust" {
    fn _defmt_acquire();
    fn _defmt_write(bytes: &[u8]);
    fn _defmt_release();
}

/// Begins a line.
#[unsafe(no_mangle)]
fn _xhist_defmt_acquire() {
    // SAFETY: the caller is `defmt`, which releases the logger afterwards.
    unsafe { _defmt_acquire() };
    LINE.begin();
}

/// Adds bytes to it.
#[unsafe(no_mangle)]
fn _xhist_defmt_write(bytes: &[u8]) {
    LINE.add(bytes);
    // SAFETY: the caller is `defmt`, which has acquired the logger.
    unsafe { _defmt_write(bytes) };
}

/// Ends it.
#[unsafe(no_mangle)]
fn _xhist_defmt_release() {
    LINE.end(to_ring);
    // SAFETY: the caller is `defmt`, which has acquired the logger.
    unsafe { _defmt_release() };
}

/// The beginning of the line that is being written.
struct Line {
    /// Lines that were begun and have not ended. A logger may let an interrupt begin a line within another one, and then drops
    /// its bytes: such a line is not recorded.
    depth: AtomicUsize,
    /// Its bytes so far, also those that are not kept.
    len: AtomicUsize,
    /// The record that it becomes. It is here, so nothing is copied.
    record: UnsafeCell<RecordBytes>,
}

// SAFETY: `record` is used only in a line that is not within another one. Loggers let one core at a time begin a line.
unsafe impl Sync for Line {}

impl Line {
    const fn new() -> Line {
        let record = UnsafeCell::new(empty_record());
        Line { depth: AtomicUsize::new(0), len: AtomicUsize::new(0), record }
    }

    fn begin(&self) {
        // Whatever interrupts this ends its own lines first, so the count is right without an atomic addition.
        let depth = self.depth.load(Relaxed);
        if depth == 0 {
            self.len.store(0, Relaxed);
        }
        self.depth.store(depth + 1, Relaxed);
    }

    fn add(&self, bytes: &[u8]) {
        if self.depth.load(Relaxed) != 1 {
            return;
        }
        let len = self.len.load(Relaxed);
        // SAFETY: this is the only line that is not within another one, see `Sync`.
        let record = unsafe { &mut *self.record.get() };
        let kept = record.iter_mut().skip(HEAD).take(LEN).skip(len);
        kept.zip(bytes).for_each(|(place, byte)| *place = *byte);
        self.len.store(len.saturating_add(bytes.len()), Relaxed);
    }

    /// Gives the record of a line that is not within another one, and its length.
    fn end(&self, keep: fn(&RecordBytes, usize)) {
        let depth = self.depth.load(Relaxed);
        let len = self.len.load(Relaxed);
        if depth == 1 && len > 0 {
            // SAFETY: as above. Nothing adds to the line meanwhile.
            let record = unsafe { &mut *self.record.get() };
            let mut kept = len;
            if len > LEN {
                kept = LEN;
                record.iter_mut().skip(HEAD + LEN).zip(CUT).for_each(|(place, byte)| *place = *byte);
            }
            if let Some(place) = record.get_mut(HEAD - 1) {
                *place = kept as u8;
            }
            keep(record, HEAD + kept + if len > LEN { CUT.len() } else { 0 });
        }
        self.depth.store(depth.saturating_sub(1), Relaxed);
    }
}

/// A record without a line.
const fn empty_record() -> RecordBytes {
    let mut record = [0; HEAD + LEN + CUT.len()];
    record[1] = EXCEPTION;
    let head = exception_head(Severity::Sw0, Code::DEFMT);
    let mut at = 0;
    while at < head.len() {
        record[HEAD - 2 - head.len() + at] = head[at];
        at += 1;
    }
    record[HEAD - 2] = BLOCK;
    record
}

/// Puts a record into the ring, if the global filter wants it.
fn to_ring(record: &RecordBytes, len: usize) {
    if qs::is_on(EXCEPTION, 0) {
        recorder::append_record::<{ size_of::<RecordBytes>() }, true>(record, len);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use qs_core::record::trace::{Class, ParsedEvent};

    use super::*;

    thread_local! {
        static RECORDED: RefCell<Vec<(Vec<u8>, bool)>> = const { RefCell::new(Vec::new()) };
    }

    /// Keeps the bytes of a line, and whether it was cut.
    fn keep(record: &RecordBytes, len: usize) {
        assert_eq!(record[1], EXCEPTION);
        let elements = &record[2 + SIZES.time as usize..len];
        let event = ParsedEvent::parse(EXCEPTION, elements).expect("an event");
        assert_eq!(event.class, Class::Exception { severity: Severity::Sw0, code: Code::DEFMT });
        let line = (event.buffer().expect("a buffer").collect::<Vec<_>>().concat(), event.is_cut);
        RECORDED.with_borrow_mut(|recorded| recorded.push(line));
    }

    /// A line of these pieces.
    fn write(line: &Line, pieces: &[&[u8]]) {
        line.begin();
        pieces.iter().for_each(|piece| line.add(piece));
        line.end(keep);
    }

    #[test]
    fn a_line_is_one_event_and_a_long_one_is_cut() {
        let line = Line::new();
        write(&line, &[&[1, 0], &[7]]);
        write(&line, &[]);
        write(&line, &[&[9; LEN - 1], &[8; 1]]);
        write(&line, &[&[9; LEN - 1], &[8; 300]]);
        write(&line, &[&[2, 0]]);
        let mut full = vec![9; LEN - 1];
        full.push(8);
        let expected = [(vec![1, 0, 7], false), (full.clone(), false), (full, true), (vec![2, 0], false)];
        assert_eq!(RECORDED.take(), expected);
    }

    #[test]
    fn a_line_within_another_one_does_not_change_it() {
        let line = Line::new();
        line.begin();
        line.add(&[1, 0]);
        write(&line, &[&[2; 200]]);
        line.add(&[5]);
        line.end(keep);
        // One end too many, as of a logger that panicked.
        line.end(keep);
        write(&line, &[&[3, 0]]);
        assert_eq!(RECORDED.take(), [(vec![1, 0, 5], false), (vec![3, 0], false)]);
    }

    /// The logger that these tests are linked with.
    mod logger {
        #[unsafe(no_mangle)]
        fn _defmt_acquire() {}
        #[unsafe(no_mangle)]
        fn _defmt_write(_: &[u8]) {}
        #[unsafe(no_mangle)]
        fn _defmt_release() {}
    }
}
