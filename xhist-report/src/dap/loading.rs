//! A history that is being opened: another thread builds the recording, and says when it is complete.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};

use super::launch::LaunchArgs;
use xhist_history::ExitCode;
use xhist_history::recording::SharedRecording;

/// Opens what a launch configuration names; or says what is wrong and what to do.
pub type Opener = Rc<dyn Fn(&LaunchArgs) -> Result<Loading, String>>;

/// A recording that another thread builds.
pub struct Loading {
    /// The recording so far.
    pub recording: SharedRecording,
    /// Gets one message when nothing more will come.
    pub end: Receiver<LoadEnd>,
    /// Set when the recording is no longer wanted.
    pub stop: Arc<AtomicBool>,
    /// The program may still be running.
    pub is_live: bool,
}

/// How the building of a recording ended.
pub struct LoadEnd {
    /// As a report's.
    pub code: ExitCode,
    /// Notes, losses and errors, as the command line prints them.
    pub notes: String,
}

impl Loading {
    /// A recording that is complete.
    pub fn complete(recording: SharedRecording) -> Loading {
        let (sender, end) = channel();
        // The receiver is here.
        let _ = sender.send(LoadEnd { code: ExitCode::Complete, notes: String::new() });
        Loading { recording, end, stop: Arc::default(), is_live: false }
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
