//! A line that the tests of a run make suspicious.

/// A suspicious line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuspectLine {
    /// The map that names its file.
    pub map_hash: u64,
    /// The first id of its file.
    pub file: u16,
    /// Its line.
    pub line: u32,
    /// Its rank, from 1.
    pub rank: usize,
}
