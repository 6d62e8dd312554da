//! Ctrl-C, Ctrl-\ and SIGTERM while cargo runs, and after.
//!
//! While cargo runs, these signals are for the program: its history is printed after it ended. A signal that reached only this
//! process is forwarded. After cargo ended, each of them ends this process at once.

use std::io::IsTerminal as _;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpgrp, kill_process, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::system::arrived::Arrived;

/// A signal to the whole process group ends the program within this time, unless the program handles it.
const GRACE: Duration = Duration::from_secs(1);

/// The signals that are the program's.
const CAUGHT: [i32; 3] = [SIGINT, SIGQUIT, SIGTERM];

/// The process that gets the signals: `None` before cargo starts and after it ended.
type SignalTarget = Arc<Mutex<Option<Pid>>>;

/// Catches signals while it exists.
pub(crate) struct Caught {
    target: SignalTarget,
    arrived: &'static Arrived,
    handle: Option<signal_hook::iterator::Handle>,
}

impl Caught {
    /// Starts to catch signals.
    pub(crate) fn start() -> Caught {
        let target = SignalTarget::default();
        let arrived = Arrived::start(listen);
        let handle = Signals::new(CAUGHT).ok().map(|mut signals| {
            let (handle, target) = (signals.handle(), Arc::clone(&target));
            let (sender, receiver) = channel();
            std::thread::spawn(move || forward_later(&receiver, &target));
            std::thread::spawn(move || {
                for signal in signals.forever() {
                    // A key at the terminal reaches the program too.
                    if signal == SIGTERM || !is_in_foreground() {
                        let _ = sender.send(signal);
                    }
                }
            });
            handle
        });
        Caught { target, arrived, handle }
    }

    /// Calls `act`, which waits for the process with this number and reaps it; the signals are for that process meanwhile.
    pub(crate) fn during<R>(&self, process: u32, act: impl FnOnce() -> R) -> R {
        self.set(i32::try_from(process).ok().and_then(Pid::from_raw));
        let result = act();
        self.set(None);
        result
    }

    /// Waits for the child.
    pub(crate) fn wait(&self, child: &mut Child) -> std::io::Result<ExitStatus> {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        self.set(pid);
        // The child stays a zombie until it is reaped, so its process id stays its own while a signal is forwarded.
        while let Some(pid) = pid {
            match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Err(rustix::io::Errno::INTR) => {}
                _ => break,
            }
        }
        self.set(None);
        let status = child.wait();
        self.arrived.ended(&status);
        status
    }

    /// The newest signal that arrived.
    pub(crate) fn newest(&self) -> Option<i32> {
        self.arrived.newest()
    }

    fn set(&self, pid: Option<Pid>) {
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = pid;
    }
}

impl Drop for Caught {
    fn drop(&mut self) {
        if let Some(handle) = &self.handle {
            handle.close();
        }
    }
}

/// Decided when the signal arrives, and not when a thread comes to it. Reading results may wait for a disk, a pipe or a
/// terminal: the default action ends that too.
fn listen(arrived: &Arrived) {
    for signal in CAUGHT {
        let number = signal.unsigned_abs() as usize;
        let _ = flag::register_usize(signal, Arc::clone(&arrived.newest), number);
        let _ = flag::register_conditional_default(signal, Arc::clone(&arrived.is_over));
    }
}

/// Forwards a signal if the program still runs after a while: then only this process got the signal. A second signal in that
/// time is forwarded at once.
fn forward_later(signals: &Receiver<i32>, target: &SignalTarget) {
    while let Ok(signal) = signals.recv() {
        match signals.recv_timeout(GRACE) {
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let guard = target.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(pid), Some(signal)) = (*guard, Signal::from_named_raw(signal)) {
            let _ = kill_process(pid, signal);
        }
    }
}

/// Whether this process is in the foreground of a terminal.
fn is_in_foreground() -> bool {
    let group = |terminal: &dyn std::os::fd::AsFd| rustix::termios::tcgetpgrp(terminal.as_fd()).ok();
    let (input, output, error) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let groups = [
        input.is_terminal().then(|| group(&input)),
        output.is_terminal().then(|| group(&output)),
        error.is_terminal().then(|| group(&error)),
    ];
    groups.into_iter().flatten().flatten().any(|foreground| foreground == getpgrp())
}

/// From now on, signals of the terminal are for the child; this process ends as that does.
pub(crate) fn leave_signals() {
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        let _ = flag::register(signal, Arc::default());
    }
}

/// The name of a signal.
pub(crate) fn signal_name(number: i32) -> Option<&'static str> {
    signal_hook::low_level::signal_name(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With what an earlier run of cargo registered, the signal would end this process.
    #[test]
    fn a_signal_is_the_programs_in_a_second_run_of_cargo_too() {
        let first = Caught::start();
        first.arrived.ended(&Err(std::io::Error::other("no status")));
        drop(first);
        let second = Caught::start();
        assert_eq!(second.newest(), None);
        signal_hook::low_level::raise(SIGTERM).expect("a signal");
        assert_eq!(second.newest(), Some(SIGTERM));
    }
}
