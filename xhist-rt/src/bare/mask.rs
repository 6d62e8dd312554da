//! Masks interrupts for a few instructions, and reads the current interrupt of a Cortex-M.

/// [`masked`] with values that are computed before interrupts are masked.
#[cfg(not(any(feature = "single-core", feature = "multi-core")))]
#[inline(always)]
pub(super) fn masked_with<R>(values: [usize; 2], act: impl FnOnce([usize; 2]) -> R) -> R {
    masked(|| act(values))
}

/// Calls `act` in the program's own critical section. Correct on any number of cores; costs two calls a statement.
#[cfg(not(any(feature = "single-core", feature = "multi-core")))]
#[inline(always)]
pub(super) fn masked<R>(act: impl FnOnce() -> R) -> R {
    #[cfg(test)]
    let act = super::tests::masked(act);
    critical_section::with(|_| act())
}

/// Calls `act` with the core's interrupts masked, in three instructions. Other cores go on.
#[cfg(any(feature = "single-core", feature = "multi-core"))]
#[inline(always)]
pub(super) fn masked<R>(act: impl FnOnce() -> R) -> R {
    masked_with([0; 2], |_| act())
}

/// [`masked`] with values that are computed before interrupts are masked.
#[cfg(any(feature = "single-core", feature = "multi-core"))]
#[inline(always)]
pub(super) fn masked_with<R>(values: [usize; 2], act: impl FnOnce([usize; 2]) -> R) -> R {
    let before = take_with(values);
    #[cfg(test)]
    let act = super::tests::masked_with(act);
    let result = act(values);
    give_back(before);
    result
}

#[cfg(all(any(feature = "single-core", feature = "multi-core"), target_arch = "arm"))]
#[inline(always)]
fn take_with([a, b]: [usize; 2]) -> usize {
    let before;
    // SAFETY: only masks interrupts, until `give_back` restores the mask. Without `nomem`, memory accesses stay between both.
    unsafe {
        core::arch::asm!("mrs {0}, PRIMASK", "cpsid i", "/* {1} {2} */", out(reg) before,
            in(reg) a, in(reg) b, options(nostack, preserves_flags));
    }
    before
}

#[cfg(all(any(feature = "single-core", feature = "multi-core"), target_arch = "arm"))]
#[inline(always)]
fn give_back(before: usize) {
    // SAFETY: restores the mask that `take_with` has read. `masked_with` is the only caller and passes that value.
    unsafe { core::arch::asm!("msr PRIMASK, {0}", in(reg) before, options(nostack, preserves_flags)) };
}

/// The number of the exception that is being handled. 0 = none.
#[cfg(all(any(feature = "single-core", feature = "multi-core"), target_arch = "arm"))]
#[inline(always)]
pub(crate) fn exception() -> u16 {
    let number: u32;
    // SAFETY: only reads a register. Its value is constant for the running code.
    unsafe {
        core::arch::asm!("mrs {0}, IPSR", out(reg) number, options(pure, nomem, nostack, preserves_flags));
    }
    number as u16
}

#[cfg(all(any(feature = "single-core", feature = "multi-core"), target_arch = "riscv32"))]
#[inline(always)]
fn take_with([a, b]: [usize; 2]) -> usize {
    let before;
    // SAFETY: only clears MIE, until `give_back` restores it. Without `nomem`, memory accesses stay between both.
    unsafe {
        core::arch::asm!("csrrci {0}, mstatus, 8", "/* {1} {2} */", out(reg) before,
            in(reg) a, in(reg) b, options(nostack));
    }
    before
}

#[cfg(all(any(feature = "single-core", feature = "multi-core"), target_arch = "riscv32"))]
#[inline(always)]
fn give_back(before: usize) {
    // SAFETY: sets MIE only if `take_with` found it set. `masked_with` is the only caller and passes that value.
    unsafe { core::arch::asm!("csrs mstatus, {0}", in(reg) before & 8, options(nostack)) };
}

/// Unit tests have no interrupts: `tests::masked_with` calls what comes between two sections.
#[cfg(all(test, feature = "multi-core", not(any(target_arch = "arm", target_arch = "riscv32"))))]
fn take_with(_: [usize; 2]) -> usize {
    0
}

#[cfg(all(test, feature = "multi-core", not(any(target_arch = "arm", target_arch = "riscv32"))))]
fn give_back(_: usize) {}

#[cfg(all(
    any(feature = "single-core", all(feature = "multi-core", not(test))),
    not(any(target_arch = "arm", target_arch = "riscv32"))
))]
compile_error!("the features `single-core` and `multi-core` of xhist-rt are for Cortex-M and 32-bit RISC-V");
