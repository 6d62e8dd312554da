//! Ctrl-C and the like: what runs on ends cleanly. It must not know what that is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set when this process shall end. A second signal ends it at once, whatever it waits for; `before` is called then.
pub fn requested(before: impl Fn() + Send + 'static) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        use signal_hook::iterator::Signals;

        // Without it Ctrl-C ends the process: it only lacks its last lines then.
        if let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                for signal in signals.forever() {
                    if stop.swap(true, Ordering::Relaxed) {
                        before();
                        std::process::exit(128 + signal);
                    }
                }
            });
        }
    }
    #[cfg(not(unix))]
    let _ = before;
    stop
}
