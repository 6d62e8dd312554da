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
    use core::cell::UnsafeCell;
    use core::ffi::{c_int, c_void};
    use core::mem::MaybeUninit;
    use core::ptr::null_mut;
    use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use crate::hosted::{mirror, sys};

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

    /// The action that there was before ours.
    struct Previous(UnsafeCell<MaybeUninit<libc::sigaction>>);

    // SAFETY: it is written once, before the handler that reads it is installed.
    unsafe impl Sync for Previous {}

    static PREVIOUS: Previous = Previous(UnsafeCell::new(MaybeUninit::uninit()));

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
        static IS_INSTALLED: AtomicBool = AtomicBool::new(false);
        if !IS_INSTALLED.swap(true, Ordering::Relaxed) {
            PAGE.store(sys::page_size(), Ordering::Relaxed);
            install();
        }
    }

    /// In a forked child: it has no file mapped.
    pub(in crate::hosted) fn forget_all() {
        MAPPINGS.iter().for_each(|mapping| mapping.start.store(0, Ordering::Relaxed));
        COUNT.store(0, Ordering::Relaxed);
    }

    fn install() {
        // SAFETY: `PREVIOUS` is read by the handler only, which is not installed before it is written. The new action is
        // as initialised as the one that it starts from; the handler keeps to async-signal-safe calls.
        unsafe {
            let previous = (*PREVIOUS.0.get()).as_mut_ptr();
            // A program that is started by this one inherits an ignored signal, and not a handled one.
            if libc::sigaction(libc::SIGBUS, core::ptr::null(), previous) != 0
                || (*previous).sa_sigaction == libc::SIG_IGN
            {
                return;
            }
            let mut action = *previous;
            action.sa_flags = match action.sa_sigaction {
                libc::SIG_DFL => libc::SA_ONSTACK,
                _ => action.sa_flags & !libc::SA_RESETHAND,
            } | libc::SA_SIGINFO;
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_bus_error;
            action.sa_sigaction = handler as usize;
            libc::sigaction(libc::SIGBUS, &action, null_mut());
        }
    }

    extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        // SAFETY: the system calls with a description of the signal.
        let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
        if code != libc::BUS_ADRERR || !sys::keeping_errno(|| replace(address)) {
            pass_on(signal, code, info, context);
        }
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

    /// Does as if this handler were not there.
    fn pass_on(signal: c_int, code: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        // SAFETY: it was written before the handler was installed.
        let mut previous = unsafe { (*PREVIOUS.0.get()).assume_init() };
        let (handler, flags) = (previous.sa_sigaction, previous.sa_flags);
        if handler == libc::SIG_DFL || flags & libc::SA_RESETHAND != 0 {
            previous.sa_sigaction = libc::SIG_DFL;
            // SAFETY: the action is initialised.
            unsafe { libc::sigaction(signal, &previous, null_mut()) };
        }
        match handler {
            // The instruction runs again and raises the signal again; one that was sent has to be sent again.
            libc::SIG_DFL => {
                if code <= 0 || code == libc::BUS_MCEERR_AO {
                    // SAFETY: has no conditions.
                    unsafe { libc::raise(signal) };
                }
            }
            // SAFETY: the program installed a function of this type.
            _ if flags & libc::SA_SIGINFO != 0 => unsafe {
                type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
                core::mem::transmute::<usize, Handler>(handler)(signal, info, context);
            },
            // SAFETY: as above.
            _ => unsafe { core::mem::transmute::<usize, extern "C" fn(c_int)>(handler)(signal) },
        }
    }
}
