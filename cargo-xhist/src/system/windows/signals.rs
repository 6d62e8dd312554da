//! Ctrl-C while cargo runs, and after.
//!
//! The console sends Ctrl-C to each of its processes. While cargo runs it is for the program, whose history is printed after it
//! ended. After that it ends this process at once.

use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Ctrl-C reaches this process and the program together. The end of the program may be noticed first, by up to this time.
const SAME_MOMENT: Duration = Duration::from_millis(50);

/// Catches Ctrl-C while it exists.
pub(crate) struct Caught {
    /// When set, Ctrl-C ends this process.
    is_over: Arc<AtomicBool>,
    /// The newest signal that arrived; 0 for none.
    newest: Arc<AtomicUsize>,
}

impl Caught {
    /// Starts to catch Ctrl-C.
    pub(crate) fn start() -> Caught {
        let is_over = Arc::new(AtomicBool::new(false));
        let newest = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM] {
            let _ = flag::register_usize(signal, Arc::clone(&newest), signal.unsigned_abs() as usize);
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&is_over));
        }
        Caught { is_over, newest }
    }

    /// Calls `act`, which waits for a process: Ctrl-C is for that meanwhile.
    pub(crate) fn during<R>(&self, _: u32, act: impl FnOnce() -> R) -> R {
        act()
    }

    /// Waits for the child.
    pub(crate) fn wait(&self, child: &mut Child) -> std::io::Result<ExitStatus> {
        let status = child.wait();
        if status.as_ref().is_ok_and(|status| !status.success()) {
            std::thread::sleep(SAME_MOMENT);
        }
        self.is_over.store(true, Ordering::SeqCst);
        status
    }

    /// The newest signal that arrived.
    pub(crate) fn newest(&self) -> Option<i32> {
        i32::try_from(self.newest.load(Ordering::SeqCst)).ok().filter(|signal| *signal > 0)
    }
}

/// From now on, Ctrl-C is for the child; this process ends as that does.
pub(crate) fn leave_signals() {
    for signal in [SIGINT, SIGTERM] {
        let _ = flag::register(signal, Arc::default());
    }
}

/// There is no SIGQUIT.
pub(crate) fn leave_quit() {}

/// The name of a signal.
pub(crate) fn signal_name(number: i32) -> Option<&'static str> {
    signal_hook::low_level::signal_name(number)
}
