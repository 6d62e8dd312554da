//! The hot path where no other is written: the same steps with atomic operations of the thread on its own words.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use qs_core::record::packed::step;

use super::slow::{full, is_free, miss};
use super::{TOUCHED, Tls};
use crate::ring::{AT, Writer};
use crate::site::{Site, place_of};

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

/// Records that this statement is about to run.
#[inline(always)]
pub(crate) fn record<const FILE: u16, const LINE: u16>() {
    record_at(const { Site::new(FILE, LINE) });
}

/// As [`record`], for a statement that is known at run time only.
#[inline(always)]
pub(crate) fn record_at(site: Site) {
    let tls = tls();
    let page = u64::from(site.page());
    if page_word(tls).compare_exchange(page, 0, Relaxed, Relaxed).is_err() {
        page_word(tls).fetch_sub(page, Relaxed);
        return if !turn(tls, site) {
            miss(site.page(), site.turn())
        };
    }
    // SAFETY: while the lock is held the cursor points to a byte of the open frame, its end, or a dead byte.
    unsafe {
        let cursor = (&raw const (*tls).cursor).read_volatile();
        if AtomicU8::from_ptr(cursor).compare_exchange(0, site.code(), Relaxed, Relaxed).is_err() {
            return full(site.page(), site.turn());
        }
        (&raw mut (*tls).cursor).write_volatile(cursor.wrapping_add(1));
    }
    page_word(tls).store(page, Relaxed);
}

/// Turns the page to one that the open frame knows, as a statement of two bytes; false when there is more to do.
#[cold]
#[inline(never)]
fn turn(tls: *mut Tls, site: Site) -> bool {
    let page = u64::from(site.page());
    // SAFETY: the word is this thread's. The writer first: one that is taken away leaves no page behind.
    let writer = unsafe { (&raw const (*tls).writer).read_volatile() };
    let found = page_word(tls).load(Relaxed).wrapping_add(page);
    if !is_free(found) || found & TOUCHED != 0 {
        return false;
    }
    // SAFETY: where there was a page, there is a writer, and the cursor points to bytes as in `record_at`, of which there
    // are two. A handler goes on behind a byte that it finds written, or has written itself.
    unsafe {
        let cursor = (&raw const (*tls).cursor).read_volatile();
        let Some(number) = known(writer, site.page(), cursor) else { return false };
        let put = |at: usize, byte: u8| {
            AtomicU8::from_ptr(cursor.wrapping_add(at)).compare_exchange(0, byte, Relaxed, Relaxed).is_ok()
        };
        let has_room = AtomicU8::from_ptr(cursor.wrapping_add(1)).load(Relaxed) == 0;
        if !has_room || !put(0, step::RECENT + number) || !put(1, site.code()) {
            return false;
        }
        (&raw mut (*tls).cursor).write_volatile(cursor.wrapping_add(2));
    }
    page_word(tls).store(page, Relaxed);
    true
}

/// The number that the open frame keeps a page under; `None` also where it is to look at the clock first.
///
/// # Safety
/// The writer is valid.
unsafe fn known(writer: *mut Writer, page: u32, cursor: *mut u8) -> Option<u8> {
    let first = place_of(page);
    // SAFETY: the caller's; a place is less than the number of pages.
    unsafe {
        let run = writer.byte_add(Writer::RUN_AT);
        let pages = run.byte_add(AT.pages).cast::<u32>();
        let mark_at = run.byte_add(AT.mark_at).cast::<*mut u8>().read_volatile();
        let is_at = |place: &usize| cursor < mark_at && pages.add(*place).read_volatile() == page;
        [first, first ^ 1].into_iter().find(is_at).map(|place| place as u8)
    }
}

/// Adds to the page word, as one operation.
#[inline(always)]
pub(super) fn add_to_page(tls: *mut Tls, value: u64) {
    page_word(tls).fetch_add(value, Relaxed);
}
