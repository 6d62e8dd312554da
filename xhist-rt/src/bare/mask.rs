//! A few instructions that no interrupt comes in between.

/// With the program's own critical section: right on any number of cores, at two calls a statement.
#[cfg(not(feature = "single-core"))]
#[inline(always)]
pub(super) fn masked<R>(act: impl FnOnce() -> R) -> R {
    critical_section::with(|_| act())
}

/// With the interrupt mask of the one core, in three instructions.
#[cfg(feature = "single-core")]
#[inline(always)]
pub(super) fn masked<R>(act: impl FnOnce() -> R) -> R {
    let before = take();
    let result = act();
    give_back(before);
    result
}

#[cfg(all(feature = "single-core", target_arch = "arm"))]
#[inline(always)]
fn take() -> u32 {
    let before;
    // SAFETY: masks interrupts, and `masked` puts it back. No `nomem`: what is done in between stays there.
    unsafe { core::arch::asm!("mrs {0}, PRIMASK", "cpsid i", out(reg) before, options(nostack)) };
    before
}

#[cfg(all(feature = "single-core", target_arch = "arm"))]
#[inline(always)]
fn give_back(before: u32) {
    // SAFETY: as it was in `take`.
    unsafe { core::arch::asm!("msr PRIMASK, {0}", in(reg) before, options(nostack)) };
}

#[cfg(all(feature = "single-core", target_arch = "riscv32"))]
#[inline(always)]
fn take() -> u32 {
    let before: u32;
    // SAFETY: clears MIE, and `masked` puts it back. No `nomem`: what is done in between stays there.
    unsafe { core::arch::asm!("csrrci {0}, mstatus, 8", out(reg) before, options(nostack)) };
    before
}

#[cfg(all(feature = "single-core", target_arch = "riscv32"))]
#[inline(always)]
fn give_back(before: u32) {
    // SAFETY: sets MIE where it was set in `take`.
    unsafe { core::arch::asm!("csrs mstatus, {0}", in(reg) before & 8, options(nostack)) };
}

#[cfg(all(feature = "single-core", not(any(target_arch = "arm", target_arch = "riscv32"))))]
compile_error!("the feature `single-core` of xhist-rt is for Cortex-M and 32-bit RISC-V");
