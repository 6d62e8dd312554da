//! Contradictions in the header and the open chunk of a words ring that no program writes.

use qs_core::frame::needs_escape;
use qs_core::record::chunk::MIN_OPEN;
use qs_core::record::words::{REPETITION, UNIT, UnitRepetition, digit_of};
use qs_core::ring::Header;

/// Bytes behind the newest word that are checked: fewer than any recorder zeroes ahead.
const AHEAD: u64 = 64;
/// Words start at a multiple of this.
const ALIGN: u64 = 8;

/// Reports what is wrong.
pub fn look(header: &Header, bytes: &[u8], say: &mut dyn FnMut(&str)) {
    let byte = |position: u64| bytes.get((position % header.size as u64) as usize).copied().unwrap_or(0);
    let (head, zeroed) = (header.state.head(), header.words.zeroed);
    if zeroed > head.saturating_add(header.size as u64) {
        say("its header is damaged where it says how much is zeroed for what comes");
    }
    let limit = zeroed.clamp(head, head.saturating_add(header.size as u64));
    let is_written = |from: u64, to: u64| (from..to.min(limit)).any(|at| byte(at) != 0);
    let is_empty = head == 0 && header.state.open().is_none_or(|open| byte(open as u64) == 0);
    if !is_empty && header.words.parent.is_some() != (header.words.level > 0) {
        say("its header is damaged where it says whether signal handlers wrote it");
    }
    // The recorder pads no more than it has to.
    let least = MIN_OPEN + usize::from(needs_escape(header.state.seq().wrapping_add(1)));
    let Some(open) = header.state.open() else {
        let first = (head + least as u64).next_multiple_of(ALIGN);
        // A record that is being written starts with bytes that an open chunk does not have.
        let is_record = is_written(head, first - REPETITION as u64);
        if !is_record && is_written(first - REPETITION as u64, first + AHEAD) {
            say("the state word of its header is damaged: a chunk is open that it does not know");
        }
        return;
    };
    let first = head + open as u64;
    if !first.is_multiple_of(ALIGN) || open >= least + ALIGN as usize {
        say("the state word of its header is damaged: its open chunk cannot start there");
        return;
    }
    let again: [u8; REPETITION] = std::array::from_fn(|index| byte(first - (REPETITION - index) as u64));
    // A recorder that was stopped while it folded, split or closed the chunk leaves more behind the words.
    let is_counted = UnitRepetition::from_bytes(again).is_none_or(|again| again.is_counted);
    let is_at_work = is_written(head, first - REPETITION as u64) || header.words.trim.at(head).is_some();
    if is_counted || is_at_work {
        return;
    }
    let is_unit = |at: u64| (0..UNIT as u64).all(|index| digit_of(byte(at + index)).is_some());
    let mut end = first;
    while end < limit && is_unit(end) {
        end += UNIT as u64;
    }
    if is_written(end, end + AHEAD) {
        say("its open chunk is damaged, so what was recorded behind that is not shown");
    }
}
