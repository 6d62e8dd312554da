//! A recording that one thread makes and another one reads.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::table::Recording;

/// A recording that one thread makes and another one reads.
#[derive(Clone, Debug, Default)]
pub struct SharedRecording(Arc<Mutex<Recording>>);

impl SharedRecording {
    /// The recording as it is now. No entry is added while it is borrowed.
    pub fn lock(&self) -> MutexGuard<'_, Recording> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
