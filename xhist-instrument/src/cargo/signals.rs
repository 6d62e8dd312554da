//! Ctrl-C and SIGTERM while cargo runs, and after.
//!
//! While cargo runs, both are the program's: its history is printed when it has ended. A signal that reached this
//! process alone is sent on. Once cargo has ended, either ends this process at once, whatever it waits for.

use std::io::IsTerminal as _;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpgrp, kill_process, waitid};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// A signal for the whole process group has ended the program within this time, or the program handles it.
const GRACE: Duration = Duration::from_secs(1);

/// The process that signals are for: none before cargo starts and after it has ended.
type Target = Arc<Mutex<Option<Pid>>>;

/// Signals are caught from its making on.
pub(super) struct Caught {
    target: Target,
    handle: Option<signal_hook::iterator::Handle>,
}

impl Caught {
    /// From now on signals are the child's.
    pub(super) fn start() -> Caught {
        let target = Target::default();
        let handle = Signals::new([SIGINT, SIGTERM]).ok().map(|mut signals| {
            let (handle, target) = (signals.handle(), Arc::clone(&target));
            std::thread::spawn(move || {
                let (sender, receiver) = channel();
                let for_later = Arc::clone(&target);
                std::thread::spawn(move || forward_later(&receiver, &for_later));
                for signal in signals.forever() {
                    arrived(signal, &target, &sender);
                }
            });
            handle
        });
        Caught { target, handle }
    }

    /// Waits for the child.
    pub(super) fn wait(&self, child: &mut Child) -> std::io::Result<ExitStatus> {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        self.set(pid);
        // The child stays a zombie here, so its process id cannot be another's when a signal is sent on.
        while let Some(pid) = pid {
            match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Err(rustix::io::Errno::INTR) => {}
                _ => break,
            }
        }
        self.set(None);
        child.wait()
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

fn arrived(signal: i32, target: &Target, later: &Sender<i32>) {
    let is_running = target.lock().unwrap_or_else(PoisonError::into_inner).is_some();
    if !is_running {
        // Reading results may wait for a disk, a pipe or a terminal: the default action ends that too.
        let _ = emulate_default_handler(signal);
    } else if signal != SIGINT || !is_in_foreground() {
        let _ = later.send(signal);
    }
}

/// Sends a signal on when the program still runs after a while: the signal was for this process alone.
/// A second one in that time is sent on at once.
fn forward_later(signals: &Receiver<i32>, target: &Target) {
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

/// Whether this process is in the foreground of a terminal: then Ctrl-C has reached the program too.
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
