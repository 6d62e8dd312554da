//! Counts what no ring has. The first ring takes the number over. If no ring can be made, a spare ring without frames
//! has it.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering, fence};

use qs_core::ring::SPARE_NUMBER;

use crate::hosted::setup::config;
use crate::hosted::setup::config::Config;
use crate::hosted::slots;
use crate::hosted::slots::layout::ring_len;
use crate::hosted::slots::{SLOTS, XHIST_RING, XHIST_RING_LEN};
use crate::hosted::system::shared_state::Published;
use crate::hosted::system::sys;
use crate::hosted::words::HostedHeader;

/// Number of statements and records that no ring has, until the first ring counts them.
static LOST: AtomicU32 = AtomicU32::new(0);
static SPARE: Spare = Spare(UnsafeCell::new(MaybeUninit::zeroed()));
/// A thread lays the spare ring out, or has done it.
static IS_BEGUN: AtomicBool = AtomicBool::new(false);
/// The spare ring, once there is one.
static HEADER: Published<HostedHeader> = Published::null();

/// Bytes of header and data.
const HALF: usize = 4096;

/// A ring without frames, in the program's own memory.
#[repr(align(64))]
struct Spare(UnsafeCell<MaybeUninit<[[u8; HALF]; 2]>>);

// SAFETY: what is laid out once is only changed through atomics.
unsafe impl Sync for Spare {}

impl Spare {
    fn header(&self) -> *mut HostedHeader {
        self.0.get().cast()
    }
}

/// Counts statements and records that no ring has.
pub(crate) fn count_lost(number: u32) {
    if !config::is_off() {
        LOST.fetch_add(number, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        report_lost();
    }
}

/// Moves the number to the first ring, or shows it in the spare one.
pub(crate) fn report_lost() {
    if let Some(header) = SLOTS[0].ring() {
        header.count_dropped(LOST.swap(0, Ordering::SeqCst));
    } else if let Some(header) = spare() {
        header.raise_dropped(LOST.load(Ordering::SeqCst));
    }
}

/// In a forked child, which has lost nothing yet.
pub(crate) fn forget_lost() {
    LOST.store(0, Ordering::Relaxed);
    HEADER.forget();
    IS_BEGUN.store(false, Ordering::Relaxed);
}

fn spare() -> Option<&'static HostedHeader> {
    // SAFETY: the header is published when it is laid out, and what changes in it is atomic.
    unsafe { HEADER.get().as_ref() }
}

/// A `fn(u64)`, or null.
static ON_NO_MEMORY: AtomicPtr<()> = AtomicPtr::new(null_mut());

/// Has this function called when there is no memory for a ring, with the number of bytes.
pub(crate) fn on_no_memory(report: fn(u64)) {
    ON_NO_MEMORY.store(report as *mut (), Ordering::Release);
}

/// Reports once that there is no memory for a ring. Without any ring, nothing else reports it.
#[cold]
pub(crate) fn report_no_memory(config: &Config) {
    static IS_REPORTED: AtomicBool = AtomicBool::new(false);
    if SLOTS[0].ring().is_none() && !IS_BEGUN.swap(true, Ordering::Relaxed) {
        let header = SPARE.header();
        // SAFETY: the memory is that of a header, all zeros before, and only this thread uses it until then.
        HEADER.publish(header, || unsafe {
            (&raw mut (*header).number).write(SPARE_NUMBER);
            (*header).init(HALF, HALF as u32, 0, 0, slots::map_hash(config));
            (*header).pid = sys::pid();
        });
        report_lost();
        XHIST_RING_LEN.store(2 * HALF as u64, Ordering::Relaxed);
        // Another thread may have made the first ring meanwhile.
        let _ = XHIST_RING.compare_exchange(null_mut(), header, Ordering::Release, Ordering::Relaxed);
        let line = b"xhist: there is no memory for a ring (XHIST_SIZE): this thread is not recorded\n";
        sys::write_all(2, line.as_ptr(), line.len());
    }
    if !IS_REPORTED.swap(true, Ordering::Relaxed) {
        let report = ON_NO_MEMORY.load(Ordering::Acquire);
        if !report.is_null() {
            // SAFETY: `on_no_memory` stores nothing else.
            let report = unsafe { core::mem::transmute::<*mut (), fn(u64)>(report) };
            report(ring_len(config.size) as u64);
        }
    }
}

/// The spare ring as memory, if there is no other ring.
pub(crate) fn ring() -> Option<(*const u8, usize)> {
    let spare = spare().filter(|_| slots::numbered_rings().next().is_none())?;
    Some(((&raw const *spare).cast(), 2 * HALF))
}
