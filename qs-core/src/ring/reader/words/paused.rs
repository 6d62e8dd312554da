//! A pause of a thread, as a reader stores it.

/// A pause of the thread in the open chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paused {
    pub position: u64,
    /// The previous stamp.
    pub before: u64,
    /// The clock when the pause began. 0 = already reported.
    pub since: u64,
    pub until: u64,
}
