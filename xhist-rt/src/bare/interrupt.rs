//! The current interrupt: from a register on a Cortex-M, from the program elsewhere.

#[cfg(all(feature = "single-core", target_arch = "arm"))]
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

#[cfg(not(all(feature = "single-core", target_arch = "arm")))]
mod source {
    use core::sync::atomic::{AtomicU16, Ordering::Relaxed};

    use super::super::writer;

    static NOW: AtomicU16 = AtomicU16::new(0);

    /// The number of the interrupt that is being handled. 0 = none.
    pub(crate) fn number() -> u16 {
        NOW.load(Relaxed)
    }

    /// Always 0: a change of the interrupt closes the fast path.
    #[inline(always)]
    pub(crate) fn at_hand() -> u16 {
        0
    }

    /// Sets the current interrupt, and returns the previous one.
    pub(crate) fn enter(number: u16) -> u16 {
        writer::with(|_| {
            let before = NOW.load(Relaxed);
            NOW.store(number, Relaxed);
            before
        })
    }
}

pub(super) use source::{at_hand, number};

/// Runs `act` as the body of an interrupt's handler, so the history shows the interrupt of its statements. Call it in the
/// handler, with a number that the program chooses.
///
/// On a Cortex-M with the feature `single-core`, the recorder reads the number from a register, and this function only calls
/// `act`. With several cores it is not reliable, because there is one number for all cores.
#[inline]
pub fn interrupt<R>(number: u16, act: impl FnOnce() -> R) -> R {
    let before = source::enter(number);
    let result = act();
    source::enter(before);
    result
}
