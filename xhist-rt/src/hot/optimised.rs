//! A statement where the compiler optimises: plain stores, which it may merge, and a cursor that it may keep in a register.

use core::sync::atomic::Ordering::Relaxed;

use qs_core::record::words::Word;

use super::cpu::turn;
use super::{Tls, tls, word};

/// Records that a statement is about to run.
#[inline(always)]
pub(crate) fn record<const FILE: u16, const LINE: u16, const NUMBER: u32>() {
    let tls = tls();
    // SAFETY: the words are this thread's; between two checks the cursor points to room for words, see `crate::words`.
    unsafe { put::<FILE, LINE, NUMBER>(tls, (*tls).cursor) };
}

/// The same, behind a check for room.
#[inline(always)]
pub(crate) fn entry<const FILE: u16, const LINE: u16, const NUMBER: u32>() {
    let tls = tls();
    // SAFETY: as above.
    unsafe {
        let mut cursor = (*tls).cursor;
        if cursor.addr() >= limit(tls) {
            cursor = turn(cursor);
        }
        put::<FILE, LINE, NUMBER>(tls, cursor);
    }
}

/// This thread's limit.
///
/// An atomic load would keep the compiler from moving and merging all stores around it, and comparing with memory takes
/// one instruction less. The compiler cannot keep the value: a word that is stored may be anywhere.
///
/// # Safety
/// `tls` are this thread's words.
#[inline(always)]
unsafe fn limit(tls: *const Tls) -> usize {
    const IS_KNOWN: bool = cfg!(all(
        any(target_arch = "x86_64", target_arch = "aarch64"),
        target_os = "linux",
        not(feature = "portable")
    ));
    // SAFETY: the caller's. Others store whole aligned words here at most, which these processors load as one; any value
    // that was ever stored is a good one.
    unsafe {
        match IS_KNOWN {
            true => (&raw const (*tls).limit).cast::<usize>().read(),
            false => (*tls).limit.load(Relaxed),
        }
    }
}

/// Stores the word and moves the cursor behind it.
///
/// # Safety
/// The thread's words are at `tls`, and at `cursor` is room for a word.
#[inline(always)]
unsafe fn put<const FILE: u16, const LINE: u16, const NUMBER: u32>(tls: *mut Tls, cursor: *mut u8) {
    // SAFETY: the caller's. Neither address needs to be aligned.
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
                super::slow::record_alone(FILE, LINE);
            }
        }
    }
}
