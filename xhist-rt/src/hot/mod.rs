//! The hot path: what a recorded statement costs.
//!
//! Three words a thread: where the next byte goes, which page it may be on, and the writer for all else. A statement
//! compares its page, writes its byte, moves on. The page word is a lock at the same time, for signal handlers on the
//! same thread only: taking it and comparing the page is one instruction, so a handler comes before or after it.
//!
//! | page word | |
//! |---|---|
//! | a page | the hot path may write statements on it |
//! | [`Site::NONE`] | free, no page |
//! | 0 | a statement of the hot path is under way |
//! | odd | an append on the slow path is under way; [`INSIDE`] a statement of the hot path, [`TOUCHED`] when a handler came in meanwhile |
//!
//! A statement on another page fails to take the lock and leaves its page subtracted; adding it again tells what was
//! there. No page is the difference of others, so nobody takes such a word for a page, and it is a lock as well: where
//! the open frame knows the page, the step to it and the statement are written together, as a statement of two bytes.
//!
//! A free byte in the ring is zero, and codes of statements are added to it: when a handler or the frame's end came
//! before, the sum overflows, and the statement is undone and goes the slow way. A handler that comes inside a
//! statement goes on behind what that has written, and leaves it a byte that tells nothing and is not free.

#[cfg_attr(all(target_arch = "x86_64", target_os = "linux", not(feature = "portable")), path = "x86_64.rs")]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux", not(feature = "portable"))),
    path = "portable.rs"
)]
mod cpu;
mod slow;

pub(crate) use cpu::{record, record_at, tls};
pub(crate) use slow::{
    append, append_record, attach, detach, is_attached, is_inside, is_off, replace, writer,
};

use crate::ring::Writer;
use crate::site::Site;

/// An append on the slow path is under way.
const LOCKED: u64 = 1;
/// The same, inside a statement of the hot path.
const INSIDE: u64 = LOCKED | 4;
/// A handler has appended meanwhile.
const TOUCHED: u64 = 2;

/// What a thread knows of its ring. All zero before its first statement.
#[repr(C)]
pub(crate) struct Tls {
    cursor: *mut u8,
    page: u64,
    writer: *mut Writer,
    /// Where the cursor points when the hot path must not write: no byte is free.
    dead: [u8; 8],
}

/// Records a statement whose numbers are known at run time only.
#[inline(always)]
pub(crate) fn at(file: u16, line: u16) {
    record_at(Site::new(file, line));
}
