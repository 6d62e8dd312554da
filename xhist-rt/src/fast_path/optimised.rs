//! A statement in optimised code: plain stores, which the compiler may merge, and a cursor that it may keep in a
//! register.

use core::sync::atomic::Ordering::Relaxed;

use qs_core::record::words::Word;

use super::cpu::call_roll_over;
use super::word::word;
use crate::slow_path::record_without_word;
use crate::thread_state::{ThreadState, tls};

/// Records that a statement is about to run.
#[inline(always)]
pub(crate) fn record<const FILE: u16, const LINE: u16, const NUMBER: u32>() {
    let tls = tls();
    // SAFETY: `tls` points to the state of this thread. Between two checks the cursor points to room for words: the
    // checks that `xhist-instrument` inserts bound the words between them, see `crate::words`.
    unsafe { put::<FILE, LINE, NUMBER>(tls, (*tls).cursor) };
}

/// [`record`] after a check for room.
#[inline(always)]
pub(crate) fn entry<const FILE: u16, const LINE: u16, const NUMBER: u32>() {
    let tls = tls();
    // SAFETY: `tls` points to the state of this thread. After the check the cursor points to room for a word.
    unsafe {
        let mut cursor = (*tls).cursor;
        if cursor.addr() >= limit(tls) {
            cursor = call_roll_over(cursor);
        }
        put::<FILE, LINE, NUMBER>(tls, cursor);
    }
}

/// The limit of this thread.
///
/// An atomic load would keep the compiler from moving and merging all stores around it, and a comparison with memory
/// takes one instruction less. The compiler cannot keep the value in a register, because a store of a word may change
/// any memory.
///
/// # Safety
/// `tls` points to the state of the calling thread.
#[inline(always)]
unsafe fn limit(tls: *const ThreadState) -> usize {
    const LOADS_ARE_WHOLE: bool = cfg!(all(
        any(target_arch = "x86_64", target_arch = "aarch64"),
        target_os = "linux",
        not(feature = "portable")
    ));
    // SAFETY: the caller passes the state of its thread. Other threads only store whole aligned words here. These
    // processors load such a word as a whole, and the code works with each value that was ever stored.
    unsafe {
        match LOADS_ARE_WHOLE {
            true => (&raw const (*tls).limit).cast::<usize>().read(),
            false => (*tls).limit.load(Relaxed),
        }
    }
}

/// Stores the word and moves the cursor behind it.
///
/// # Safety
/// `tls` points to the state of the calling thread. At `cursor` there is room for a word.
#[inline(always)]
unsafe fn put<const FILE: u16, const LINE: u16, const NUMBER: u32>(tls: *mut ThreadState, cursor: *mut u8) {
    // SAFETY: the caller promises room for a word and the state of its thread. Neither store needs an aligned address.
    unsafe {
        match const { word(FILE, LINE, NUMBER) } {
            Some(Word::Short(bytes)) => {
                cursor.cast::<[u8; 2]>().write(bytes);
                (*tls).cursor = cursor.add(2);
            }
            Some(Word::Long(bytes)) => {
                cursor.cast::<[u8; 4]>().write(bytes);
                (*tls).cursor = cursor.add(4);
            }
            None => {
                (*tls).cursor = cursor;
                record_without_word(FILE, LINE);
            }
        }
    }
}
