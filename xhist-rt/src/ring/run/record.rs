//! Appending records that are not statements: those of QS and of the application.

use qs_core::frame::{FLAG, escaped, needs_escape};

use super::look::look;
use super::{Again, Around, Memory, Reserve, Run};
use crate::qs::SIZES;
use crate::ring::Record;
use crate::sync::fence;

/// Bytes of a time stamp.
const TIME: usize = SIZES.time as usize;

/// A frame before escapes.
struct Frame<'a, const LEN: usize> {
    bytes: &'a [u8; LEN],
    /// Bytes up to its checksum; the flag stands behind that.
    len: usize,
    escapes: usize,
}

impl<'a, const LEN: usize> Frame<'a, LEN> {
    /// The frame of a record whose bytes these are.
    #[inline(always)]
    fn new(record: Record<'_, LEN>, bytes: &'a mut [u8; LEN], seq: u8, time: u32) -> Frame<'a, LEN> {
        let len = record.len;
        bytes[0] = seq;
        if record.timed {
            time.to_le_bytes().iter().take(TIME).zip(2..).for_each(|(byte, at)| bytes[at] = *byte);
        }
        let (sum, mut any) = look(bytes);
        let check = !sum;
        any |= needs_escape(check);
        if let Some([place, end]) = bytes.get_mut(len..).and_then(|rest| rest.first_chunk_mut()) {
            (*place, *end) = (check, FLAG);
        }
        let len = len + 1;
        Frame { escapes: if any { escapes(bytes, len) } else { 0 }, bytes, len }
    }

    /// Bytes of the whole frame.
    const fn total(&self) -> usize {
        self.len + self.escapes + 1
    }

    /// Puts it.
    #[inline(always)]
    fn put(&self, memory: Memory, start: u64) {
        if self.escapes == 0 {
            memory.put_first(start, self.bytes, self.len + 1);
        } else {
            put_escaped(memory, start, self.bytes, self.len);
        }
    }
}

/// Puts the first `len` bytes with their escapes, and the flag.
#[cold]
#[inline(never)]
fn put_escaped(memory: Memory, start: u64, bytes: &[u8], len: usize) {
    let mut at = start;
    let mut put = |byte| {
        memory.put(at, byte);
        at += 1;
    };
    for byte in bytes.iter().take(len) {
        escaped(*byte, &mut put);
    }
    put(FLAG);
}

#[cold]
#[inline(never)]
fn escapes(bytes: &[u8], len: usize) -> usize {
    bytes.iter().take(len).filter(|byte| needs_escape(**byte)).count()
}

impl Run {
    /// Appends a record.
    pub(crate) fn append_record<const LEN: usize>(
        &mut self,
        record: Record<'_, LEN>,
        around: &Around<'_>,
    ) -> Result<(), Again> {
        let time = match around.clock.filter(|_| record.timed) {
            Some(clock) => self.tell_time(self.read(clock), around)?,
            None => 0,
        };
        let mut bytes = *record.bytes;
        let frame = Frame::new(record, &mut bytes, self.next_seq(), time);
        self.append_bytes(frame.total(), |memory, start| frame.put(memory, start), around)
    }

    /// The same where no frame is open and nothing else is to be done; false when there is.
    #[inline(always)]
    pub(crate) fn append_record_shortly<const LEN: usize>(
        &mut self,
        record: Record<'_, LEN>,
        around: &Around<'_>,
    ) -> bool {
        let clock = around.clock.filter(|_| record.timed);
        let stamp = clock.map_or(self.stamp, |clock| self.read(clock).max(self.stamp));
        if self.is_open || stamp - self.stamp > u64::from(u32::MAX) {
            return false;
        }
        let seq = self.next_seq();
        let mut bytes = *record.bytes;
        let frame =
            Frame::new(record, &mut bytes, seq, if clock.is_some() { (stamp as u32).max(1) } else { 0 });
        let behind = Reserve { head: self.head + frame.total() as u64, seq };
        if !self.reserve_up_to(behind, around) {
            return false;
        }
        frame.put(self.memory, self.head);
        (self.head, self.seq, self.stamp) = (behind.head, seq, stamp);
        if let (Some(last_time), Some(_)) = (around.last_time, clock) {
            last_time.store(stamp);
        }
        fence();
        around.state.store(behind.word());
        true
    }

    /// Closes the open frame.
    pub(crate) fn close(&mut self, around: &Around<'_>) -> Result<(), Again> {
        if !self.is_open {
            return Ok(());
        }
        let close = self.plan_close(None);
        let reserve = Reserve { head: self.head + close.total as u64, seq: self.seq.wrapping_add(1) };
        self.claim(reserve, around)?;
        self.note_ever(around);
        self.write_close(&close);
        self.stand_at(reserve);
        self.last_len = 0;
        fence();
        around.state.store(reserve.word());
        Ok(())
    }
}
