//! Frames on bare metal: how one is closed, what stands before the data of the next, and records that are not statements.

use qs_core::frame::{ESCAPE, ESCAPE_XOR, FLAG, needs_escape};
use qs_core::record::packed::{Page, payload_head, step};
use qs_core::record::{RECORD_BASE, ids};
use qs_core::ring::{State, frame_room};

use super::memory;
use super::writer::{Writer, digits};
use crate::qs::SIZES;

/// Puts bytes one behind the other, with their escapes, and sums them up.
struct Put {
    at: u32,
    sum: u8,
}

impl Put {
    fn byte(&mut self, byte: u8) {
        self.sum = self.sum.wrapping_add(byte);
        if needs_escape(byte) {
            self.plain(ESCAPE);
            self.plain(byte ^ ESCAPE_XOR);
        } else {
            self.plain(byte);
        }
    }

    fn plain(&mut self, byte: u8) {
        memory::put(self.at, byte);
        self.at = self.at.wrapping_add(1);
    }

    fn finish(&mut self) {
        self.byte(!self.sum);
        self.plain(FLAG);
    }
}

impl Writer {
    /// Closes the open frame, whose sum is up to date.
    pub(super) fn close(&mut self) {
        let end = self.data.wrapping_add(self.len() as u32);
        let mut put = Put { at: end.wrapping_add(1), sum: self.sum.wrapping_add(step::END) };
        if self.folded > 0 {
            put.byte(step::REPEAT);
            digits(1, &mut |byte| put.byte(byte));
            digits(self.folded, &mut |byte| put.byte(byte));
        }
        // The length stands escaped whatever it is; two of them would turn into flag and escape.
        while needs_escape(put.at.wrapping_sub(self.data) as u8 ^ ESCAPE_XOR) {
            put.byte(step::END);
        }
        let len = put.at.wrapping_sub(self.data) as u8;
        memory::put(self.data.wrapping_sub(1), len ^ ESCAPE_XOR);
        put.sum = put.sum.wrapping_add(len);
        put.finish();
        // Readers of the open frame stop here from now on.
        memory::put(end, step::END);
        let state = memory::state();
        memory::set_state(state.after(put.at.wrapping_sub(state.head() as u32) as usize));
        self.stand();
    }

    /// Writes what stands before the data of a packed frame; how many bytes that are.
    pub(super) fn put_head(&mut self, before: State, page: Page) -> usize {
        // 0 stands for no time.
        let time = self.time.map_or(0, |time| time().max(1));
        let start = before.head() as u32;
        let mut put = Put { at: start, sum: 0 };
        put.byte(before.seq().wrapping_add(1));
        put.byte(RECORD_BASE + ids::PACKED);
        let (payload, len) = payload_head(time, page, 0);
        payload.iter().take(len - 1).for_each(|byte| put.byte(*byte));
        // The length is not known yet.
        put.plain(ESCAPE);
        put.plain(ESCAPE_XOR);
        self.head_sum = put.sum;
        put.at.wrapping_sub(start) as usize
    }

    /// Closes the frame, if one is open, for something else than statements.
    pub(super) fn flush(&mut self) {
        if self.is_open() {
            while !self.catch_up(self.len()) {}
            self.close();
        }
        self.forget();
    }

    /// Appends a record: a place for the sequence number, the id, a place for the time stamp, the payload.
    pub(super) fn append(&mut self, bytes: &[u8], is_timed: bool) {
        // Not in one step with the record: it may be long.
        self.flush();
        let before = memory::state();
        // Every byte may need an escape.
        let most = 2 * bytes.len() + 4;
        let is_far = most > 2 * frame_room(super::RING_SIZE);
        memory::set_ahead(if is_far { most } else { 0 });
        let mut put = Put { at: before.head() as u32, sum: 0 };
        put.byte(before.seq().wrapping_add(1));
        let mut rest = bytes.get(1..).unwrap_or_default().iter();
        rest.by_ref().take(1).for_each(|byte| put.byte(*byte));
        if is_timed {
            let time = self.time.map_or(0, |time| time().max(1)).to_le_bytes();
            rest.by_ref().take(SIZES.time as usize).zip(time).for_each(|(_, byte)| put.byte(byte));
        }
        rest.for_each(|byte| put.byte(*byte));
        put.finish();
        memory::set_state(before.after(put.at.wrapping_sub(before.head() as u32) as usize));
        memory::set_ahead(0);
    }
}
