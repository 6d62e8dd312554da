//! Export of the rings to a descriptor, as in the Xhist paper: `xhist_logdev` names it,
//! `xhist_write` writes. Both may run in a signal handler or at exit.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering};

use super::{sys, threads};
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
#[unsafe(no_mangle)]
pub extern "C" fn xhist_write() {
    let fd = LOG_DEVICE.load(Ordering::Relaxed);
    if fd >= 0 {
        sys::keeping_errno(|| {
            if !threads::rings().all(|(start, len)| sys::write_all(fd, start, len)) {
                trace::noticed(Severity::Sw2, Code::LINK_LOST, sys::last_error());
            }
        });
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
