//! Ctrl-C and similar signals end a report cleanly.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Set when the user wants to end this process. A second signal ends it at once, after a call of `before`.
pub fn requested(before: impl Fn() + Send + 'static) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    listen(move |signal| {
        if seen.swap(true, Relaxed) {
            before();
            std::process::exit(128 + signal);
        }
    });
    stop
}

/// Calls this at each signal. Without a handler Ctrl-C ends the process; then only the last lines are missing.
#[cfg(unix)]
fn listen(arrived: impl Fn(i32) + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    if let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) {
        std::thread::spawn(move || signals.forever().for_each(arrived));
    }
}

/// Calls this when the console is interrupted, or closed. What the C library of Windows has for it, signal-hook uses, and wine
/// lacks a part of that. A process has one handler: that of cargo xhist after a run ends the process as well.
#[cfg(not(unix))]
fn listen(arrived: impl Fn(i32) + Send + 'static) {
    /// The number of Ctrl-C on Unix.
    const CTRL_C: i32 = 2;

    let _ = ctrlc::set_handler(move || arrived(CTRL_C));
}
