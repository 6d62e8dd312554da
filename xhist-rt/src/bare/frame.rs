//! Frames on bare metal: closing one, the head of the next one, and records other than statements.

use qs_core::frame::{ESCAPE, ESCAPE_XOR, FLAG, escaped, needs_escape};
use qs_core::record::packed::{Page, payload_head, step};
use qs_core::record::{RECORD_BASE, ids};
use qs_core::ring::frame_room;

use super::draft::FrameDraft;
use super::mask::masked;
use super::memory;
use super::writer::{TRIES, Writer, with};
use crate::qs::SIZES;

/// Writes consecutive bytes, escaped if needed, and sums them up.
struct Put {
    at: u32,
    sum: u8,
}

impl Put {
    fn byte(&mut self, byte: u8) {
        self.sum = self.sum.wrapping_add(byte);
        escaped(byte, |byte| self.plain(byte));
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

impl FrameDraft {
    /// Closes the open frame, which has `data_len` bytes of data and a current sum.
    pub(super) fn close(&mut self, data_len: usize) {
        let data = self.writer.data;
        self.write_at(data.wrapping_add(data_len as u32));
        self.sum = self.writer.sum;
        // Readers of the open frame stop here from now on.
        self.push(step::END);
        if self.writer.folded > 0 {
            self.push(step::REPEAT);
            self.digits(1);
            self.digits(self.writer.folded);
        }
        // The length is always written escaped. Two lengths would become flag and escape, so they are avoided.
        while needs_escape((data_len + self.len()) as u8 ^ ESCAPE_XOR) {
            self.push(step::END);
        }
        let len = (data_len + self.len()) as u8;
        // Readers ignore this byte while the frame is open. `commit` detects later whether the writer has changed.
        self.write(data.wrapping_sub(1), &[len ^ ESCAPE_XOR]);
        self.sum = self.sum.wrapping_add(len);
        self.push(!self.sum);
        self.plain(FLAG);
        let end = self.start.wrapping_add(self.len() as u32);
        self.next = Some(self.state.after(end.wrapping_sub(self.state.head() as u32) as usize));
        self.writer.set_closed();
    }

    /// Lists the head of a packed frame: all bytes before its data.
    pub(super) fn head(&mut self, page: Page) {
        // 0 means no time.
        let time = self.writer.now();
        self.write_at(self.state.head() as u32);
        self.push(self.state.seq().wrapping_add(1));
        self.push(RECORD_BASE + ids::PACKED);
        let (payload, len) = payload_head(time, page, 0);
        payload.iter().take(len - 1).for_each(|byte| self.push(*byte));
        // The length is not known yet.
        self.plain(ESCAPE);
        self.plain(ESCAPE_XOR);
        self.writer.head_sum = self.sum;
        self.writer.data = self.start.wrapping_add(self.len() as u32);
        self.next = Some(self.state.with_open(self.len()));
    }
}

/// Closes the open frame, so a link can take its statements.
pub fn flush() {
    let mut draft = FrameDraft::new();
    for _ in 0..TRIES {
        draft.begin();
        if !draft.writer.is_open() {
            return;
        }
        let len = draft.writer.len();
        draft.writer.catch_up(len);
        draft.close(len);
        draft.writer.forget();
        if draft.commit() {
            return;
        }
    }
    masked(flush);
}

/// Appends a record: a place for the sequence number, the id, a place for the time stamp, the payload.
pub(super) fn append(bytes: &[u8], is_timed: bool) {
    // A handler may open another frame after the flush.
    for _ in 0..TRIES {
        if with(|writer| writer.append(bytes, is_timed)) {
            return;
        }
        flush();
    }
    masked(|| append(bytes, is_timed));
}

impl Writer {
    /// Appends a record, if no frame is open.
    fn append(&mut self, bytes: &[u8], is_timed: bool) -> bool {
        if self.is_of_no_ring() {
            return true;
        }
        if self.is_open() {
            return false;
        }
        self.forget();
        let before = memory::state();
        // Each byte may need an escape.
        let most = 2 * bytes.len() + 4;
        let is_far = most > 2 * frame_room(memory::RING_SIZE);
        memory::set_ahead(if is_far { most } else { 0 });
        let mut put = Put { at: before.head() as u32, sum: 0 };
        put.byte(before.seq().wrapping_add(1));
        let mut rest = bytes.get(1..).unwrap_or_default().iter();
        rest.by_ref().take(1).for_each(|byte| put.byte(*byte));
        if is_timed {
            let time = self.now().to_le_bytes();
            rest.by_ref().take(SIZES.time as usize).zip(time).for_each(|(_, byte)| put.byte(byte));
        }
        rest.for_each(|byte| put.byte(*byte));
        put.finish();
        memory::set_state(before.after(put.at.wrapping_sub(before.head() as u32) as usize));
        memory::set_ahead(0);
        true
    }
}
