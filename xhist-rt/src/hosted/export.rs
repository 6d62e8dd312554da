//! Export of the rings to a descriptor, as in the Xhist paper: `xhist_logdev` names it,
//! `xhist_write` writes. Both may run in a signal handler or at exit.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

use crate::hosted::slots::{foreign, numbered_rings, spare};
use crate::hosted::system::sys;
use crate::hosted::threads;
use crate::trace::{self, Code, Severity};

static LOG_DEVICE: AtomicI32 = AtomicI32::new(-1);

/// Names the open file or socket that [`xhist_write`] writes to; a negative number names none.
#[unsafe(no_mangle)]
pub extern "C" fn xhist_logdev(fd: c_int) {
    LOG_DEVICE.store(fd, Ordering::Relaxed);
}

/// Writes every ring to the descriptor of [`xhist_logdev`], oldest thread first.
///
/// It takes no argument and is async-signal-safe, so it can be installed as a signal handler and with `atexit`. A
/// ring whose thread goes on running is written while it changes; the report finds the last whole frame. It does
/// nothing without a descriptor. At a write error it gives up and records an event: [`Code::LINK_LOST`].
///
/// If several threads call it at once, they write one after another. A handler that interrupts it returns at once,
/// and then all rings are written once more.
#[unsafe(no_mangle)]
pub extern "C" fn xhist_write() {
    let fd = LOG_DEVICE.load(Ordering::Relaxed);
    if fd >= 0 {
        sys::keeping_errno(|| match WriteLock::take() {
            Attempt::Acquired(lock) => lock.write(fd),
            Attempt::Nested => {}
            Attempt::Never => trace::noticed(Severity::Sw2, Code::LINK_LOST, sys::BUSY),
        });
    }
}

/// The thread that is writing: process and thread id, 0 for none.
static WRITER: AtomicU64 = AtomicU64::new(0);
/// A handler has interrupted the writing thread and wants all rings written.
static WRITE_AGAIN: AtomicBool = AtomicBool::new(false);

/// The right to write. Only one thread has it.
struct WriteLock(u64);

enum Attempt {
    Acquired(WriteLock),
    /// This thread is already writing, further up its stack. It will write all rings once more.
    Nested,
    /// The writing thread does not finish.
    Never,
}

impl WriteLock {
    /// Waits for the writing thread. The caller sleeps meanwhile, because the reader may be slow.
    fn take() -> Attempt {
        const NAP_NANOS: u32 = 100_000;
        const PATIENCE_NANOS: u64 = 10_000_000_000;
        let own = u64::from(sys::pid()) << 32 | u64::from(sys::tid());
        let give_up_at = sys::nanos() + PATIENCE_NANOS;
        loop {
            let found = WRITER.load(Ordering::Relaxed);
            if found == own {
                WRITE_AGAIN.store(true, Ordering::Relaxed);
                return Attempt::Nested;
            }
            // In a forked child the parent's thread does not exist.
            let is_free = found == 0 || found >> 32 != own >> 32;
            if is_free && WRITER.compare_exchange(found, own, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return Attempt::Acquired(WriteLock(own));
            }
            if sys::nanos() > give_up_at {
                return Attempt::Never;
            }
            sys::sleep(NAP_NANOS);
        }
    }

    /// Writes all rings, and once more if a handler asked for it meanwhile.
    fn write(self, fd: c_int) {
        for is_last in [false, true] {
            WRITE_AGAIN.store(false, Ordering::Relaxed);
            foreign::look();
            if !rings().all(|(start, len)| sys::write_all(fd, start, len)) {
                trace::noticed(Severity::Sw2, Code::LINK_LOST, sys::last_error());
            }
            if is_last || !WRITE_AGAIN.load(Ordering::Relaxed) {
                break;
            }
        }
        let _ = WRITER.compare_exchange(self.0, 0, Ordering::Release, Ordering::Relaxed);
    }
}

/// Every ring as memory: start and length. The spare ring if there is no other.
fn rings() -> impl Iterator<Item = (*const u8, usize)> {
    numbered_rings().map(|(_, start, len)| (start, len)).chain(spare::ring())
}

/// Whether there is a descriptor to write to.
pub(crate) fn is_on() -> bool {
    LOG_DEVICE.load(Ordering::Relaxed) >= 0
}

pub(crate) extern "C" fn on_signal(_signal: c_int) {
    xhist_write();
}

pub(crate) extern "C" fn on_exit() {
    threads::on_process_exit();
    if is_on() {
        xhist_write();
    }
}
