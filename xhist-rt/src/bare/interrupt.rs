//! The current interrupt: from a register on a Cortex-M, from the program elsewhere.

#[cfg(all(any(feature = "single-core", feature = "multi-core"), target_arch = "arm"))]
mod source {
    pub(crate) use super::super::mask::exception as number;

    /// The interrupt, for the fast path.
    #[inline(always)]
    pub(crate) fn at_hand() -> u16 {
        number()
    }

    pub(crate) fn enter(_: u16) -> u16 {
        0
    }
}

#[cfg(not(all(any(feature = "single-core", feature = "multi-core"), target_arch = "arm")))]
mod source {
    use core::sync::atomic::{AtomicU16, Ordering::Relaxed};

    use super::super::cores::{self, CORES};
    use super::super::writer;

    /// One for each core.
    static NOW: [AtomicU16; CORES] = [const { AtomicU16::new(0) }; CORES];

    /// The number of the interrupt that is being handled. 0 = none.
    pub(crate) fn number() -> u16 {
        NOW.get(cores::current()).map_or(0, |now| now.load(Relaxed))
    }

    /// Always 0: a change of the interrupt closes the fast path.
    #[inline(always)]
    pub(crate) fn at_hand() -> u16 {
        0
    }

    /// Sets the current interrupt, and returns the previous one.
    pub(crate) fn enter(number: u16) -> u16 {
        writer::with(|_| {
            let Some(now) = NOW.get(cores::current()) else { return 0 };
            let before = now.load(Relaxed);
            now.store(number, Relaxed);
            before
        })
    }
}

pub(super) use source::{at_hand, number};

/// Runs `act` as the body of an interrupt's handler, so the history shows the interrupt of its statements. Call it in the
/// handler, with a number that the program chooses.
///
/// On a Cortex-M with the feature `single-core` or `multi-core`, the recorder reads the number from a register, and this function
/// only calls `act`. With several cores and without `multi-core` it is not reliable: one number is that of all cores.
#[inline]
pub fn interrupt<R>(number: u16, act: impl FnOnce() -> R) -> R {
    let before = source::enter(number);
    let result = act();
    source::enter(before);
    result
}
