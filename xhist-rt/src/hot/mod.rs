//! The hot path: what a recorded statement costs.
//!
//! A statement stores its word and moves the cursor, by plain stores that the compiler may merge. Whether there is room is
//! asked at function entries and heads of loops only: there the cursor is compared with the limit, and a full chunk takes
//! the *turn*, a call that keeps the caller's registers. Between two checks the words may go on into the slack behind the
//! limit, see [`crate::words`].
//!
//! The cursor may be in any register while it moves on, so its word in memory may be behind. It is exact at every call, the
//! turn included, because a call may read it. A signal handler finds the end of the words by looking for it.
//!
//! Each file is one step: where the thread's words are (`x86_64`, `aarch64`, `portable`), a statement in optimised code
//! (`optimised`) and in unoptimised code (`unoptimised`), all that is not a statement (`slow`), the turn where each statement
//! has a stamp (`single`), and signal handlers (`handlers`).

#[cfg_attr(all(target_arch = "x86_64", target_os = "linux", not(feature = "portable")), path = "x86_64.rs")]
#[cfg_attr(all(target_arch = "aarch64", target_os = "linux", not(feature = "portable")), path = "aarch64.rs")]
#[cfg_attr(
    not(all(
        any(target_arch = "x86_64", target_arch = "aarch64"),
        target_os = "linux",
        not(feature = "portable")
    )),
    path = "portable.rs"
)]
mod cpu;
mod handlers;
#[cfg_attr(
    all(debug_assertions, target_arch = "x86_64", target_os = "linux", not(feature = "portable")),
    expect(dead_code, reason = "statements are `unoptimised`")
)]
pub(crate) mod optimised;
mod single;
mod slow;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(feature = "portable")))]
pub(crate) mod unoptimised;
/// Elsewhere there is only one way.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(feature = "portable"))))]
pub(crate) use optimised as unoptimised;

use core::cell::UnsafeCell;
use core::sync::atomic::AtomicUsize;

use qs_core::record::Statement;
use qs_core::record::words::Word;

pub(crate) use cpu::tls;
pub(crate) use handlers::{Handlers, end, has_track, moved, set_up};
#[cfg(not(debug_assertions))]
pub(crate) use optimised::{entry, record};
pub(crate) use slow::{
    Append, Track, append, append_record, ask, at, attach, count_lost_words, detach, is_attached, is_off,
    settle, track, words,
};
#[cfg(debug_assertions)]
pub(crate) use unoptimised::{entry, record};

/// What a thread knows of its ring. In the program's image `cursor` is [`SCRATCH`] and all else is zero.
#[repr(C)]
pub(crate) struct Tls {
    /// Where the next word goes.
    pub(crate) cursor: *mut u8,
    /// The next check takes the turn when the cursor is here or behind; 0 = at once. Others may set it to 0.
    pub(crate) limit: AtomicUsize,
    /// The slow path's, see [`slow`].
    pub(crate) track: *mut Track,
    /// Its signal handlers; null while none ran.
    pub(crate) handlers: *mut Handlers,
}

/// Bytes of [`SCRATCH`]: more than a thread writes before its first check.
const SCRATCH_LEN: usize = 64 * 1024;

/// Where words go before a thread's first check. Nobody reads them.
#[repr(align(64))]
pub(crate) struct Scratch(
    #[allow(dead_code, reason = "only its address is used")] UnsafeCell<[u8; SCRATCH_LEN]>,
);

// SAFETY: nobody reads the bytes, and any bytes are good ones.
unsafe impl Sync for Scratch {}

pub(crate) static SCRATCH: Scratch = Scratch(UnsafeCell::new([0; SCRATCH_LEN]));

/// The word of a statement.
#[inline(always)]
const fn word(file: u16, line: u16, number: u32) -> Option<Word> {
    Word::new(Statement { file, line }, number)
}
