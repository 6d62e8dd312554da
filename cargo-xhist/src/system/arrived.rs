//! Ctrl-C and other signals as they arrive, and whether cargo has ended: after that, each ends this process.

use std::io;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Ctrl-C reaches this process and the program together. The end of the program may be noticed first, by up to this time.
const SAME_MOMENT: Duration = Duration::from_millis(50);

/// What arrived.
#[derive(Debug, Default)]
pub(super) struct Arrived {
    /// When set, a signal ends this process.
    pub(super) is_over: Arc<AtomicBool>,
    /// The newest signal; 0 for none.
    pub(super) newest: Arc<AtomicUsize>,
}

/// The only one: what ends this process is registered for good, and cargo may run several times.
static ARRIVED: OnceLock<Arrived> = OnceLock::new();

impl Arrived {
    /// Starts to note signals. `listen`: registers, once, what sets the newest signal, and what ends this process if it is over.
    pub(super) fn start(listen: fn(&Arrived)) -> &'static Arrived {
        let arrived = ARRIVED.get_or_init(|| {
            let arrived = Arrived::default();
            listen(&arrived);
            arrived
        });
        arrived.newest.store(0, Ordering::SeqCst);
        arrived.is_over.store(false, Ordering::SeqCst);
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
