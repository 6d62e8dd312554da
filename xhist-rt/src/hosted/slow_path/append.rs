//! Appends records, and words that are known at run time only.

use qs_core::filter::Filter;
use qs_core::inserted::{StatementNumber, WordWidth};
use qs_core::record::words::{UNIT, Word};
use qs_core::record::{RECORD_BASE, Statement, ids};

use super::roll_over::roll_over;
use crate::hosted::setup::{owner, trigger_state};
use crate::hosted::thread_state::{ThisThread, TrackPtr};
use crate::hosted::threads;
use crate::hosted::timing::pace::Pace;
use crate::hosted::timing::stamp;
use crate::hosted::track::act::{Purpose, act, check_for_move, continue_at};
use crate::hosted::track::events::{date, on_record};
use crate::record_size::SHORT;

/// Appends a record of QS, perhaps the first of a thread, see
/// [`WordsWriter::append_record`](crate::hosted::words::WordsWriter::append_record).
#[inline(never)]
pub(crate) fn append_record<const LEN: usize, const TIMED: bool>(bytes: &[u8; LEN], len: usize) {
    let stamp = match ThisThread::get().track() {
        Some(track) if !owner::is_unseen_child() && !trigger_state::is_record_awaited() => {
            try_append_record::<LEN, TIMED>(track, bytes, len)
        }
        _ => Some(0),
    };
    if let Some(stamp) = stamp {
        append_record_slow::<LEN, TIMED>(bytes, len, stamp);
        on_record(bytes[1]);
    }
}

/// Appends a record if another record is the last entry of the ring, and skips what is needed rarely. Returns `None`
/// if it has appended the record, otherwise the stamp that it has read, 0 for none.
#[inline(always)]
fn try_append_record<const LEN: usize, const TIMED: bool>(
    mut track: TrackPtr,
    bytes: &[u8; LEN],
    len: usize,
) -> Option<u64> {
    let thread = ThisThread::get();
    if track.is_busy() || !track.writer.is_ready_at(thread.cursor()) || !track.has_header() {
        return Some(0);
    }
    track.begin(track.writer.first_word());
    let mut left = Some(0);
    if trigger_state::is_running() {
        let stamp = if TIMED { stamp::now() } else { 0 };
        left = Some(stamp);
        if let Some(cursor) = track.writer.try_append_record::<LEN, TIMED>(bytes, len, stamp) {
            track.place.cursor = cursor;
            continue_at(thread, track.place, Pace::Chunks);
            left = None;
        }
    }
    track.end();
    check_for_move(thread, track);
    left
}

/// Appends a record in all cases. The stamp is 0 if no clock was read yet.
#[cold]
#[inline(never)]
fn append_record_slow<const LEN: usize, const TIMED: bool>(bytes: &[u8; LEN], len: usize, stamp: u64) {
    threads::check_for_fork();
    let thread = ThisThread::get();
    let Some(track) = thread.track().or_else(|| threads::first_record(is_always_on(bytes[1]))) else {
        return;
    };
    act(thread, track, Purpose::Append, |track, at| {
        let at = date(track, at);
        let stamp = if TIMED && stamp == 0 { stamp::now() } else { stamp };
        track.writer.append_record::<LEN, TIMED>(at, bytes, len, stamp)
    });
}

/// Whether no trigger keeps this record out.
fn is_always_on(id: u8) -> bool {
    Filter::ALWAYS.has(id)
}

/// Records a statement whose numbers are known at run time only.
pub(crate) fn at(file: u16, line: u16) {
    match Word::new(Statement { file, line }, 0) {
        Some(Word::Short(bytes)) => put_word(bytes),
        Some(Word::Long(bytes)) => put_word(bytes),
        None => record_without_word(StatementNumber::new(Statement { file, line }, 0).value),
    }
}

/// Stores a word that is known at run time only, behind a check.
#[inline(never)]
pub(crate) fn put_word<const LEN: usize>(word: [u8; LEN]) {
    const { assert!(LEN <= 2 * UNIT) };
    let thread = ThisThread::get();
    if thread.cursor().addr() >= thread.limit() {
        roll_over(thread.cursor());
    }
    let cursor = thread.cursor();
    // SAFETY: behind a check the cursor of this thread points to room for a word, which is two units at most.
    unsafe { cursor.copy_from_nonoverlapping(word.as_ptr(), LEN) };
    thread.set_cursor(cursor.wrapping_add(LEN));
}

/// Records a statement that no word can represent, as a record of its own. The number is that of a call with a long word.
#[cold]
#[inline(never)]
pub(crate) fn record_without_word(number: u64) {
    let mut bytes = [0; SHORT];
    let number = StatementNumber { value: number, width: WordWidth::Long };
    let word = number.statement().to_word().to_le_bytes();
    bytes[1] = RECORD_BASE + ids::STATEMENT;
    bytes[2..6].copy_from_slice(&word);
    append_record::<SHORT, false>(&bytes, 2 + word.len());
}
