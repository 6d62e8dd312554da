//! Which interrupt the program is in: a Cortex-M tells at any time, elsewhere the program tells.

#[cfg(all(feature = "single-core", target_arch = "arm"))]
mod told {
    pub(crate) use super::super::mask::exception as number;

    /// The same for the short path.
    #[inline(always)]
    pub(crate) fn at_hand() -> u16 {
        number()
    }

    pub(crate) fn enter(_: u16) -> u16 {
        0
    }
}

#[cfg(not(all(feature = "single-core", target_arch = "arm")))]
mod told {
    use core::sync::atomic::{AtomicU16, Ordering::Relaxed};

    use super::super::writer;

    static NOW: AtomicU16 = AtomicU16::new(0);

    /// The number of the interrupt that is being handled; 0 in none.
    pub(crate) fn number() -> u16 {
        NOW.load(Relaxed)
    }

    /// Nothing: where it changes, the short path is closed.
    #[inline(always)]
    pub(crate) fn at_hand() -> u16 {
        0
    }

    /// From now on it is this one; which it was.
    pub(crate) fn enter(number: u16) -> u16 {
        writer::with(|_| {
            let before = NOW.load(Relaxed);
            NOW.store(number, Relaxed);
            before
        })
    }
}

pub(super) use told::{at_hand, number};

/// Runs the body of an interrupt's handler, so that the history tells in which interrupt its statements ran. To be called in the
/// handler, with a number of the program's choice.
///
/// A Cortex-M (with the feature `single-core`) tells by itself, and this is nothing but `act`. With several cores the program cannot
/// tell: there is one number for all.
#[inline]
pub fn interrupt<R>(number: u16, act: impl FnOnce() -> R) -> R {
    let before = told::enter(number);
    let result = act();
    told::enter(before);
    result
}
