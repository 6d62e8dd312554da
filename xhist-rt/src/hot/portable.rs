//! The hot path where no other is written: the same steps with atomic operations of the thread on its own words.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use super::Tls;
use super::slow::{full, miss};
use crate::site::Site;

std::thread_local! {
    // Without a destructor, so that it works before the thread is set up and while it ends.
    static TLS: UnsafeCell<Tls> = const {
        UnsafeCell::new(Tls {
            cursor: core::ptr::null_mut(),
            page: 0,
            writer: core::ptr::null_mut(),
            dead: [0; 8],
        })
    };
}

/// This thread's words.
#[inline(always)]
pub(crate) fn tls() -> *mut Tls {
    TLS.with(UnsafeCell::get)
}

fn page_word<'a>(tls: *mut Tls) -> &'a AtomicU64 {
    // SAFETY: the word is this thread's, aligned, and only touched through atomics and volatile accesses.
    unsafe { AtomicU64::from_ptr(&raw mut (*tls).page) }
}

/// Records that a statement is about to run.
#[inline(always)]
pub(crate) fn record(site: Site) {
    let tls = tls();
    let page = u64::from(site.page());
    if page_word(tls).compare_exchange(page, 0, Relaxed, Relaxed).is_err() {
        page_word(tls).fetch_sub(page, Relaxed);
        return miss(site.page(), site.code());
    }
    // SAFETY: while the lock is held the cursor points to a byte of the open frame, its end, or a dead byte.
    unsafe {
        let cursor = (&raw const (*tls).cursor).read_volatile();
        if AtomicU8::from_ptr(cursor).compare_exchange(0, site.code(), Relaxed, Relaxed).is_err() {
            return full(site);
        }
        (&raw mut (*tls).cursor).write_volatile(cursor.wrapping_add(1));
    }
    page_word(tls).store(page, Relaxed);
}

/// Adds to the page word, as one operation.
#[inline(always)]
pub(super) fn add_to_page(tls: *mut Tls, value: u64) {
    page_word(tls).fetch_add(value, Relaxed);
}
