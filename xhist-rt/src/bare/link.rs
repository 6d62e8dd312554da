//! What a link takes out of the ring while the program runs: the records and the closed frames of statements.

use core::cell::Cell;

use critical_section::Mutex;
use qs_core::frame::{Checksum, ESCAPE, ESCAPE_XOR, FLAG};

use super::{frame, memory, writer};
use crate::trace::{self, Code, Severity};

/// Makes a good sum a bad one.
const SPOILT: u8 = 1;

/// How far the link has taken the ring.
static TAKEN: Mutex<Cell<Taken>> =
    Mutex::new(Cell::new(Taken { position: 0, last: FLAG, sum: Checksum::NONE, skips: false, overrun: 0 }));

/// See [`TAKEN`].
#[derive(Clone, Copy)]
struct Taken {
    position: u64,
    /// The byte taken last.
    last: u8,
    /// Of what was taken of a frame.
    sum: Checksum,
    /// It was overtaken, so the rest of a frame is passed over.
    skips: bool,
    /// Bytes that were overwritten before they were taken, since that was told.
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

/// Takes the next bytes of the stream that a link sends; how many. 0 when nothing is there.
///
/// The stream has the records and the closed frames of statements; [`flush`] closes the open one. What is overwritten
/// before it is taken is missing in it; the sequence number of the next frame tells, and, once all the rest is taken, an event,
/// [`Code::RING_OVERRUN`].
pub fn get_block(buffer: &mut [u8]) -> usize {
    // Short critical sections, so that interrupts are not kept off.
    const PIECE: usize = 32;
    let mut len = 0;
    for piece in buffer.chunks_mut(PIECE) {
        let (taken, overrun) = critical_section::with(|token| {
            let cell = TAKEN.borrow(token);
            let mut taken = cell.get();
            let count = writer::with_any(|_| take(&mut taken, piece));
            // Told when nothing is left that the telling could overwrite.
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

/// Takes the next byte.
pub fn get_byte() -> Option<u8> {
    let mut byte = [0];
    (get_block(&mut byte) == 1).then_some(byte[0])
}

/// Closes the frame that statements are in, so that a link can take them.
pub fn flush() {
    frame::flush();
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
        // A flag ends what was taken of a frame before the rest was passed over, or it would spoil the next one. Behind an
        // escape it would be data, and where the sum is good by chance, the rest would not be missed: there a byte comes before.
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
