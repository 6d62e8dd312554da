//! Which profile events are on: a bit for each opcode, which the program and the host may change while events are written.

use core::ops::{Bound, RangeBounds};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use super::Opcodes;
use crate::shared::Shared;

static MASK: [AtomicU32; 8] = [const { AtomicU32::new(0) }; 8];

/// Whether a profile event is on. Where the opcode is a constant, as it should be, this is a load and a test of a bit.
#[inline(always)]
pub fn is_profiled(opcode: u8) -> bool {
    cfg!(feature = "trace") && MASK[usize::from(opcode / 32)].load(Relaxed) >> (opcode % 32) & 1 != 0
}

/// All opcodes that are on.
pub fn opcodes() -> Opcodes {
    Opcodes(core::array::from_fn(|word| MASK[word].load(Relaxed)))
}

/// Switches these on: `trace::enable(33..=40)`. At first all are off. Not for signal handlers.
pub fn enable(opcodes: impl RangeBounds<u8>) {
    switch(opcodes, true);
}

/// Switches these off. Not for signal handlers.
pub fn disable(opcodes: impl RangeBounds<u8>) {
    switch(opcodes, false);
}

/// Switches all at once: each opcode is on or off, and never in between.
pub(crate) fn set(opcodes: Opcodes) {
    change(|_| opcodes);
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
    change(|mask| (first..behind).fold(mask, |mask, opcode| mask.with(opcode as u8, is_on)));
}

fn change(how: impl FnOnce(Opcodes) -> Opcodes) {
    static TURN: Shared<()> = Shared::new(());
    TURN.with(|()| {
        let Opcodes(changed) = how(opcodes());
        MASK.iter().zip(changed).for_each(|(word, changed)| word.store(changed, Relaxed));
    });
}
