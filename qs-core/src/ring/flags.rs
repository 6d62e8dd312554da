//! Flags of a ring header.

use core::ops::BitOr;

/// A set of flags, as the byte at offset 15 of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// Statements may lack time stamps: before the process has a second thread, and between two stamps.
    pub const TIME_AUTO: Flags = Flags(1);
    /// Statements are in packed frames, see [`packed`](crate::record::packed). The layout is version 3.
    pub const PACKED: Flags = Flags(2);
    /// Time stamps are tickets of one counter that all threads of the process share. Their order is exact; they are not times.
    pub const EXACT: Flags = Flags(4);
    /// A bare-metal ring that an earlier run wrote, before a reset.
    pub const EARLIER: Flags = Flags(8);
    /// The clock is the system's monotonic clock, because the processor's counter is not reliable.
    pub const MONOTONIC: Flags = Flags(16);
    /// Statements are words in chunks, see [`words`](crate::record::words). The layout is version 4.
    pub const WORDS: Flags = Flags(32);
    /// Only function entries are recorded. The recorder sets this flag at run time, so the check word leaves it out.
    pub const ENTRIES: Flags = Flags(64);

    /// There may be values among the statements. Set at run time, as [`Flags::ENTRIES`].
    pub const VALUES: Flags = Flags(128);
    /// Flags that the recorder sets at run time.
    pub const AT_RUN_TIME: Flags = Flags(Flags::ENTRIES.0 | Flags::VALUES.0);

    /// Whether all of `flags` are set.
    #[inline]
    pub const fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// These flags without some.
    #[inline]
    #[must_use]
    pub const fn without(self, flags: Flags) -> Flags {
        Flags(self.0 & !flags.0)
    }
}

impl BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_joined_and_taken_out() {
        let both = Flags::ENTRIES | Flags::VALUES;
        assert_eq!((both, both | Flags::VALUES), (Flags::AT_RUN_TIME, both));
        assert!(both.has(Flags::ENTRIES) && both.has(Flags::VALUES) && !both.has(Flags::WORDS));
        assert_eq!(both.without(Flags::VALUES), Flags::ENTRIES);
    }
}
