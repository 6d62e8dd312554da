//! The header of a hosted ring, and what is told in it beside the frames.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU16, Ordering::Relaxed};

use qs_core::ring::{self as layout, NAME_LEN, NESTED, Status};

use super::Header;
use crate::sync::{Word, fence};

/// Field for field `qs_core::ring`'s layout.
#[repr(C)]
pub(crate) struct HostedHeader {
    pub(super) base: Header,
    pub(super) last_time: Word,
    pub(super) nested: [Part; NESTED],
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    status: u32,
    pub(crate) number: u16,
    /// In the first ring: how many its process has made, so that a reader misses none.
    rings: AtomicU16,
    /// Bytes that threads wrote into this ring before its thread got it.
    earlier: Word,
    reserved: [u64; 3],
    pub(crate) start_time: u64,
    cleared: Word,
    cleared_repeats: u64,
    pub(crate) name: [u8; NAME_LEN],
}

/// A ring without frames, in the program's own memory: it counts what is lost while no ring could be made.
pub(crate) struct Spare(UnsafeCell<MaybeUninit<SpareRing>>);

#[repr(C)]
struct SpareRing {
    header: HostedHeader,
    data: [u8; layout::MIN_SIZE as usize],
}

// SAFETY: what is laid out once is only changed through atomics.
unsafe impl Sync for Spare {}

impl Spare {
    /// Bytes of the header and of what is behind it.
    pub(crate) const LEN: usize = size_of::<SpareRing>();

    pub(crate) const fn new() -> Spare {
        Spare(UnsafeCell::new(MaybeUninit::zeroed()))
    }

    pub(crate) const fn header(&self) -> *mut HostedHeader {
        self.0.get().cast()
    }

    /// Lays it out. Two threads that come at once do the same.
    pub(crate) fn init(&self, pid: u32, map_hash: u64) {
        let header = self.header();
        // SAFETY: the memory is that of a header, all zeros before; only its counter changes later, which stays.
        unsafe {
            (&raw mut (*header).number).write(layout::SPARE_NUMBER);
            (*header).init(layout::MIN_SIZE, 0, 0, map_hash);
            (*header).pid = pid;
        }
    }

    /// So much was lost until now.
    pub(crate) fn set_dropped(&self, count: u32) {
        // SAFETY: the word is atomic.
        unsafe { (*self.header()).base.dropped.store(count, Relaxed) };
    }
}

/// What a signal handler wrote.
#[repr(C)]
pub(super) struct Part {
    pub(super) start: Word,
    pub(super) state: Word,
}

const _: () = {
    assert!(size_of::<HostedHeader>() == layout::HOSTED_HEADER_LEN);
    assert!(core::mem::offset_of!(HostedHeader, nested) == 72);
    assert!(core::mem::offset_of!(HostedHeader, status) == 128);
    assert!(core::mem::offset_of!(HostedHeader, rings) == 134);
    assert!(core::mem::offset_of!(HostedHeader, earlier) == 136);
    assert!(core::mem::offset_of!(HostedHeader, start_time) == 168);
    assert!(core::mem::offset_of!(HostedHeader, name) == 192);
    assert!(core::mem::offset_of!(HostedHeader, cleared) == layout::CLEARED_OFFSET);
};

impl HostedHeader {
    /// Lays out an empty ring of `size` bytes.
    pub(crate) fn init(&mut self, size: u32, time_width: u8, flags: u8, map_hash: u64) {
        self.last_time.store(0);
        for part in &self.nested {
            part.start.store(0);
        }
        self.cleared.store(0);
        self.status = Status::Live.code();
        // The first ring tells of threads without rings, too, whoever uses it.
        if self.number > 0 {
            self.base.dropped.store(0, Relaxed);
        }
        self.base.init(layout::HOSTED_HEADER_LEN, size, time_width, flags, map_hash);
    }

    /// Says in the first ring that there are `rings` of them, at least.
    pub(crate) fn count_rings(&self, rings: u16) {
        self.rings.fetch_max(rings, Relaxed);
    }

    /// Which map the program was instrumented with.
    pub(crate) fn set_map_hash(&self, hash: u64) {
        self.base.map_hash.store(hash);
    }
}

/// Counts statements that could not be kept.
///
/// # Safety
/// `header` is a ring's memory.
pub(crate) unsafe fn count_dropped(header: *mut HostedHeader, statements: u32) {
    // SAFETY: the word is atomic.
    unsafe { (*header).base.count_dropped(statements) };
}

/// Counts what its owner wrote among the bytes of earlier owners: it gets another.
///
/// # Safety
/// `header` is a laid-out ring whose owner has ended.
pub(crate) unsafe fn count_earlier(header: *mut HostedHeader) {
    // SAFETY: the words are atomic.
    unsafe {
        let written = layout::State((*header).base.state.load()).head();
        (*header).earlier.store((*header).earlier.load() + written);
    }
    fence();
}

/// Bytes of closed frames that earlier owners wrote.
///
/// # Safety
/// `header` is a laid-out ring.
pub(crate) unsafe fn earlier(header: *mut HostedHeader) -> u64 {
    // SAFETY: the word is atomic.
    unsafe { (*header).earlier.load() }
}

/// Tells readers where the owner stands.
///
/// # Safety
/// `header` is a laid-out ring.
pub(crate) unsafe fn set_status(header: *mut HostedHeader, status: Status) {
    // SAFETY: a plain word that only readers of the ring look at.
    unsafe { (&raw mut (*header).status).write_volatile(status.code()) };
}

/// Where the owner stands.
///
/// # Safety
/// `header` is a laid-out ring.
pub(crate) unsafe fn status_code(header: *mut HostedHeader) -> u32 {
    // SAFETY: as in `set_status`.
    unsafe { (&raw const (*header).status).read_volatile() }
}

/// Tells readers the ticks of the clock a second.
///
/// # Safety
/// `header` is a laid-out ring.
pub(crate) unsafe fn set_clock_hz(header: *mut HostedHeader, hz: u32) {
    // SAFETY: as in `set_status`.
    unsafe { (&raw mut (*header).base.clock_hz).write_volatile(hz) };
}
