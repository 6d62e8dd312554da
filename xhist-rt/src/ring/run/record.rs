//! Appending records that are not statements: those of QS and of the application.

use qs_core::frame::{ESCAPE, ESCAPE_XOR, FLAG, needs_escape};

use super::{Again, Around, Memory, Reserve, Run};
use crate::ring::Record;
use crate::sync::fence;

impl Run {
    /// Appends a record.
    pub(crate) fn append_record<const LEN: usize>(
        &mut self,
        record: Record<'_, LEN>,
        around: &Around<'_>,
    ) -> Result<(), Again> {
        let mut bytes = *record.bytes;
        if record.time > 0 {
            let time = self.now(around)?.to_le_bytes();
            for (place, byte) in bytes.iter_mut().skip(2).zip(time).take(record.time.into()) {
                *place = byte;
            }
        }
        if let Some(seq) = bytes.first_mut() {
            *seq = self.next_seq();
        }
        // All bytes at once, by wide instructions: those behind the record are zero, and need no escape.
        let sum = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        if let Some(place) = bytes.get_mut(record.len) {
            *place = !sum;
        }
        let escapes: usize = bytes.iter().fold(0u16, |all, byte| all + u16::from(needs_escape(*byte))).into();
        let frame = bytes.get(..record.len + 1).unwrap_or(&bytes);
        self.append_bytes(
            frame.len() + escapes + 1,
            |memory, start| put(memory, start, frame, escapes),
            around,
        )
    }

    /// Closes the open frame.
    pub(crate) fn close(&mut self, around: &Around<'_>) -> Result<(), Again> {
        if !self.is_open {
            return Ok(());
        }
        let close = self.plan_close(None);
        let reserve = Reserve { head: self.head + close.total as u64, seq: self.next_seq().wrapping_sub(1) };
        self.claim(reserve, around)?;
        self.note_ever(around);
        self.write_close(&close);
        self.stand_at(reserve);
        self.last_len = 0;
        fence();
        around.state.store(reserve.word());
        Ok(())
    }

    /// The time, for a record that tells it.
    fn now(&mut self, around: &Around<'_>) -> Result<u32, Again> {
        match around.clock {
            Some(clock) => self.tell_time(self.read(clock), around),
            None => Ok(0),
        }
    }
}

/// Puts a frame with so many escapes, and its end.
fn put(memory: Memory, start: u64, frame: &[u8], escapes: usize) {
    let end = start + (frame.len() + escapes) as u64;
    if escapes == 0 {
        memory.put_all(start, frame);
    } else {
        let mut at = start;
        for byte in frame {
            if needs_escape(*byte) {
                memory.put(at, ESCAPE);
                at += 1;
            }
            memory.put(at, if needs_escape(*byte) { byte ^ ESCAPE_XOR } else { *byte });
            at += 1;
        }
    }
    memory.put(end, FLAG);
}
