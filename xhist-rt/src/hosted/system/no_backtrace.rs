//! No frames: readers know the program files of Linux only.

/// Return addresses in the program itself: none.
pub(crate) struct Backtrace {
    /// Hash of the program; 0: not known.
    pub(crate) program: u64,
}

impl Backtrace {
    pub(crate) const fn here() -> Backtrace {
        Backtrace { program: 0 }
    }

    pub(crate) const fn addresses(&self) -> &[u32] {
        &[]
    }
}
