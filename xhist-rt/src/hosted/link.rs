//! The stream of a link: the closed frames of all rings, with sequence numbers of its own.
//!
//! It reads rings while they are written, between two reads of their header, and no thread waits. Bytes that are
//! overwritten before they are read are missing in the stream, and it skips their sequence numbers.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::vec::Vec;

use qs_core::frame::{FLAG, renumber, sequence_number};
use qs_core::record::chunk::Chunk;
use qs_core::record::{EventKind, RECORD_BASE, ids};
use qs_core::ring::{HOSTED_HEADER_LEN, Header};

use crate::hosted::slots;
use crate::trace::{self, Code, Severity};

/// Bytes that are read from a ring at a time, unless a frame is longer.
const PIECE: u64 = 64 * 1024;

static LINK: Mutex<Link> = Mutex::new(Link::new());

struct Link {
    seq: u8,
    /// How far each ring was read.
    taken: Vec<RingProgress>,
    /// The ring of the last frame.
    ring: Option<usize>,
    /// Frames that the program has not fetched yet.
    frames: VecDeque<u8>,
    /// Number of bytes that were overwritten before they were read, since the last report.
    overrun: u64,
}

/// How far a ring was read.
#[derive(Clone, Copy, Default)]
struct RingProgress {
    /// When its thread got it. If another thread gets it, it counts as a new ring.
    start_time: u64,
    /// Number of bytes that earlier threads wrote into it.
    earlier: u64,
    position: u64,
    seq: u8,
}

/// Takes the next bytes of the stream that a link sends. Returns their number, 0 without new bytes.
///
/// The stream has the records and closed frames of all threads; [`flush`](super::flush) closes this thread's frame.
/// An event, [`Code::RING_OVERRUN`], reports bytes that were overwritten before they were taken.
pub fn get_block(buffer: &mut [u8]) -> usize {
    let (len, overrun) = {
        let mut link = LINK.lock().unwrap_or_else(PoisonError::into_inner);
        if link.frames.len() < buffer.len() {
            link.fetch();
        }
        let len = buffer.len().min(link.frames.len());
        buffer.iter_mut().zip(link.frames.drain(..len)).for_each(|(place, byte)| *place = byte);
        (len, std::mem::take(&mut link.overrun))
    };
    if overrun > 0 {
        trace::noticed(Severity::Sw1, Code::RING_OVERRUN, overrun);
    }
    len
}

/// Takes the next byte.
pub fn get_byte() -> Option<u8> {
    let mut byte = [0];
    (get_block(&mut byte) == 1).then_some(byte[0])
}

impl Link {
    const fn new() -> Link {
        Link { seq: 0, taken: Vec::new(), ring: None, frames: VecDeque::new(), overrun: 0 }
    }

    /// Reads the new frames of every ring.
    fn fetch(&mut self) {
        for (number, start, len) in slots::numbered_rings() {
            if self.taken.len() <= number {
                self.taken.resize(number + 1, RingProgress::default());
            }
            let read = |offset: usize, into: &mut [u8]| {
                for (byte, place) in into.iter_mut().zip(offset..len) {
                    // SAFETY: `len` bytes from `start` on stay mapped. Other threads write them, so they are read as
                    // volatile, and used only as far as the header confirms them.
                    *byte = unsafe { start.add(place).read_volatile() };
                }
            };
            let mut taken = self.taken[number];
            let (frames, overrun) = taken.look(&read, &|| slots::by_earlier(number));
            self.overrun += overrun;
            self.taken[number] = taken;
            self.add(number, &frames);
        }
    }

    /// Adds whole frames of a ring, after an event that names their thread.
    fn add(&mut self, number: usize, frames: &[u8]) {
        for frame in frames.split_inclusive(|byte| *byte == FLAG) {
            let (Some(taken), Some(seq)) = (self.taken.get_mut(number), sequence_number(frame)) else {
                return;
            };
            let missing = seq.wrapping_sub(taken.seq).wrapping_sub(1);
            taken.seq = seq;
            if self.ring.is_some_and(|ring| ring != number) || self.ring.is_none() && number > 0 {
                self.seq = self.seq.wrapping_add(1);
                let put = |byte| self.frames.push_back(byte);
                EventKind::Thread.emit(self.seq, RECORD_BASE, 0, number as u64, put);
            }
            self.ring = Some(number);
            self.seq = self.seq.wrapping_add(missing).wrapping_add(1);
            match Chunk::parse(frame, RECORD_BASE + ids::PACKED) {
                None => renumber(frame, self.seq, |byte| self.frames.push_back(byte)),
                Some(chunk) => {
                    // The first record of a cut chunk has the chunk's number.
                    self.seq = self.seq.wrapping_sub(1);
                    for cut in chunk.cut() {
                        self.seq = self.seq.wrapping_add(1);
                        cut.emit(self.seq, RECORD_BASE, |byte| self.frames.push_back(byte));
                    }
                }
            }
        }
    }
}

impl RingProgress {
    /// The new whole frames of a ring, and how many bytes were overwritten before. `by_earlier` returns the number of
    /// bytes that earlier threads wrote.
    fn look(&mut self, read: &dyn Fn(usize, &mut [u8]), by_earlier: &dyn Fn() -> u64) -> (Vec<u8>, u64) {
        let mut piece = PIECE;
        loop {
            let (frames, overrun, is_short) = self.look_at(piece, read, by_earlier);
            if frames.is_empty() && overrun == 0 && is_short {
                piece *= 2;
                continue;
            }
            return (frames, overrun);
        }
    }

    /// [`RingProgress::look`] with at most `piece` bytes. Also returns whether a longer piece may have more.
    fn look_at(
        &mut self,
        piece: u64,
        read: &dyn Fn(usize, &mut [u8]),
        by_earlier: &dyn Fn() -> u64,
    ) -> (Vec<u8>, u64, bool) {
        let header = || {
            let mut bytes = [0; HOSTED_HEADER_LEN];
            read(0, &mut bytes);
            Header::parse(&bytes).ok()
        };
        let earlier = by_earlier();
        // If another thread gets the ring between the two, the next look detects it.
        let Some(before) = header().filter(|_| by_earlier() == earlier) else {
            return (Vec::new(), 0, false);
        };
        let mut untaken = 0;
        if before.start_time != self.start_time {
            untaken = earlier.saturating_sub(self.earlier + self.position);
            // The stream shows this loss, too.
            let seq = if untaken > 0 { u8::MAX } else { 0 };
            let position = before.words.begin.unwrap_or(0);
            *self = RingProgress { start_time: before.start_time, earlier, position, seq };
        }
        let nothing = (Vec::new(), untaken, false);
        let from = self.position.max(before.kept());
        let behind = before.state.head().min(from + piece);
        let is_short = behind < before.state.head();
        if behind <= from {
            return nothing;
        }
        let mut frames = std::vec![0; (behind - from) as usize];
        let index = from as usize % before.size;
        let (first, rest) = frames.split_at_mut((before.size - index).min((behind - from) as usize));
        read(before.header_len + index, first);
        read(before.header_len, rest);
        let Some(after) = header().filter(|after| after.start_time == before.start_time) else {
            return nothing;
        };
        // Drops what may have been overwritten meanwhile, and the rest of a frame that was cut.
        let mut start = after.kept().saturating_sub(from) as usize;
        if start > 0 || from > self.position {
            let flag = frames.iter().skip(start).position(|byte| *byte == FLAG);
            start = flag.map_or(frames.len(), |flag| start + flag + 1);
        }
        let overrun = untaken + from - self.position + start as u64;
        let end = frames.iter().rposition(|byte| *byte == FLAG).map_or(0, |flag| flag + 1);
        self.position = from + end.max(start.min(frames.len())) as u64;
        frames.truncate(end);
        frames.drain(..start.min(end));
        (frames, overrun, is_short)
    }
}
