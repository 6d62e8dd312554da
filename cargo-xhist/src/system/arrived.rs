//! Ctrl-C and SIGTERM as they arrive, and whether cargo has ended: after that, either ends this process.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Ctrl-C reaches this process and the program together. The end of the program may be noticed first, by up to this time.
const SAME_MOMENT: Duration = Duration::from_millis(50);

/// What arrived.
pub(super) struct Arrived {
    /// When set, a signal ends this process.
    is_over: Arc<AtomicBool>,
    /// The newest signal; 0 for none.
    newest: Arc<AtomicUsize>,
}

impl Arrived {
    /// Starts to note signals. `end_if`: registers that a signal ends this process if the flag is set.
    pub(super) fn start(end_if: fn(i32, Arc<AtomicBool>) -> io::Result<SigId>) -> Arrived {
        let arrived = Arrived { is_over: Arc::default(), newest: Arc::default() };
        for signal in [SIGINT, SIGTERM] {
            let number = signal.unsigned_abs() as usize;
            let _ = flag::register_usize(signal, Arc::clone(&arrived.newest), number);
            let _ = end_if(signal, Arc::clone(&arrived.is_over));
        }
        arrived
    }

    /// Cargo has ended like this.
    pub(super) fn ended(&self, status: &io::Result<ExitStatus>) {
        if status.as_ref().is_ok_and(|status| !status.success()) {
            std::thread::sleep(SAME_MOMENT);
        }
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// The newest signal that arrived.
    pub(super) fn newest(&self) -> Option<i32> {
        i32::try_from(self.newest.load(Ordering::SeqCst)).ok().filter(|signal| *signal > 0)
    }
}
