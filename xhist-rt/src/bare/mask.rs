//! A few instructions that no interrupt comes in between; and which one a Cortex-M is in.

/// As [`masked`], when these values are at hand: what computes them does not stand in between.
#[cfg(not(feature = "single-core"))]
#[inline(always)]
pub(super) fn masked_with<R>(values: [usize; 2], act: impl FnOnce([usize; 2]) -> R) -> R {
    masked(|| act(values))
}

/// With the program's own critical section: right on any number of cores, at two calls a statement.
#[cfg(not(feature = "single-core"))]
#[inline(always)]
pub(super) fn masked<R>(act: impl FnOnce() -> R) -> R {
    #[cfg(test)]
    let act = super::tests::masked(act);
    critical_section::with(|_| act())
}

/// With the interrupt mask of the one core, in three instructions.
#[cfg(feature = "single-core")]
#[inline(always)]
pub(super) fn masked<R>(act: impl FnOnce() -> R) -> R {
    masked_with([0; 2], |_| act())
}

/// As above.
#[cfg(feature = "single-core")]
#[inline(always)]
pub(super) fn masked_with<R>(values: [usize; 2], act: impl FnOnce([usize; 2]) -> R) -> R {
    let before = take_with(values);
    let result = act(values);
    give_back(before);
    result
}

#[cfg(all(feature = "single-core", target_arch = "arm"))]
#[inline(always)]
fn take_with([a, b]: [usize; 2]) -> usize {
    let before;
    // SAFETY: masks interrupts, and `give_back` puts it back. No `nomem`: what is done in between stays there.
    unsafe {
        core::arch::asm!("mrs {0}, PRIMASK", "cpsid i", "/* {1} {2} */", out(reg) before,
            in(reg) a, in(reg) b, options(nostack, preserves_flags));
    }
    before
}

#[cfg(all(feature = "single-core", target_arch = "arm"))]
#[inline(always)]
fn give_back(before: usize) {
    // SAFETY: as it was in `take_with`.
    unsafe { core::arch::asm!("msr PRIMASK, {0}", in(reg) before, options(nostack, preserves_flags)) };
}

/// The number of the exception that is being handled; 0 in none.
#[cfg(all(feature = "single-core", target_arch = "arm"))]
#[inline(always)]
pub(crate) fn exception() -> u16 {
    let number: u32;
    // SAFETY: reads a register that for the code at hand never changes.
    unsafe {
        core::arch::asm!("mrs {0}, IPSR", out(reg) number, options(pure, nomem, nostack, preserves_flags));
    }
    number as u16
}

#[cfg(all(feature = "single-core", target_arch = "riscv32"))]
#[inline(always)]
fn take_with([a, b]: [usize; 2]) -> usize {
    let before;
    // SAFETY: clears MIE, and `give_back` puts it back. No `nomem`: what is done in between stays there.
    unsafe {
        core::arch::asm!("csrrci {0}, mstatus, 8", "/* {1} {2} */", out(reg) before,
            in(reg) a, in(reg) b, options(nostack));
    }
    before
}

#[cfg(all(feature = "single-core", target_arch = "riscv32"))]
#[inline(always)]
fn give_back(before: usize) {
    // SAFETY: sets MIE where it was set in `take_with`.
    unsafe { core::arch::asm!("csrs mstatus, {0}", in(reg) before & 8, options(nostack)) };
}

#[cfg(all(feature = "single-core", not(any(target_arch = "arm", target_arch = "riscv32"))))]
compile_error!("the feature `single-core` of xhist-rt is for Cortex-M and 32-bit RISC-V");
