//! The mask of profile events: a bit for each opcode, which the program and the host can change at any time.

use core::ops::{Bound, RangeBounds};

use super::Opcodes;
use crate::bits::Bits;

static MASK: Bits<8> = Bits::new(Opcodes::NONE.0);

/// Whether a profile event is on. With a constant opcode, this is a load and a test of a bit.
#[inline(always)]
pub fn is_profiled(opcode: u8) -> bool {
    cfg!(feature = "trace") && MASK.has(opcode)
}

/// All opcodes that are on.
pub fn opcodes() -> Opcodes {
    Opcodes(MASK.get())
}

/// Switches profile events on: `trace::enable(33..=40)`. At start, all are off. Not for signal handlers.
pub fn enable(opcodes: impl RangeBounds<u8>) {
    switch(opcodes, true);
}

/// Switches profile events off. Not for signal handlers.
pub fn disable(opcodes: impl RangeBounds<u8>) {
    switch(opcodes, false);
}

/// Replaces the whole mask. An opcode whose state does not change is never switched in between.
pub(crate) fn set(opcodes: Opcodes) {
    MASK.change(|_| opcodes.0);
}

fn switch(opcodes: impl RangeBounds<u8>, is_on: bool) {
    let first = match opcodes.start_bound() {
        Bound::Included(first) => u16::from(*first),
        Bound::Excluded(before) => u16::from(*before) + 1,
        Bound::Unbounded => 0,
    };
    let behind = match opcodes.end_bound() {
        Bound::Included(last) => u16::from(*last) + 1,
        Bound::Excluded(behind) => u16::from(*behind),
        Bound::Unbounded => 256,
    };
    let switched = |mask: Opcodes, opcode| mask.with(opcode as u8, is_on);
    MASK.change(|mask| (first..behind).fold(Opcodes(mask), switched).0);
}
