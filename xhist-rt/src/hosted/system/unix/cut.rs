//! Survives a ring file that another process truncates while it is in use. The next access to the missing part raises
//! SIGBUS. The handler here makes the file as long as it was, with zeros, and each thread begins its history again at
//! its next roll-over. Where that is not possible, because the disk is full or the program has closed the file, the
//! handler replaces the page with memory: the program continues, and the page's content is lost.
//!
//! A thread that blocks SIGBUS is not protected: the kernel ends the process. The program's own handlers of SIGBUS run
//! like that. So the recorder looks at the file before each of them, where the file may have been cut already.

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::{forget_all, report_loss, watch, watch_regions};

/// Other systems behave differently or were not tested.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn watch(_: *mut u8, _: usize, _: usize, _: fn(bool) -> Option<bool>) {}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn watch_regions(_: fn(bool) -> Option<bool>) {}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn forget_all() {}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn report_loss() {}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use core::ffi::{c_int, c_void};
    use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use crate::hosted::system::sys::memory::{map_anonymous, page_size};
    use crate::hosted::system::sys::messages::write_to_stderr;
    use crate::hosted::system::sys::signals;
    use crate::hosted::system::{mirror, sandbox};

    /// The largest number of watched mappings: one for each ring, and the bitmap.
    const MAX_MAPPINGS: usize = 1100;
    /// Fills a lost page. These bytes are not free, so a writer of frames that finds one continues elsewhere.
    const NOT_FREE: u8 = 0xFF;

    /// After this number of signals for one page, which the length of the file does not explain, the page is replaced.
    const PATIENCE: usize = 1000;

    /// Makes the ring file as long as it was, and fills its holes if asked to. Returns whether it was shorter; `None` if
    /// that is not possible.
    type Grow = fn(fills_holes: bool) -> Option<bool>;

    /// A [`Grow`], or 0.
    static GROW: AtomicUsize = AtomicUsize::new(0);
    /// The page of the newest signal, and the number of its signals in a row.
    static PAGE: AtomicUsize = AtomicUsize::new(0);
    static SIGNALS: AtomicUsize = AtomicUsize::new(0);

    /// A part of the ring file in memory.
    struct Mapping {
        start: AtomicUsize,
        len: AtomicUsize,
        /// A lost page is filled with [`NOT_FREE`] from here on, and with zeros before that.
        frames_at: AtomicUsize,
    }

    static MAPPINGS: [Mapping; MAX_MAPPINGS] = [const {
        Mapping { start: AtomicUsize::new(0), len: AtomicUsize::new(0), frames_at: AtomicUsize::new(0) }
    }; MAX_MAPPINGS];
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    static PAGE_SIZE: AtomicUsize = AtomicUsize::new(0);

    /// Watches `len` bytes at `start`, which are part of a file and stay mapped. Frames begin at `frames_at` of them;
    /// a bitmap has no frames.
    pub(crate) fn watch(start: *mut u8, len: usize, frames_at: usize, grow: Grow) {
        if let Some(mapping) = MAPPINGS.get(COUNT.fetch_add(1, Ordering::Relaxed)) {
            mapping.len.store(len.next_multiple_of(page_size()), Ordering::Relaxed);
            mapping.frames_at.store(frames_at, Ordering::Relaxed);
            mapping.start.store(start.addr(), Ordering::Release);
        } else {
            COUNT.store(MAX_MAPPINGS, Ordering::Relaxed);
        }
        watch_regions(grow);
    }

    /// Watches the regions of [`mirror`] that are part of a file.
    pub(crate) fn watch_regions(grow: Grow) {
        GROW.store(grow as usize, Ordering::Release);
        PAGE_SIZE.store(page_size(), Ordering::Relaxed);
        signals::catch(libc::SIGBUS, on_bus_error);
    }

    /// Ends all watches in a forked child, which has no file mapped.
    pub(crate) fn forget_all() {
        MAPPINGS.iter().for_each(|mapping| mapping.start.store(0, Ordering::Relaxed));
        COUNT.store(0, Ordering::Relaxed);
    }

    /// The check of SIGBUS. Returns false if the signal has another reason. Then the program's handler may be next, and a
    /// filter of system calls may kill for a look at the file.
    fn on_bus_error(code: c_int, address: usize) -> bool {
        let is_ours = code == libc::BUS_ADRERR && (grow_again(address) || replace_page(address));
        if !is_ours && !sandbox::is_on() {
            grow(false);
        }
        is_ours
    }

    /// Makes the ring file as long as it was. Returns false if the address is in no ring file, or if that is not
    /// possible or does not help.
    fn grow_again(address: usize) -> bool {
        if !mirror::has(address) && mapping_of(address).is_none() {
            return false;
        }
        let page = address & !(PAGE_SIZE.load(Ordering::Relaxed) - 1);
        if PAGE.swap(page, Ordering::Relaxed) != page {
            SIGNALS.store(0, Ordering::Relaxed);
        }
        grow(true).is_some() && SIGNALS.fetch_add(1, Ordering::Relaxed) < PATIENCE
    }

    /// Calls the [`Grow`] that there is, and reports a file that was shorter.
    fn grow(fills_holes: bool) -> Option<bool> {
        let grow = GROW.load(Ordering::Acquire);
        if grow == 0 {
            return None;
        }
        // SAFETY: only `watch_regions` stores here, apart from 0 at the start.
        let grow = unsafe { core::mem::transmute::<usize, Grow>(grow) };
        let was_shorter = grow(fills_holes)?;
        if was_shorter {
            SIGNALS.store(0, Ordering::Relaxed);
            report_loss();
        }
        Some(was_shorter)
    }

    /// Reports a ring file that was shorter than it had been, and is as long again.
    pub(crate) fn report_loss() {
        static IS_REPORTED: AtomicBool = AtomicBool::new(false);
        report(
            &IS_REPORTED,
            b"xhist: the ring file was cut while in use: what it held is lost, recording goes on\n",
        );
    }

    /// Prints a text once. It is not formatted, because the handler may have a small stack.
    fn report(is_reported: &AtomicBool, text: &[u8]) {
        if !is_reported.swap(true, Ordering::Relaxed) {
            write_to_stderr(text);
        }
    }

    /// Replaces the page of a ring file at this address with memory. Returns false if the address is in no ring file.
    fn replace_page(address: usize) -> bool {
        let is_replaced = mirror::replace_page(address).unwrap_or_else(|| replace_mapped(address));
        static IS_REPORTED: AtomicBool = AtomicBool::new(false);
        if is_replaced {
            report(
                &IS_REPORTED,
                b"xhist: the ring file was cut while in use and cannot grow: part of the history is lost\n",
            );
        }
        is_replaced
    }

    /// The mapping that [`watch`] got with this address.
    fn mapping_of(address: usize) -> Option<&'static Mapping> {
        MAPPINGS.iter().take(COUNT.load(Ordering::Acquire)).find(|mapping| {
            let from = mapping.start.load(Ordering::Acquire);
            from > 0 && (from..from + mapping.len.load(Ordering::Relaxed)).contains(&address)
        })
    }

    /// [`replace_page`] for a mapping that [`watch`] got.
    fn replace_mapped(address: usize) -> bool {
        let page = PAGE_SIZE.load(Ordering::Relaxed);
        let start = address & !(page - 1);
        let Some(mapping) = mapping_of(address) else { return false };
        let offset = start - mapping.start.load(Ordering::Relaxed);
        let frames_at = mapping.frames_at.load(Ordering::Relaxed).clamp(offset, offset + page) - offset;
        let Some(memory) = map_anonymous(page) else { return false };
        // SAFETY: this function has just mapped the new page. It replaces a page of a mapping of the recorder, and
        // other threads see either the old or the new one.
        unsafe {
            memory.add(frames_at).write_bytes(NOT_FREE, page - frames_at);
            let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
            let target = core::ptr::without_provenance_mut::<c_void>(start);
            libc::mremap(memory.cast(), page, page, flags, target) != libc::MAP_FAILED
        }
    }
}
