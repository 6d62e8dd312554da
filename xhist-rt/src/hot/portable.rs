//! Where a thread's words are in any other place, and how the turn is called: as any function.

use core::cell::UnsafeCell;
use core::sync::atomic::AtomicUsize;

use super::slow::turned;
use super::{SCRATCH, Tls};

std::thread_local! {
    // Without a destructor, so that it works before the thread is set up and while it ends.
    static TLS: UnsafeCell<Tls> = const {
        UnsafeCell::new(Tls {
            cursor: (&raw const SCRATCH).cast_mut().cast(),
            limit: AtomicUsize::new(0),
            track: core::ptr::null_mut(),
            handlers: core::ptr::null_mut(),
        })
    };
}

/// This thread's words.
#[inline(always)]
pub(crate) fn tls() -> *mut Tls {
    TLS.with(UnsafeCell::get)
}

/// A chunk is full, or somebody asks for a turn: where the words go on.
#[cold]
#[inline(never)]
pub(super) fn turn(cursor: *mut u8) -> *mut u8 {
    turned(cursor)
}
