//! What a helper thread works on.

/// A piece of memory: address and length, in the kernel's layout.
pub(crate) type Piece = [usize; 2];

/// The reason why there is no helper thread.
pub(crate) enum NotStarted {
    #[allow(dead_code, reason = "only where there is a helper thread")]
    ForNow,
    ForGood,
}
