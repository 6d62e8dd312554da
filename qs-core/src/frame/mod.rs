//! The HDLC-like frame of the QS data protocol, "Transparency" and "Data Protocol" sections:
//! `sequence number, record id, payload, checksum, flag`.
//!
//! The checksum is the inverted 8-bit sum of all bytes before it. Flag and escape bytes
//! inside a frame are sent as the escape byte, then the byte XOR 0x20.

mod decode;
mod encode;
mod renumber;

pub use decode::{Cause, Damage, Decoder, Frame, Outcome};
pub(crate) use decode::{Ended, FrameEnd};
pub use encode::{Checksum, FrameWriter, escaped};
pub use renumber::{renumber, sequence_number};

/// Ends a frame. It occurs nowhere else.
pub const FLAG: u8 = 0x7E;
/// The next byte was XOR-ed with [`ESCAPE_XOR`].
pub const ESCAPE: u8 = 0x7D;
/// The value with which an escaped byte is XOR-ed.
pub const ESCAPE_XOR: u8 = 0x20;
/// Largest record in bytes: sequence number, id, payload and checksum before escaping. QSPY has this limit.
pub const MAX_RECORD: usize = 512;
/// Largest payload of a record in bytes.
pub const MAX_PAYLOAD: usize = MAX_RECORD - 3;

/// Whether `byte` must be escaped inside a frame.
#[inline]
pub const fn needs_escape(byte: u8) -> bool {
    byte == FLAG || byte == ESCAPE
}
