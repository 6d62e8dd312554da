//! Ctrl-C while cargo runs, and after.
//!
//! The console sends Ctrl-C to each of its processes. While cargo runs it is for the program, whose history is printed after it
//! ended. After that it ends this process at once.

use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::system::arrived::Arrived;

/// The number that Ctrl-C has on Unix.
const CTRL_C: i32 = 2;

/// Catches Ctrl-C while it exists.
pub(crate) struct Caught(&'static Arrived);

impl Caught {
    /// Starts to catch Ctrl-C.
    pub(crate) fn start() -> Caught {
        Caught(Arrived::start(listen))
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

/// A thread of its own notes Ctrl-C, and ends this process if it is over.
fn listen(arrived: &Arrived) {
    let (newest, is_over) = (Arc::clone(&arrived.newest), Arc::clone(&arrived.is_over));
    let _ = ctrlc::set_handler(move || {
        newest.store(CTRL_C.unsigned_abs() as usize, Ordering::SeqCst);
        if is_over.load(Ordering::SeqCst) {
            std::process::exit(128 + CTRL_C);
        }
    });
}

/// From now on, Ctrl-C is for the child; this process ends as that does.
pub(crate) fn leave_signals() {
    Arrived::start(listen);
}

/// The name of a signal.
pub(crate) fn signal_name(number: i32) -> Option<&'static str> {
    (number == CTRL_C).then_some("SIGINT")
}
