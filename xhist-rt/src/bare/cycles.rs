//! The core's counter of cycles as the clock, with the feature `cycles`: the DWT of a Cortex-M from ARMv7-M on, `mcycle` of a
//! RISC-V in machine mode. A core whose counter does not count has no clock.

/// Starts the counter. `None` if there is no counter, or if it does not count.
pub(super) fn start() -> Option<fn() -> u32> {
    counter::enable();
    let first = counter::now();
    // A counter of a slow core may need some instructions.
    (0..16).any(|_| counter::now() != first).then_some(counter::now as fn() -> u32)
}

/// ARMv6-M has no counter of cycles. It is the only one here without atomic operations of more than a load or a store.
#[cfg(all(target_arch = "arm", target_has_atomic = "32"))]
mod counter {
    const DEMCR: *mut u32 = 0xE000_EDFC as *mut u32;
    const TRACE_ENABLE: u32 = 1 << 24;
    const DWT_CTRL: *mut u32 = 0xE000_1000 as *mut u32;
    const COUNTS: u32 = 1;
    const DWT_CYCCNT: *const u32 = 0xE000_1004 as *const u32;

    pub(super) fn enable() {
        // SAFETY: registers of every core from ARMv7-M on, where those that are not there read as zero. The bits start a counter,
        // and change nothing else.
        unsafe {
            DEMCR.write_volatile(DEMCR.read_volatile() | TRACE_ENABLE);
            DWT_CTRL.write_volatile(DWT_CTRL.read_volatile() | COUNTS);
        }
    }

    pub(super) fn now() -> u32 {
        // SAFETY: only reads a register.
        unsafe { DWT_CYCCNT.read_volatile() }
    }
}

#[cfg(target_arch = "riscv32")]
mod counter {
    pub(super) fn enable() {}

    pub(super) fn now() -> u32 {
        let cycles: u32;
        // SAFETY: only reads a register, which machine mode has.
        unsafe {
            core::arch::asm!("csrr {0}, mcycle", out(reg) cycles, options(nomem, nostack, preserves_flags))
        };
        cycles
    }
}

#[cfg(not(any(all(target_arch = "arm", target_has_atomic = "32"), target_arch = "riscv32")))]
mod counter {
    pub(super) fn enable() {}

    pub(super) fn now() -> u32 {
        0
    }
}
