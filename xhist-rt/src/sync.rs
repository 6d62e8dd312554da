//! The only word type of the ring header: 64 bits that one thread writes and any thread may read.
//!
//! Only this file depends on which atomics the target has. Orders are relaxed: a ring has one writing thread.
//! [`fence`] keeps the compiler from reordering its steps, and that is all that a signal handler on the same thread,
//! or a debugger, can notice.

use core::sync::atomic::{Ordering, compiler_fence};

/// Keeps the compiler from moving stores across this point. It emits no instruction.
#[inline(always)]
pub(crate) fn fence() {
    compiler_fence(Ordering::SeqCst);
}

#[cfg(target_has_atomic = "64")]
mod word {
    use core::sync::atomic::{
        AtomicU64,
        Ordering::{Relaxed, Release},
    };

    /// A 64-bit word, with an atomic of this size.
    #[repr(transparent)]
    pub(crate) struct Word(AtomicU64);

    impl Word {
        #[inline(always)]
        pub(crate) fn load(&self) -> u64 {
            self.0.load(Relaxed)
        }

        #[inline(always)]
        pub(crate) fn store(&self, value: u64) {
            // Other processes may read the ring while it is written.
            self.0.store(value, Release);
        }
    }
}

#[cfg(not(target_has_atomic = "64"))]
mod word {
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

    /// A 64-bit word of two halves, in the order of a native `u64`. Writers hold a critical section.
    #[repr(C, align(8))]
    pub(crate) struct Word([AtomicU32; 2]);

    const LOW: usize = if cfg!(target_endian = "big") { 1 } else { 0 };

    impl Word {
        #[inline(always)]
        pub(crate) fn load(&self) -> u64 {
            u64::from(self.0[1 - LOW].load(Relaxed)) << 32 | u64::from(self.0[LOW].load(Relaxed))
        }

        #[inline(always)]
        pub(crate) fn store(&self, value: u64) {
            self.0[LOW].store(value as u32, Relaxed);
            self.0[1 - LOW].store((value >> 32) as u32, Relaxed);
        }
    }
}

pub(crate) use word::Word;
