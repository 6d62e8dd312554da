//! Appending records that are not statements: those of QS and of the application.

use qs_core::frame::{FLAG, escaped, needs_escape};

use super::memory::copy_first;
use super::{Again, Around, Memory, Reserve, Run};
use crate::qs::SIZES;
use crate::ring::Record;
use crate::ring::look::{look, may_escape, sum_of};
use crate::sync::fence;

/// Bytes of a time stamp.
const TIME: usize = SIZES.time as usize;
const MASK: u32 = u32::MAX >> (32 - 8 * TIME);

/// A frame before escapes. Its bytes are not put together here: what was just written in small steps cannot be read in
/// wide ones without a wait.
struct Frame<'a, const LEN: usize> {
    record: Record<'a, LEN>,
    seq: u8,
    time: [u8; TIME],
    check: u8,
    escapes: usize,
}

impl<'a, const LEN: usize> Frame<'a, LEN> {
    #[inline(always)]
    fn new(record: Record<'a, LEN>, seq: u8, time: u32) -> Frame<'a, LEN> {
        let time = if record.timed { time & MASK } else { 0 };
        // The places of time and sequence number are zero there.
        let (sum, any) = look(record.bytes);
        let word = u64::from(time) | u64::from(seq) << 32;
        let check = !sum.wrapping_add(sum_of(word));
        let any = any | may_escape(word | u64::from(check) << 40);
        let [t0, t1, t2, t3] = time.to_le_bytes();
        let time = core::array::from_fn(|index| [t0, t1, t2, t3][index]);
        let mut frame = Frame { record, seq, time, check, escapes: 0 };
        if any {
            frame.escapes = escapes(&frame.bytes(), record.len + 1);
        }
        frame
    }

    /// Bytes of the whole frame.
    const fn total(&self) -> usize {
        self.record.len + 1 + self.escapes + 1
    }

    /// Its bytes before escapes, up to the checksum.
    fn bytes(&self) -> [u8; LEN] {
        let mut bytes = *self.record.bytes;
        bytes[0] = self.seq;
        if self.record.timed {
            bytes.iter_mut().skip(2).zip(self.time).for_each(|(place, byte)| *place = byte);
        }
        if let Some(place) = bytes.get_mut(self.record.len) {
            *place = self.check;
        }
        bytes
    }

    /// Puts it.
    #[inline(always)]
    fn put(&self, memory: Memory, start: u64) {
        let Record { bytes, len, timed } = self.record;
        let Some(to) = memory.piece(start, len + 2).filter(|_| self.escapes == 0 && len + 2 <= LEN) else {
            return put_escaped(memory, start, &self.bytes(), len + 1);
        };
        // SAFETY: the frame lies in one piece there, and its payload behind id and time is in `bytes`.
        unsafe {
            copy_first(bytes, to, len + 2);
            to.write(self.seq);
            if timed {
                to.add(2).cast::<[u8; TIME]>().write(self.time);
            }
            to.add(len).cast::<[u8; 2]>().write([self.check, FLAG]);
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
        let frame = Frame::new(record, self.next_seq(), time);
        self.append_bytes(frame.total(), |memory, start| frame.put(memory, start), around)
    }

    /// The same where no frame is open and nothing else is to be done; false when there is.
    #[inline(always)]
    pub(crate) fn append_record_shortly<const LEN: usize, const TIMED: bool>(
        &mut self,
        bytes: &[u8; LEN],
        len: usize,
        around: &Around<'_>,
    ) -> bool {
        let record = Record { bytes, len, timed: TIMED };
        let clock = around.clock.filter(|_| record.timed);
        let stamp = clock.map_or(self.stamp, |clock| self.read(clock).max(self.stamp));
        if self.is_open || stamp - self.stamp > u64::from(u32::MAX) {
            return false;
        }
        let seq = self.next_seq();
        let frame = Frame::new(record, seq, if clock.is_some() { (stamp as u32).max(1) } else { 0 });
        let behind = Reserve { head: self.head + frame.total() as u64, seq };
        if !self.reserve_up_to(behind, around) {
            return false;
        }
        frame.put(self.memory, self.head);
        self.close_shortly(behind, stamp, clock.is_some(), around);
        true
    }

    /// What was written up to there counts from now on.
    #[inline(always)]
    pub(super) fn close_shortly(&mut self, behind: Reserve, stamp: u64, is_timed: bool, around: &Around<'_>) {
        (self.head, self.seq, self.stamp) = (behind.head, behind.seq, stamp);
        if let Some(last_time) = around.last_time.filter(|_| is_timed) {
            last_time.store(stamp);
        }
        fence();
        around.state.store(behind.word());
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
