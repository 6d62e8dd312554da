//! The hot path on x86-64 Linux: seven instructions and two constants in a loop.
//!
//! In assembly where an instruction must be one instruction, because handlers come in between two. The thread-local
//! words are reached as in a program's own code (initial-exec), because a call for their address, which is what the
//! compiler makes in a library, costs more than all the rest.

use core::arch::{asm, global_asm};

use super::Tls;
use super::slow::{full, miss};
use crate::site::Site;

global_asm!(
    ".pushsection .tbss.xhist_tls,\"awT\",@nobits",
    ".globl xhist_tls",
    ".hidden xhist_tls",
    ".type xhist_tls,@object",
    ".size xhist_tls,32",
    ".p2align 5",
    "xhist_tls:",
    ".zero 32",
    ".popsection",
);

const _: () = assert!(size_of::<Tls>() == 32);

/// This thread's words.
#[inline(always)]
pub(crate) fn tls() -> *mut Tls {
    let tls: *mut Tls;
    // SAFETY: reads the thread's base and an offset that the linker knows; always the same on a thread.
    unsafe {
        asm!(
            "mov {tls}, qword ptr [rip + xhist_tls@GOTTPOFF]",
            "add {tls}, qword ptr fs:[0]",
            tls = out(reg) tls,
            options(pure, nomem, nostack),
        );
    }
    tls
}

/// Records that a statement is about to run.
#[inline(always)]
pub(crate) fn record(site: Site) {
    let tls = tls();
    let page = u64::from(site.page());
    // SAFETY: the words are this thread's. While the lock is held the cursor points to a byte of the open frame, its
    // end, or a dead byte, all of them writable; a byte that is not free is put back as it was.
    unsafe {
        asm!(
            "sub qword ptr [{tls} + 8], {page}",
            "jne {miss}",
            tls = in(reg) tls,
            page = in(reg) page,
            miss = label { return miss(site.page(), site.code()) },
            options(nostack),
        );
        let cursor = (&raw const (*tls).cursor).read_volatile();
        asm!(
            "add byte ptr [{cursor}], {code}",
            "jc {full}",
            cursor = in(reg) cursor,
            code = in(reg_byte) site.code(),
            full = label { return overflow(site.page(), site.code(), cursor) },
            options(nostack),
        );
        (&raw mut (*tls).cursor).write_volatile(cursor.wrapping_add(1));
        (&raw mut (*tls).page).write_volatile(page);
    }
}

/// The byte was not free: takes back what was added to it.
#[cold]
#[inline(never)]
fn overflow(page: u32, code: u8, cursor: *mut u8) {
    // SAFETY: the byte was written a moment ago, and handlers leave it as it is.
    unsafe { cursor.write_volatile(cursor.read_volatile().wrapping_sub(code)) };
    full(Site::at(page, code));
}

/// Adds to the page word, as one instruction.
#[inline(always)]
pub(super) fn add_to_page(tls: *mut Tls, value: u64) {
    // SAFETY: the word is this thread's.
    unsafe {
        asm!("add qword ptr [{tls} + 8], {value}", tls = in(reg) tls, value = in(reg) value, options(nostack))
    };
}
