//! Values on bare metal: steps in the frames of statements. A value that does not fit into the open frame closes it.

use qs_core::record::packed::step;
use qs_core::record::value::RecordedValue;

use super::draft::{FrameDraft, MAX_VALUE};
use super::interrupt;
use super::mask::masked;
use super::statement::page;
use super::writer::{ROOM, TRIES};
use crate::value::bytes::recorded;
use crate::value::kept;
use crate::value::types::{add_row, key};

/// Largest number of bytes before those of a value: the step, its number, length, and type key.
const HEAD: usize = 1 + 5 + 2 + 7;
/// Largest number of bytes of a step to an interrupt.
const INTERRUPT: usize = 5;
/// Number of bytes of a value that a frame has room for. Three of them take four.
const MOST_BYTES: usize = {
    let room = (ROOM - HEAD - INTERRUPT) / 4 * 3;
    if room < 32 { room } else { 32 }
};
const _: () = assert!(HEAD + MOST_BYTES.div_ceil(3) * 4 <= MAX_VALUE);

/// Records the first `MOST` bytes of a value.
#[inline(always)]
pub(crate) fn own<const NUMBER: u32, const MOST: usize, const IS_GENERIC: bool, T>(value: &T) {
    add_row::<NUMBER, IS_GENERIC, T>();
    let from = (&raw const *value).cast();
    let len = const { if kept::<T>(MOST) < MOST_BYTES { kept::<T>(MOST) } else { MOST_BYTES } };
    // SAFETY: all bytes of a value may be read.
    unsafe { record_value(NUMBER, key::<IS_GENERIC, T>(), from, len) };
}

/// Records a value whose target is not recorded here: a ring is small, and behind a reference may be a device. Eight bytes are
/// a reference, or a wide one of 32 bits.
#[inline(always)]
pub(crate) fn target<const NUMBER: u32, const MOST: usize, const IS_GENERIC: bool, T>(value: &T) {
    own::<NUMBER, 8, IS_GENERIC, T>(value);
}

/// # Safety
/// `len` bytes may be read from `from` on.
#[inline(never)]
unsafe fn record_value(number: u32, type_key: Option<u32>, from: *const u8, len: usize) {
    // SAFETY: the caller promises the bytes.
    put_value(&unsafe { recorded(number, type_key, from, len) });
}

#[inline(never)]
pub(super) fn put_value(value: &RecordedValue) {
    let mut draft = FrameDraft::new();
    for _ in 0..TRIES {
        draft.begin();
        if draft.writer.is_muted {
            return;
        }
        let is_last = draft.advance_to_value(value);
        if draft.commit() && is_last {
            return;
        }
    }
    masked(|| put_value(value));
}

impl FrameDraft {
    /// Lists a value, or the end of a frame without room for it. Returns whether the value is listed.
    fn advance_to_value(&mut self, value: &RecordedValue) -> bool {
        let interrupt = interrupt::number();
        let current = self.writer.pages.get(usize::from(self.writer.place)).copied().unwrap_or_default();
        let len = if self.writer.is_open() {
            let len = self.writer.len();
            self.writer.catch_up(len);
            self.write_at(self.writer.data.wrapping_add(len as u32));
            if interrupt != self.writer.interrupt {
                self.push_interrupt(interrupt);
            }
            self.push_value(value);
            if len + self.len() > ROOM {
                self.close(len);
                (self.writer.last, self.writer.last_len) = (self.writer.data, len as u8);
                return false;
            }
            self.writer.interrupt = interrupt;
            len + self.len()
        } else {
            // No statement has the code of a value, so this frame is not folded.
            let writer = &mut self.writer;
            (writer.pages[0], writer.first_interrupt) = (current, interrupt);
            (writer.folded, writer.last_len) = (0, 0);
            self.head(page(current));
            let head_len = self.len();
            if interrupt != 0 {
                self.push_interrupt(interrupt);
            }
            self.push_value(value);
            self.writer.start();
            self.len() - head_len
        };
        self.push(step::FREE);
        self.writer.go_to(current, len);
        true
    }

    fn push_value(&mut self, value: &RecordedValue) {
        self.push(step::VALUE);
        value.operands(|byte| self.push(byte));
    }
}
