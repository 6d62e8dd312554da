//! The prologue: the first frames of a history. The header keeps a copy of them when the ring is about to overwrite the
//! first one, once in a history. So what ran first stays next to what ran last.
//!
//! No reader looks at the bytes before the header says where they end, and nothing changes them afterwards.

use qs_core::frame::FLAG;
use qs_core::ring::{CheckedPosition, PROLOGUE_AT};

use super::header::HostedHeader;
use super::memory::{MirroredMemory, publish};

/// The prologue is kept, or cannot be kept.
const NEVER: u64 = u64::MAX;

/// When to keep the prologue of one history, and the room for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prologue {
    /// Zeroing beyond this position overwrites the first frame.
    due: u64,
    room: usize,
}

impl Prologue {
    /// Of a ring of `size` bytes, behind a header of `header_len` bytes.
    pub(super) const fn new(header_len: usize, size: usize) -> Prologue {
        Prologue { due: size as u64, room: header_len.saturating_sub(PROLOGUE_AT) }
    }

    /// The history begins again at this position, in a ring of `size` bytes.
    pub(super) const fn begin_again(&mut self, first: u64, size: usize) {
        self.due = first + size as u64;
    }

    /// Whether zeroing up to this position overwrites a first frame that is not kept yet.
    #[inline(always)]
    pub(super) const fn is_due(&self, to: u64) -> bool {
        to > self.due
    }

    /// Keeps the first closed frames, as many as there is room for, in the header. They end before position `head`, and
    /// bytes up to position `written` were written so far.
    ///
    /// # Safety
    /// The header has the length that [`Prologue::new`] got, and only this thread writes it.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn keep(
        &mut self,
        memory: MirroredMemory,
        header: *mut HostedHeader,
        head: u64,
        written: u64,
    ) {
        let due = core::mem::replace(&mut self.due, NEVER);
        // Words that ran on without a check may have overwritten the first frame.
        if written > due || due == NEVER {
            return;
        }
        let first = due - memory.size as u64;
        let closed = head.saturating_sub(first).min(self.room as u64);
        let closed = memory.bytes(first, closed as usize);
        // Only the end of a frame is a flag.
        let Some(flag) = closed.iter().rposition(|byte| *byte == FLAG) else { return };
        // SAFETY: the caller gives a header that has this room behind its fields. The frames are elsewhere, in the ring.
        let header = unsafe {
            let to = header.cast::<u8>().add(PROLOGUE_AT);
            to.copy_from_nonoverlapping(closed.as_ptr(), flag + 1);
            &*header
        };
        publish(&header.prologue, CheckedPosition::at(first + flag as u64 + 1).0);
    }
}
