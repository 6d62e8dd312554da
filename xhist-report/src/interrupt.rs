//! Ctrl-C and similar signals end a report cleanly.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Set when the user wants to end this process. A second signal ends it at once, after a call of `before`.
pub fn requested(before: impl Fn() + Send + 'static) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    {
        use std::sync::atomic::Ordering::Relaxed;

        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        use signal_hook::iterator::Signals;

        // Without a handler Ctrl-C ends the process; then only the last lines are missing.
        if let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                for signal in signals.forever() {
                    if stop.swap(true, Relaxed) {
                        before();
                        std::process::exit(128 + signal);
                    }
                }
            });
        }
    }
    #[cfg(not(unix))]
    {
        use signal_hook::consts::{SIGINT, SIGTERM};
        use signal_hook::flag;

        // Windows resets the modes of a console by itself when a process ends.
        drop(before);
        for signal in [SIGINT, SIGTERM] {
            let again = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop));
            // Without a handler Ctrl-C ends the process; then only the last lines are missing.
            drop(again.and_then(|_| flag::register(signal, Arc::clone(&stop))));
        }
    }
    stop
}
