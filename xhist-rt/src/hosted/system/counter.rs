//! The processor's time counter.

/// Sixteen cycles per tick: 32 bits of ticks last for half a minute, and a tick is a few nanoseconds.
#[cfg(target_arch = "x86_64")]
const TICK_SHIFT: u32 = 4;

/// The processor's time counter; 0 if it has none that programs may read.
#[inline(always)]
pub(crate) fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction.
    return unsafe { core::arch::x86_64::_rdtsc() } >> TICK_SHIFT;
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: user programs may read the virtual counter, and the instruction has no other effect.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    0
}

/// Whether [`counter`] always runs at the same rate.
pub(crate) fn has_steady_counter() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        const LEAF: u32 = 0x8000_0007;
        const INVARIANT: u32 = 1 << 8;
        use core::arch::x86_64::__cpuid;
        __cpuid(0x8000_0000).eax >= LEAF && __cpuid(LEAF).edx & INVARIANT != 0
    }
    // The architecture guarantees it.
    #[cfg(not(target_arch = "x86_64"))]
    cfg!(target_arch = "aarch64")
}

/// Ticks of [`counter`] per second if the processor knows it; otherwise 0.
pub(crate) fn counter_rate() -> u32 {
    #[cfg(target_arch = "aarch64")]
    {
        let rate: u64;
        // SAFETY: the register is readable wherever the counter is, and the instruction has no other effect.
        unsafe { core::arch::asm!("mrs {}, cntfrq_el0", out(reg) rate, options(nomem, nostack)) };
        u32::try_from(rate).unwrap_or(0)
    }
    #[cfg(not(target_arch = "aarch64"))]
    0
}
