//! What a program sets up on top of recording: panic hook, exit handler, signal, file.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::hosted::acquire;
use crate::hosted::rings::late_file;
use crate::hosted::setup::config::{self, Config};
use crate::hosted::setup::file;
use crate::hosted::setup::settings::{FILE, PANIC};
use crate::hosted::system::{sys, written};
use crate::hosted::{export, panic, threads};

/// The exit handler of [`Init::install`] is there.
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Sets up the recorder; [`init`] does it with the defaults.
///
/// ```
/// let fd = 2; // standard error
/// xhist_rt::xhist_logdev(fd);
/// xhist_rt::Init::new().no_signal().no_panic_line().install();
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is set up before `install`"]
pub struct Init {
    signal: Option<i32>,
    has_panic_line: bool,
    file: Option<PathBuf>,
}

impl Default for Init {
    fn default() -> Init {
        Init::new()
    }
}

impl Init {
    /// The defaults: SIGUSR1, a line under a panic message, rings where the environment says.
    pub fn new() -> Init {
        Init { signal: sys::EXPORT_SIGNAL, has_panic_line: true, file: None }
    }

    /// Calls [`xhist_write`](super::xhist_write) at this signal.
    pub fn signal(mut self, signal: i32) -> Init {
        self.signal = Some(signal);
        self
    }

    /// Leaves all signals alone.
    pub fn no_signal(mut self) -> Init {
        self.signal = None;
        self
    }

    /// Prints nothing under a panic message. Otherwise a line there has the command that lists what ran before the panic.
    /// The environment variable `XHIST_PANIC` takes precedence.
    pub fn no_panic_line(mut self) -> Init {
        self.has_panic_line = false;
        self
    }

    /// Keeps the rings in this file, so that they outlive the process however it ends. `XHIST_FILE` in the
    /// environment takes precedence.
    ///
    /// If other living threads already have rings, these stay in memory, so it is best to call this first in `main`.
    /// Their number is printed on standard error and counted as lost in the file.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Init {
        self.file = Some(path.into());
        self
    }

    /// Sets everything up. A second call changes the signal and the file, and installs nothing twice.
    ///
    /// Returns false if the file could not be opened (the rings stay in memory, and standard error shows the reason)
    /// or the signal cannot be handled.
    pub fn install(self) -> bool {
        let mut done = true;
        let config = Config::get();
        if FILE.value().is_some() {
            done = file::get().is_some() || config.is_none_or(|config| !config.on);
        } else if let Some(path) = self.file {
            done = late_file::move_to_file(path.as_os_str().as_encoded_bytes());
        }
        if let Some(signal) = self.signal {
            done &= sys::on_signal(signal, export::on_signal);
        }
        if !INSTALLED.swap(true, Ordering::Relaxed) {
            panic::install(match PANIC.text() {
                Some(_) => PANIC.is(&["on", "1"]),
                None => self.has_panic_line,
            });
            sys::at_exit(export::on_exit);
        }
        done
    }
}

/// `main` begins, with the hash of the map that the program was instrumented with. How the process ends is recorded
/// also if the program does not call [`init`].
pub(crate) fn set_map_hash(hash: u64) {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    acquire::set_map_hash(hash);
    written::note_main();
    if !INSTALLED.load(Ordering::Relaxed) && !REGISTERED.swap(true, Ordering::Relaxed) {
        sys::at_exit(on_exit_alone);
    }
}

extern "C" fn on_exit_alone() {
    // Nothing is set up at the end of a program.
    if !INSTALLED.load(Ordering::Relaxed) && config::is_read() && !config::is_off() {
        threads::on_process_exit();
    }
}

/// Installs the panic hook, the exit handler and SIGUSR1 with the defaults of [`Init`].
pub fn init() {
    Init::new().install();
}
