//! Assembly for the rows of [`types`](super::types), as the linkers of each system take it. Bare metal has that of Linux.

/// Adds a row, or what else assembly can say without code, where programs can have rows.
macro_rules! note {
    ($($code:tt)*) => {
        #[cfg(all(
            any(
                target_arch = "x86_64",
                target_arch = "x86",
                target_arch = "aarch64",
                target_arch = "arm",
                target_arch = "riscv32",
                target_arch = "riscv64"
            ),
            not(any(target_vendor = "apple", all(target_os = "windows", not(all(target_env = "gnu", target_pointer_width = "64"))), miri))
        ))]
        // SAFETY: the assembly has no instructions, and leaves the section that it was in.
        unsafe {
            core::arch::asm!($($code)*, options(nomem, nostack, preserves_flags));
        }
    };
}

/// Begins a part of the section of rows.
#[cfg(not(target_os = "windows"))]
#[allow(unused_macros, reason = "a system without rows does not use it")]
macro_rules! section {
    () => {
        ".pushsection .xhist_types,\"R\",%progbits"
    };
}
/// Begins a part of the section of rows.
#[cfg(target_os = "windows")]
#[allow(unused_macros, reason = "a system without rows does not use it")]
macro_rules! section {
    () => {
        ".pushsection .debug_typenames,\"drD\""
    };
}

/// The address of a function in eight bytes.
#[cfg(not(target_os = "windows"))]
#[allow(unused_macros, reason = "a system without rows does not use it")]
macro_rules! address {
    () => {
        ".quad {of}"
    };
}
/// The address of a function in eight bytes, relative to the program.
#[cfg(target_os = "windows")]
#[allow(unused_macros, reason = "a system without rows does not use it")]
macro_rules! address {
    () => {
        ".rva {of}\n.long 0"
    };
}
