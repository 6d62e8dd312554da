//! `qspy`: the lines of records come from the QS host; only the builds of rings are written here.

use super::Format;

/// Writes builds.
pub struct Qspy;

impl Format for Qspy {}
