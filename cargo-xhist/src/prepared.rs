//! The result of the steps before cargo.

use std::fs::File;
use std::path::PathBuf;

use super::cache::Kept;

/// Everything that the call of cargo needs.
pub(super) struct Prepared {
    /// The directory of the plan and the wrappers.
    pub(super) wrappers: PathBuf,
    /// Cargo's target directory.
    pub(super) build: PathBuf,
    pub(super) kept: Kept,
    pub(super) root: PathBuf,
    pub(super) map: PathBuf,
    pub(super) map_hash: String,
    /// Some trigger starts recording.
    pub(super) waits: bool,
    /// The program records values.
    pub(super) has_values: bool,
    /// While this is open, no other run removes the wrappers.
    pub(super) _in_use: Option<File>,
}
