//! What a helper thread works on.

/// A piece of memory: address and length, in the kernel's layout.
pub(crate) type Piece = [usize; 2];

/// The reason why there is no helper thread.
pub(crate) enum NotStarted {
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "other systems have no such thread"))]
    ForNow,
    ForGood,
}
