//! A ring file that somebody cuts while it is in use. The system then answers the next access to the part that is gone
//! with SIGBUS. Memory takes the place of that page: the program goes on, and what the page held is lost.
//!
//! A handler that the program installs later takes the place of this one; threads that block SIGBUS are not helped.
//! One of the files that may be `unsafe`. It knows no ring.

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use linux::{forget_all, watch, watch_regions};

/// Only Linux is known well enough.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn watch(_: *mut u8, _: usize, _: usize) {}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn watch_regions() {}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn forget_all() {}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use core::ffi::{c_int, c_void};
    use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use crate::hosted::{mirror, signals, sys};

    /// Mappings that are watched at most: one of each ring, and the bitmap.
    const MOST: usize = 1100;
    /// In a lost page, bytes that are not free: the writer of a frame goes on elsewhere when it finds one.
    const NOT_FREE: u8 = 0xFF;

    /// A part of the ring file in memory.
    struct Mapping {
        start: AtomicUsize,
        len: AtomicUsize,
        /// From here on a lost page is filled with [`NOT_FREE`], before that with zeros.
        frames_at: AtomicUsize,
    }

    static MAPPINGS: [Mapping; MOST] = [const {
        Mapping { start: AtomicUsize::new(0), len: AtomicUsize::new(0), frames_at: AtomicUsize::new(0) }
    }; MOST];
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    static PAGE: AtomicUsize = AtomicUsize::new(0);

    /// Watches `len` bytes at `start`, which are part of a file and stay mapped. Frames begin at `frames_at` of them; in a
    /// bitmap there are none.
    pub(in crate::hosted) fn watch(start: *mut u8, len: usize, frames_at: usize) {
        if let Some(mapping) = MAPPINGS.get(COUNT.fetch_add(1, Ordering::Relaxed)) {
            mapping.len.store(len.next_multiple_of(sys::page_size()), Ordering::Relaxed);
            mapping.frames_at.store(frames_at, Ordering::Relaxed);
            mapping.start.store(start.addr(), Ordering::Release);
        } else {
            COUNT.store(MOST, Ordering::Relaxed);
        }
        watch_regions();
    }

    /// Watches the regions of [`mirror`] that are part of a file.
    pub(in crate::hosted) fn watch_regions() {
        PAGE.store(sys::page_size(), Ordering::Relaxed);
        signals::catch(libc::SIGBUS, on_bus_error);
    }

    /// In a forked child: it has no file mapped.
    pub(in crate::hosted) fn forget_all() {
        MAPPINGS.iter().for_each(|mapping| mapping.start.store(0, Ordering::Relaxed));
        COUNT.store(0, Ordering::Relaxed);
    }

    fn on_bus_error(code: c_int, address: usize) -> bool {
        code == libc::BUS_ADRERR && replace(address)
    }

    /// Puts memory in the place of the page of a ring file at this address; false when there is none.
    fn replace(address: usize) -> bool {
        let is_replaced = mirror::replace_page(address).unwrap_or_else(|| replace_mapped(address));
        static IS_SAID: AtomicBool = AtomicBool::new(false);
        if is_replaced && !IS_SAID.swap(true, Ordering::Relaxed) {
            // Not formatted: the handler's stack may be small.
            sys::write_to_stderr(b"xhist: the ring file was cut while in use: part of the history is lost\n");
        }
        is_replaced
    }

    /// The same for what [`watch`] was called with.
    fn replace_mapped(address: usize) -> bool {
        let page = PAGE.load(Ordering::Relaxed);
        let start = address & !(page - 1);
        let mapping = MAPPINGS.iter().take(COUNT.load(Ordering::Acquire)).find(|mapping| {
            let from = mapping.start.load(Ordering::Acquire);
            from > 0 && (from..from + mapping.len.load(Ordering::Relaxed)).contains(&address)
        });
        let Some(mapping) = mapping else { return false };
        let offset = start - mapping.start.load(Ordering::Relaxed);
        let frames_at = mapping.frames_at.load(Ordering::Relaxed).clamp(offset, offset + page) - offset;
        let Some(memory) = sys::map_anonymous(page) else { return false };
        // SAFETY: the new page is ours, and takes the place of one of a mapping of the recorder's. Other threads see one
        // or the other.
        unsafe {
            memory.add(frames_at).write_bytes(NOT_FREE, page - frames_at);
            let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
            let target = core::ptr::without_provenance_mut::<c_void>(start);
            libc::mremap(memory.cast(), page, page, flags, target) != libc::MAP_FAILED
        }
    }
}
