//! What a packed frame looks like before its data and behind it, and a frame of one statement.

use core::sync::atomic::Ordering::Relaxed;

use qs_core::frame::{ESCAPE, ESCAPE_XOR, FLAG, escaped, needs_escape};
use qs_core::record::packed::{self, MAX_HEADER, TRAILER, step};
use qs_core::record::{RECORD_BASE, ids};
use qs_core::record::{Statement, element::Data};
use qs_core::ring::data_room;

use super::memory::{Reserve, bytes, first};
use super::{Clock, MARK_BYTES, Run};
use crate::site::Site;
use crate::sync::fence;

impl Run {
    pub(super) fn plan_close(&self, exactly: Option<u64>) -> Close {
        let mut close =
            Close { bytes: [0; TRAILER], pads: 0, len: 0, tail: [0; 3], tail_len: 0, head: 0, total: 0 };
        if !self.is_open {
            return close;
        }
        let mut push = |byte| {
            if let Some(place) = close.bytes.get_mut(close.head) {
                *place = byte;
                close.head += 1;
            }
        };
        push(step::END);
        if self.folded > 0 {
            push(step::REPEAT);
            packed::digits(1, &mut push);
            packed::digits(self.folded, &mut push);
        }
        let before = self.len() + close.head;
        close.pads = match exactly {
            // Behind the pads come checksum and flag.
            Some(end) => (end - self.data) as usize - before - 2,
            // Its length stands escaped, whatever it is; these two would turn into flag and escape.
            None if needs_escape(before as u8 ^ ESCAPE_XOR) => 0x5F - before,
            None => 0,
        };
        // SAFETY: the data of the open frame lies in the ring.
        let data = unsafe { bytes(self.base, self.len() - self.skipped) };
        let fixed = sum(data)
            .wrapping_add((self.skipped as u8).wrapping_mul(step::SKIP))
            .wrapping_add(sum(first(&close.bytes, close.head)))
            .wrapping_add(self.sum);
        let check = |pads: usize| {
            let len = (before + pads) as u8;
            !fixed.wrapping_add(len).wrapping_add((pads as u8).wrapping_mul(step::END))
        };
        let mut last = check(close.pads);
        if needs_escape(last) {
            if exactly.is_some() {
                // One pad less makes room for the escape, and needs it no longer; any byte may be escaped.
                close.pads -= 1;
                last = check(close.pads);
            }
            close.tail = [ESCAPE, last ^ ESCAPE_XOR, FLAG];
            close.tail_len = 3;
        } else {
            close.tail = [last, FLAG, 0];
            close.tail_len = 2;
        }
        close.len = (before + close.pads) as u8;
        close.total = (self.data - self.head) as usize + before + close.pads + close.tail_len;
        close
    }

    /// Writes what stands behind the data, the byte that readers of the open frame stop at last.
    pub(super) fn write_close(&mut self, close: &Close) {
        if !self.is_open {
            return;
        }
        let at = self.position(self.cursor);
        self.memory.put_all(at + 1, close.bytes.get(1..close.head).unwrap_or_default());
        let pads = at + close.head as u64;
        for pad in 0..close.pads {
            self.memory.put(pads + pad as u64, step::END);
        }
        self.memory.put_all(pads + close.pads as u64, first(&close.tail, close.tail_len));
        self.memory.put_all(self.data - 2, &[ESCAPE, close.len ^ ESCAPE_XOR]);
        fence();
        // At the limit it stands there already, and an interrupted statement may be about to undo what it did to it.
        if self.cursor != self.limit {
            self.memory.put(at, step::END);
        }
        fence();
        self.head += close.total as u64;
        self.seq = self.seq.wrapping_add(1);
    }
}

/// What closes a frame: `bytes[..head]`, then pads, then the tail.
pub(super) struct Close {
    bytes: [u8; TRAILER],
    head: usize,
    pads: usize,
    tail: [u8; 3],
    tail_len: usize,
    len: u8,
    /// Bytes of the whole frame.
    pub(super) total: usize,
}

/// A frame to be opened.
pub(super) struct Frame {
    head: [u8; STUFFED],
    pub(super) head_len: usize,
    sum: u8,
    data: u64,
    /// Bytes of data before the ring goes round.
    skipped: usize,
    /// Bytes of data behind those.
    room: usize,
    pub(super) reserve: Reserve,
}

impl Frame {
    /// A frame behind `close` bytes that close the one before it.
    pub(super) fn plan(run: &Run, site: Site, time: u32, close: usize) -> Frame {
        /// Fewer bytes before the ring goes round are not worth a frame.
        const FEW: usize = 9;
        let seq = run.next_seq();
        // All but the length, which is not known yet.
        let (payload, len) = packed::payload_head(time, site.packed_page(), 0);
        let mut fields = [0; 16];
        (fields[0], fields[1]) = (seq, RECORD_BASE + ids::PACKED);
        fields[2..14].copy_from_slice(&payload);
        let (head, head_len) = stuffed(fields, 2 + len - 1);
        let mut frame =
            Frame { head, head_len, sum: sum(&fields), data: 0, skipped: 0, room: 0, reserve: run.reserve() };
        // The length stands escaped, so that its place is known.
        if let Some(place) = frame.head.get_mut(head_len..).and_then(|rest| rest.first_chunk_mut()) {
            *place = [ESCAPE, ESCAPE_XOR];
        }
        frame.head_len += 2;
        let memory = run.memory;
        frame.data = run.head + (close + frame.head_len) as u64;
        let (to_end, most) = (memory.size - memory.index(frame.data), data_room(memory.size));
        frame.skipped = if to_end < FEW { to_end } else { 0 };
        frame.room = if frame.skipped > 0 { most - to_end } else { most.min(to_end - 2) };
        if (79..=81).contains(&(frame.skipped + frame.room)) {
            // Closed with pads, its length would be one of the two that cannot be escaped.
            frame.room -= 3;
        }
        let end = frame.data + (frame.skipped + frame.room + TRAILER) as u64;
        frame.reserve = Reserve { head: end, seq };
        frame
    }

    /// Writes it behind the closed frames of `run`, with its first statement.
    pub(super) fn write(&self, run: &mut Run, site: Site, clock: Option<Clock>) {
        let memory = run.memory;
        memory.put_all(run.head, first(&self.head, self.head_len));
        for index in 0..self.skipped {
            memory.put(self.data + index as u64, step::SKIP);
        }
        run.open(self.data, self.skipped, self.room, self.sum, site, clock);
    }
}

impl Run {
    /// Opens a frame whose data starts at `data`: `skipped` bytes that are written, then `room` bytes that begin with
    /// this statement. These and two more lie in one piece.
    #[inline(always)]
    pub(super) fn open(
        &mut self,
        data: u64,
        skipped: usize,
        room: usize,
        sum: u8,
        site: Site,
        clock: Option<Clock>,
    ) {
        let base = self.memory.at(data + skipped as u64);
        // SAFETY: the caller saw to it that they lie in one piece.
        unsafe {
            base.write_bytes(step::FREE, room);
            base.write_volatile(site.code());
            (self.cursor, self.end) = (base.add(1), base.add(room));
            self.end.write_volatile(step::END);
            // A statement that finds no room changes the end for a moment: readers stop at the one behind it then.
            self.end.add(1).write_volatile(step::END);
        }
        (self.base, self.limit) = (base, self.end);
        (self.data, self.skipped, self.sum) = (data, skipped, sum);
        self.first_page = site.page();
        self.forget_pages();
        let has_marks = clock.is_some_and(|clock| clock.marks.load(Relaxed));
        self.mark_at = if has_marks { base.wrapping_add(MARK_BYTES) } else { self.end };
        self.is_open = true;
        fence();
    }
}

/// Most bytes that 16 fields take, with room for the rest of a frame.
const STUFFED: usize = 36;
const _: () = assert!(MAX_HEADER <= STUFFED);

/// The first `len` of these bytes as they stand in a frame, and how many that are.
#[inline]
fn stuffed(fields: [u8; 16], len: usize) -> ([u8; STUFFED], usize) {
    let mut stuffed = [0; STUFFED];
    // One look at all of them: most frames need no escape.
    if !fields.iter().fold(false, |any, byte| any | needs_escape(*byte)) {
        stuffed[..16].copy_from_slice(&fields);
        return (stuffed, len);
    }
    let mut at = 0;
    for byte in first(&fields, len) {
        escaped(*byte, |byte| {
            if let Some(place) = stuffed.get_mut(at) {
                *place = byte;
                at += 1;
            }
        });
    }
    (stuffed, at)
}

/// The frame of one statement, which `Statement::emit` of `qs_core` makes byte by byte.
pub(super) fn single(seq: u8, site: Site, time: Option<u32>) -> ([u8; STUFFED], usize) {
    const U16: u8 = Data::Uint(2).format(0);
    let [l0, l1, f0, f1] = site.word().to_le_bytes();
    let (mut fields, len) = match time.map(u32::to_le_bytes) {
        None => ([seq, RECORD_BASE + ids::STATEMENT, l0, l1, f0, f1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 7),
        Some([t0, t1, t2, t3]) => {
            let id = RECORD_BASE + ids::STATEMENT_TIMED;
            let ([fa, fb, fc], file) = Statement::from_word(site.word()).file_element();
            match file {
                2 => ([seq, id, t0, t1, t2, t3, fa, fb, U16, l0, l1, 0, 0, 0, 0, 0], 12),
                _ => ([seq, id, t0, t1, t2, t3, fa, fb, fc, U16, l0, l1, 0, 0, 0, 0], 13),
            }
        }
    };
    fields[len - 1] = !sum(&fields);
    let (mut frame, len) = stuffed(fields, len);
    frame[len] = FLAG;
    (frame, len + 1)
}

/// Sum of the bytes, modulo 256.
fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use qs_core::record::Statement;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn the_frame_of_one_statement_is_that_of_qs_core(seq: u8, file: u16, line: u16, time: Option<u32>) {
            let site = Site::new(file, line);
            let (frame, len) = single(seq, site, time);
            let mut expected = Vec::new();
            Statement::from_word(site.word()).emit(seq, RECORD_BASE, time, |byte| expected.push(byte));
            prop_assert_eq!(&frame[..len], &expected[..]);
        }
    }
}
