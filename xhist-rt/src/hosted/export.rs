//! Export of the rings to a descriptor, as in the Xhist paper: `xhist_logdev` names it,
//! `xhist_write` writes. Both may run in a signal handler or at exit.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

use super::{foreign, sys, threads};
use crate::trace::{self, Code, Severity};

static LOG_DEVICE: AtomicI32 = AtomicI32::new(-1);

/// Names the open file or socket that [`xhist_write`] writes to; a negative number names none.
#[unsafe(no_mangle)]
pub extern "C" fn xhist_logdev(fd: c_int) {
    LOG_DEVICE.store(fd, Ordering::Relaxed);
}

/// Writes every ring to the descriptor of [`xhist_logdev`], oldest thread first.
///
/// Takes no argument and is async-signal-safe, so it can be installed as a signal handler and
/// with `atexit`. A ring whose thread goes on running is written as it changes; the report finds
/// the last whole frame. Does nothing without a descriptor, and gives up at a write error, which an event tells of:
/// [`Code::LINK_LOST`].
///
/// Threads that call it at once write one after another. A handler that interrupts it returns at once; all rings are
/// then written once more.
#[unsafe(no_mangle)]
pub extern "C" fn xhist_write() {
    let fd = LOG_DEVICE.load(Ordering::Relaxed);
    if fd >= 0 {
        sys::keeping_errno(|| match Turn::take() {
            Taken::Ours(turn) => turn.write(fd),
            Taken::Again => {}
            Taken::Never => {
                trace::noticed(Severity::Sw2, Code::LINK_LOST, u64::from(libc::EBUSY.unsigned_abs()))
            }
        });
    }
}

/// The thread that writes: process and thread id, 0 for none.
static WRITER: AtomicU64 = AtomicU64::new(0);
/// A handler interrupted the thread that writes, and wants all rings written.
static AGAIN: AtomicBool = AtomicBool::new(false);

/// The right to write; only one thread has it.
struct Turn(u64);

enum Taken {
    Ours(Turn),
    /// This thread has it further up its stack, and writes all once more.
    Again,
    /// The thread that has it does not come to an end.
    Never,
}

impl Turn {
    /// Waits for the thread that writes, asleep, as one waits for a slow reader.
    fn take() -> Taken {
        const NAP_NANOS: u32 = 100_000;
        const PATIENCE_NANOS: u64 = 10_000_000_000;
        let own = u64::from(sys::pid()) << 32 | u64::from(sys::tid());
        let give_up_at = sys::nanos() + PATIENCE_NANOS;
        loop {
            let found = WRITER.load(Ordering::Relaxed);
            if found == own {
                AGAIN.store(true, Ordering::Relaxed);
                return Taken::Again;
            }
            // In a forked child the parent's thread is not there.
            let is_free = found == 0 || found >> 32 != own >> 32;
            if is_free && WRITER.compare_exchange(found, own, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return Taken::Ours(Turn(own));
            }
            if sys::nanos() > give_up_at {
                return Taken::Never;
            }
            sys::sleep(NAP_NANOS);
        }
    }

    /// Writes all rings, and once more when a handler asked for it meanwhile.
    fn write(self, fd: c_int) {
        for is_last in [false, true] {
            AGAIN.store(false, Ordering::Relaxed);
            foreign::look();
            if !threads::rings().all(|(start, len)| sys::write_all(fd, start, len)) {
                trace::noticed(Severity::Sw2, Code::LINK_LOST, sys::last_error());
            }
            if is_last || !AGAIN.load(Ordering::Relaxed) {
                break;
            }
        }
        let _ = WRITER.compare_exchange(self.0, 0, Ordering::Release, Ordering::Relaxed);
    }
}

/// Whether there is a descriptor to write to.
pub(super) fn is_on() -> bool {
    LOG_DEVICE.load(Ordering::Relaxed) >= 0
}

pub(super) extern "C" fn on_signal(_signal: c_int) {
    xhist_write();
}

pub(super) extern "C" fn on_exit() {
    threads::on_process_exit();
    if is_on() {
        xhist_write();
    }
}
