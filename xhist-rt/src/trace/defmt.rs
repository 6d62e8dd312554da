//! Lines of the crate `defmt`: each is an event with the bytes that the program encoded, which a reader turns into text with
//! the program's file.
//!
//! `cargo xhist` has the program's `defmt` call these functions. They pass everything on to the program's own logger, so what it
//! sends is as before.

use core::cell::UnsafeCell;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

use qs_core::record::trace::{Arg, Class, Code, Event, Severity};

use super::logger::to_ring;

/// Bytes of a line that are kept. Numbers and indices are short; only long strings are cut.
const LEN: usize = 128;

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
    kept: UnsafeCell<[u8; LEN]>,
}

// SAFETY: `kept` is used only in a line that is not within another one. Loggers let one core at a time begin a line.
unsafe impl Sync for Line {}

impl Line {
    const fn new() -> Line {
        Line { depth: AtomicUsize::new(0), len: AtomicUsize::new(0), kept: UnsafeCell::new([0; LEN]) }
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
        let kept = unsafe { &mut *self.kept.get() };
        for (place, byte) in kept.iter_mut().skip(len).zip(bytes) {
            *place = *byte;
        }
        self.len.store(len.saturating_add(bytes.len()), Relaxed);
    }

    /// Gives a line that is not within another one.
    fn end(&self, record: fn(&Event<'_>)) {
        let depth = self.depth.load(Relaxed);
        let len = self.len.load(Relaxed);
        if depth == 1 && len > 0 {
            // SAFETY: as above. Nothing adds to the line meanwhile.
            let kept = unsafe { &*self.kept.get() };
            let whole = [Arg::from(u32::try_from(len).unwrap_or(u32::MAX))];
            let args = if len > LEN { whole.as_slice() } else { &[] };
            let class = Class::Exception { severity: Severity::Sw0, code: Code::DEFMT };
            record(&Event { class, args, buffer: kept.get(..len.min(LEN)) });
        }
        self.depth.store(depth.saturating_sub(1), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    thread_local! {
        static RECORDED: RefCell<Vec<(Vec<u8>, Vec<Arg>)>> = const { RefCell::new(Vec::new()) };
    }

    fn keep(event: &Event<'_>) {
        let line = (event.buffer.unwrap_or_default().to_vec(), event.args.to_vec());
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
        let mut full = vec![9; LEN - 1];
        full.push(8);
        let whole = Arg::from(LEN as u32 + 299);
        let expected = [(vec![1, 0, 7], vec![]), (full.clone(), vec![]), (full, vec![whole])];
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
        assert_eq!(RECORDED.take(), [(vec![1, 0, 5], vec![]), (vec![3, 0], vec![])]);
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
