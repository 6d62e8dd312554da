//! What a format may show beside each entry.

use super::Links;

/// What is shown beside each entry, and for whom.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    /// For a person at a terminal: colour, headings, aligned columns. Otherwise for a program.
    pub terminal: bool,
    /// Show the time of each entry.
    pub time: bool,
    /// Show the thread of each entry.
    pub thread: bool,
    /// Show the source line of each statement.
    pub source: bool,
    /// A column for each thread.
    pub lanes: bool,
    /// Places are links to their files.
    pub links: Links,
    /// Then a column for each async task instead.
    pub tasks: bool,
}
