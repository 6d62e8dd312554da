//! Ctrl-C while cargo runs, and after.
//!
//! The console sends Ctrl-C to each of its processes. While cargo runs it is for the program, whose history is printed after it
//! ended. After that it ends this process at once.

use std::process::{Child, ExitStatus};
use std::sync::Arc;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::system::arrived::Arrived;

/// Catches Ctrl-C while it exists.
pub(crate) struct Caught(Arrived);

impl Caught {
    /// Starts to catch Ctrl-C.
    pub(crate) fn start() -> Caught {
        Caught(Arrived::start(|signal, is_over| {
            flag::register_conditional_shutdown(signal, 128 + signal, is_over)
        }))
    }

    /// Calls `act`, which waits for a process: Ctrl-C is for that meanwhile.
    pub(crate) fn during<R>(&self, _: u32, act: impl FnOnce() -> R) -> R {
        act()
    }

    /// Waits for the child.
    pub(crate) fn wait(&self, child: &mut Child) -> std::io::Result<ExitStatus> {
        let status = child.wait();
        self.0.ended(&status);
        status
    }

    /// The newest signal that arrived.
    pub(crate) fn newest(&self) -> Option<i32> {
        self.0.newest()
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
