//! The stream for a link: records and closed frames of statements, taken from the ring while the program runs.

use core::cell::Cell;

use critical_section::Mutex;
use qs_core::frame::{Checksum, ESCAPE, ESCAPE_XOR, FLAG};

use super::cores::{self, CORES};
use super::{memory, writer};
use crate::trace::{self, Code, Severity};

/// A byte that makes a valid sum invalid.
const SPOILT: u8 = 1;

/// How far the link has taken the ring of each core.
static TAKEN: [Mutex<Cell<Taken>>; CORES] = [const {
    Mutex::new(Cell::new(Taken { position: 0, last: FLAG, sum: Checksum::NONE, skips: false, overrun: 0 }))
}; CORES];

/// Progress of the link.
#[derive(Clone, Copy)]
struct Taken {
    position: u64,
    /// The byte taken last.
    last: u8,
    /// The sum of the bytes of the current frame.
    sum: Checksum,
    /// The link was overtaken, so the rest of a frame is skipped.
    skips: bool,
    /// Number of bytes that were overwritten before they were taken, and that are not reported yet.
    overrun: u64,
}

impl Taken {
    fn put(&mut self, byte: u8) {
        match (self.last, byte) {
            (_, FLAG) => self.sum = Checksum::NONE,
            (_, ESCAPE) => {}
            (ESCAPE, byte) => self.sum.add(byte ^ ESCAPE_XOR),
            (_, byte) => self.sum.add(byte),
        }
        self.last = byte;
    }
}

/// Takes the next bytes of the stream for a link, and returns their number. 0 = no bytes are available.
///
/// The stream has the records and the closed frames of statements; [`flush`](super::flush) closes the open one. What is overwritten
/// before it is taken is missing in it; the sequence number of the next frame shows the gap, and an event
/// [`Code::RING_OVERRUN`] reports it once all the rest is taken.
///
/// With the feature `multi-core` each core has a stream of its own: that of the core that calls this.
pub fn get_block(buffer: &mut [u8]) -> usize {
    // Short critical sections, so interrupts are not delayed.
    const PIECE: usize = 32;
    let Some(own) = TAKEN.get(cores::current()) else { return 0 };
    let mut len = 0;
    for piece in buffer.chunks_mut(PIECE) {
        let (taken, overrun) = critical_section::with(|token| {
            let cell = own.borrow(token);
            let mut taken = cell.get();
            let count = writer::with_any(|_| take(&mut taken, piece));
            // Reported when no bytes are left that the report could overwrite.
            let overrun = if count < piece.len() { core::mem::take(&mut taken.overrun) } else { 0 };
            cell.set(taken);
            (count, overrun)
        });
        if overrun > 0 {
            trace::noticed(Severity::Sw1, Code::RING_OVERRUN, overrun);
        }
        len += taken;
        if taken < piece.len() {
            break;
        }
    }
    len
}

/// Takes the next byte of the stream, see [`get_block`].
pub fn get_byte() -> Option<u8> {
    let mut byte = [0];
    (get_block(&mut byte) == 1).then_some(byte[0])
}

/// Takes bytes up to the end of the closed frames.
fn take(taken: &mut Taken, into: &mut [u8]) -> usize {
    let (head, kept) = (memory::state().head(), memory::kept());
    if taken.position < kept {
        let overrun = taken.overrun + (kept - taken.position);
        *taken = Taken { position: kept, skips: kept > 0, overrun, ..*taken };
    }
    let mut len = 0;
    while let Some(place) = into.get_mut(len).filter(|_| taken.position < head) {
        let byte = memory::get(taken.position as u32);
        if taken.skips && (byte != FLAG || taken.last == FLAG) {
            taken.position += 1;
            taken.skips = byte != FLAG;
            continue;
        }
        // A flag ends a partly taken frame; otherwise it would damage the next one. Another byte comes first in two cases:
        // behind an escape, where the flag would be data, and if the sum is valid by chance, where the cut would not show.
        let spoils = taken.skips && (taken.last == ESCAPE || taken.sum.is_good());
        let byte = if spoils { SPOILT } else { byte };
        *place = byte;
        len += 1;
        taken.put(byte);
        if !spoils {
            taken.position += 1;
            taken.skips = false;
        }
    }
    len
}
