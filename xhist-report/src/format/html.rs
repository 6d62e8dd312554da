//! `--format html`: one page to step through the history.

use super::Format;

/// The page.
pub struct Html;

impl Format for Html {}
