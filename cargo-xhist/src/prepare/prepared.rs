//! The result of the steps before cargo.

use std::fs::File;
use std::path::PathBuf;

use crate::prepare::recorder::cache::Kept;

/// Everything that the call of cargo needs.
pub(crate) struct Prepared {
    /// The directory of the plan and the wrappers.
    pub(crate) wrappers: PathBuf,
    /// Cargo's target directory.
    pub(crate) build: PathBuf,
    pub(crate) kept: Kept,
    pub(crate) root: PathBuf,
    pub(crate) map: PathBuf,
    pub(crate) map_hash: String,
    /// Some trigger starts recording.
    pub(crate) waits: bool,
    /// The program records values.
    pub(crate) has_values: bool,
    /// While this is open, no other run removes the wrappers.
    pub(crate) _in_use: Option<File>,
}
