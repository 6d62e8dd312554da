//! The usual end of a frame: it is full, the next one comes right behind it, and both are in one piece. This does what
//! [`Run::append`] does, and nothing for what is not usual.

use qs_core::frame::{ESCAPE, ESCAPE_XOR, FLAG, needs_escape};
use qs_core::record::packed::{MAX_DATA, Page, TRAILER, payload_head, step};
use qs_core::record::{RECORD_BASE, ids};
use qs_core::ring::State;

use super::memory::Reserve;
use super::{Around, Run};
use crate::ring::look::{may_escape, sum_of};
use crate::site::Site;
use crate::sync::fence;

/// Bytes of a frame that is opened, at most: before its data only the length is escaped.
const WHOLE: usize = 15 + MAX_DATA + TRAILER;

impl Run {
    /// Closes the open frame, and opens the next one with this statement; false when there is more to do than that.
    #[inline(always)]
    pub(super) fn next(&mut self, site: Site, around: &Around<'_>) -> bool {
        let stamp = around.clock.map_or(0, |clock| self.read(clock).max(self.stamp));
        let passed = stamp.wrapping_sub(self.stamp);
        let len = self.cursor.addr() - self.base.addr() + 1;
        let is_usual = self.end == self.base.wrapping_add(MAX_DATA) && self.skipped == 0 && self.folded == 0;
        if !is_usual || passed > u64::from(u32::MAX) || needs_escape(len as u8 ^ ESCAPE_XOR) {
            return false;
        }
        let (seq, time) = (self.next_seq(), (stamp as u32).max(around.clock.is_some() as u32));
        let Some((head, head_len, head_sum)) = head(seq, time, site.packed_page()) else { return false };
        let (tail, tail_len) = self.tail(len);
        let start = self.data + (len + tail_len) as u64;
        let at = self.memory.index(start);
        if at < self.memory.index(self.data) || at + WHOLE > self.memory.size {
            return false;
        }
        if !self.reserve_up_to(Reserve { head: start + WHOLE as u64, seq }, around) {
            return false;
        }
        self.note_ever(around);
        let seeking = self.seek_loop();
        self.memory.put(self.data - 1, len as u8 ^ ESCAPE_XOR);
        // SAFETY: from the cursor on, everything up to the end of the next frame lies in one piece and in the reserve.
        unsafe {
            self.cursor.add(1).cast::<[u8; 3]>().write(tail);
            self.memory.at(start).cast::<[u64; 2]>().write_unaligned(head);
        }
        fence();
        if self.cursor != self.limit {
            // SAFETY: below the limit lies a byte of the open frame.
            unsafe { self.cursor.write_volatile(step::END) };
        }
        fence();
        self.remember();
        (self.head, self.seq, self.stamp) = (start, self.seq.wrapping_add(1), stamp);
        self.open(start + head_len as u64, 0, MAX_DATA, head_sum, site, around.clock);
        self.expect(site, seeking);
        if let Some(last_time) = around.last_time.filter(|_| around.clock.is_some()) {
            last_time.store(stamp);
        }
        around.state.store(State::closed(start, self.seq).with_open(head_len).0);
        true
    }

    /// Checksum and flag behind so many bytes of data, the last of which is [`step::END`], and how many bytes they take.
    #[inline(always)]
    fn tail(&self, len: usize) -> ([u8; 3], usize) {
        // SAFETY: the room of the open frame lies in one piece.
        let room = unsafe { &*self.base.cast::<[u8; MAX_DATA]>() };
        // What is not written is zero, but for the limit where that is not the end.
        let end = if self.limit == self.end { step::END } else { 0 };
        let check = !sum(room).wrapping_add(end).wrapping_add(len as u8).wrapping_add(self.sum);
        match needs_escape(check) {
            false => ([check, FLAG, 0], 2),
            true => ([ESCAPE, check ^ ESCAPE_XOR, FLAG], 3),
        }
    }
}

/// Sum of the bytes, modulo 256: sixteen sums at a time, which processors do at once.
#[inline(always)]
fn sum(bytes: &[u8; MAX_DATA]) -> u8 {
    let mut sums = [0u8; 16];
    for chunk in bytes.as_chunks::<80>().0 {
        for at in 0..16 {
            let [a, b, c, d, e] = [0, 16, 32, 48, 64].map(|from| chunk[from + at]);
            sums[at] =
                sums[at].wrapping_add(a).wrapping_add(b).wrapping_add(c).wrapping_add(d).wrapping_add(e);
        }
    }
    sums.into_iter().fold(0, u8::wrapping_add)
}

/// What stands before the data, in so many bytes, and the sum of its fields; `None` where one of them may need an escape.
#[inline(always)]
fn head(seq: u8, time: u32, page: Page) -> Option<([u64; 2], usize, u8)> {
    let ([h0, h1, h2, h3, h4, h5, rest @ ..], len) = payload_head(time, page, 0);
    let [r0, r1, r2, r3, r4, r5] = rest;
    let id = RECORD_BASE + ids::PACKED;
    let fields = [[seq, id, h0, h1, h2, h3, h4, h5], [r0, r1, r2, r3, r4, r5, 0, 0]].map(u64::from_le_bytes);
    let escapes = may_escape(fields[0]) | may_escape(fields[1]);
    // The length of no data is zero, so it stands there already but for its escape.
    let length = u64::from(u16::from_le_bytes([ESCAPE, ESCAPE_XOR])) << (8 * (len - 7));
    let head = [fields[0], fields[1] | length];
    let sum = sum_of(fields[0]).wrapping_add(sum_of(fields[1]));
    (!escapes).then(|| (head.map(u64::to_le), len + 3, sum))
}
