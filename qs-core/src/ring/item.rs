//! Items: what a reader yields from a ring of any layout.

use super::repetition::Repetition;
use crate::frame::{Damage, Frame};
use crate::record::value::RecordedValue;
use crate::record::{Statement, TaskMark};

/// An item of a ring's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// A statement ran. With the low 4 bytes of the clock, if its frame has them.
    Statement(Statement, Option<u32>),
    /// A step of an async task. With the low 4 bytes of the clock, if its frame has them.
    Task(TaskMark, Option<u32>),
    /// The bytes of a variable, behind the statement before. With the low 4 bytes of the clock, if its frame has them.
    Value(RecordedValue, Option<u32>),
    /// The newest statements ran again, without being written again.
    Repetition(Repetition),
    /// Another record. Its `missing` is the number of frames missing before it.
    Frame(Frame<'a>),
    /// Number of frames missing before the next statement, modulo 256.
    Missing(u8),
    /// Bytes that are not a valid frame.
    Damaged(Damage),
    /// The image ends before the ring does.
    Cut {
        /// Number of the ring's bytes that are not in the image.
        missing: u64,
    },
    /// The newest frame is not the last one in the header's count.
    Torn {
        /// Sequence number of the last frame in the header.
        expected: u8,
    },
    /// Behind the prologue, the ring has overwritten frames, as rings do. No frame before this one belongs to those behind it.
    Overwritten {
        /// Number of their bytes.
        bytes: u64,
    },
    /// More words were written than the ring had room for. Which of the newest words are older ones is not known. Earlier
    /// items are correct.
    Overrun,
}
