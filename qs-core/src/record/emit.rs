//! Writes a record as the bytes of its frame.

use super::field::{Fields, Kind, Sizes};
use crate::frame::FrameWriter;

/// A record of [`RECORDS`](super::RECORDS) with its values.
pub trait Record {
    /// The record id.
    const ID: u8;
    /// Whether the record starts with a time stamp.
    const TIMED: bool;
    /// Writes the fields, in their order.
    fn put(&self, to: &mut impl Fields);
}

/// A frame as the destination of fields.
struct Writer<S: FnMut(u8)> {
    frame: FrameWriter<S>,
    sizes: Sizes,
}

impl<S: FnMut(u8)> Writer<S> {
    #[inline(always)]
    fn number(&mut self, size: u8, value: u64) {
        self.frame.push(&value.to_le_bytes()[..usize::from(size).min(8)]);
    }
}

impl<S: FnMut(u8)> Fields for Writer<S> {
    #[inline(always)]
    fn number(&mut self, kind: Kind, value: u64) {
        self.number(self.sizes.of(kind).unwrap_or(0), value);
    }

    #[inline(always)]
    fn bytes(&mut self, bytes: &[u8]) {
        self.frame.push(bytes);
    }
}

/// Writes the frame of a record into `sink`. Records without a time stamp ignore `time`.
///
/// ```
/// # use qs_core::record::{Obj, SemTake, Sizes, emit};
/// let mut bytes = Vec::new();
/// let record = SemTake { obj: Obj(0x2000_0020), thread: 5, count: 1 };
/// emit(&record, 0x4D, 123_456, Sizes::DEFAULT, |byte| bytes.push(byte));
/// assert_eq!(bytes, [0x4D, 0x47, 0x40, 0xE2, 1, 0, 0x20, 0, 0, 0x20, 5, 1, 2, 0x7E]);
/// ```
#[inline]
pub fn emit<R: Record>(record: &R, seq: u8, time: u32, sizes: Sizes, sink: impl FnMut(u8)) {
    let mut writer = Writer { frame: FrameWriter::new(seq, R::ID, sink), sizes };
    if R::TIMED {
        writer.number(sizes.time, time.into());
    }
    record.put(&mut writer);
    writer.frame.finish();
}
