//! Encoder: one record in, the stuffed bytes of its frame out to a closure.

use super::{ESCAPE, ESCAPE_XOR, FLAG, needs_escape};

/// The running checksum of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checksum(pub(super) u8);

impl Checksum {
    /// The checksum of no bytes.
    pub const NONE: Checksum = Checksum(0);

    /// Adds one byte, as it was before escaping.
    #[inline]
    pub fn add(&mut self, byte: u8) {
        self.0 = self.0.wrapping_add(byte);
    }

    /// The checksum byte of the frame.
    #[inline]
    pub const fn finish(self) -> u8 {
        !self.0
    }

    /// Whether the bytes added so far, including the checksum byte, are a valid frame.
    #[inline]
    pub const fn is_good(self) -> bool {
        self.0 == 0xFF
    }
}

/// Writes one frame, field by field, into `sink`. All numbers are little-endian.
///
/// ```
/// # use qs_core::frame::FrameWriter;
/// let mut bytes = Vec::new();
/// FrameWriter::new(0x7E, 0x7D, |byte| bytes.push(byte)).bytes(&[0x7D, 0x08, 0x01]).finish();
/// // The worked example of the protocol page.
/// assert_eq!(bytes, [0x7D, 0x5E, 0x7D, 0x5D, 0x7D, 0x5D, 0x08, 0x01, 0x7D, 0x5E, 0x7E]);
/// ```
pub struct FrameWriter<S: FnMut(u8)> {
    sink: S,
    checksum: Checksum,
}

impl<S: FnMut(u8)> FrameWriter<S> {
    /// Starts the frame of record `id`. `seq` is one more than that of the previous frame, modulo 256.
    #[inline]
    pub fn new(seq: u8, id: u8, sink: S) -> FrameWriter<S> {
        let mut writer = FrameWriter { sink, checksum: Checksum::default() };
        writer.put(seq);
        writer.put(id);
        writer
    }

    /// Appends bytes of payload.
    #[inline]
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> FrameWriter<S> {
        self.push(bytes);
        self
    }

    /// Appends bytes of payload.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.put(*byte);
        }
    }

    /// Appends one byte of payload.
    #[inline]
    #[must_use]
    pub fn u8(self, value: u8) -> FrameWriter<S> {
        self.bytes(&[value])
    }

    /// Appends two bytes of payload.
    #[inline]
    #[must_use]
    pub fn u16(self, value: u16) -> FrameWriter<S> {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends four bytes of payload.
    #[inline]
    #[must_use]
    pub fn u32(self, value: u32) -> FrameWriter<S> {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends eight bytes of payload.
    #[inline]
    #[must_use]
    pub fn u64(self, value: u64) -> FrameWriter<S> {
        self.bytes(&value.to_le_bytes())
    }

    /// Ends the frame: checksum and flag.
    #[inline]
    pub fn finish(mut self) {
        self.put(self.checksum.finish());
        (self.sink)(FLAG);
    }

    #[inline]
    fn put(&mut self, byte: u8) {
        self.checksum.add(byte);
        escaped(byte, &mut self.sink);
    }
}

/// Writes a byte, escaped if needed.
#[inline]
pub fn escaped(byte: u8, mut sink: impl FnMut(u8)) {
    if needs_escape(byte) {
        sink(ESCAPE);
        sink(byte ^ ESCAPE_XOR);
    } else {
        sink(byte);
    }
}
