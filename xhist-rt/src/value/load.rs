//! Copies what a reference leads to, whatever its type is.

/// Loads some bytes.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
macro_rules! load {
    ($x86:literal, $arm:literal, $from:expr) => {{
        let bits: u64;
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!($x86, from = in(reg) $from, bits = out(reg) bits, options(nostack, preserves_flags, readonly));
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!($arm, from = in(reg) $from, bits = out(reg) bits, options(nostack, preserves_flags, readonly));
        bits
    }};
}

/// Copies bytes that other threads may change, such as those of an atomic or behind a lock: each byte is one that was there.
/// Padding has some value. `None` where the processor is not known.
///
/// # Safety
/// `into.len()` bytes may be read there.
pub(crate) unsafe fn copied(from: *const u8, into: &mut [u8]) -> Option<()> {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    {
        let mut at = 0;
        while let Some(left) = into.get_mut(at..).filter(|left| !left.is_empty()) {
            let from = from.wrapping_add(at);
            // SAFETY: the caller promises the bytes, and no load takes more than are left. The compiler knows nothing of
            // what a load in assembly gives, so it draws no conclusion where another thread stores meanwhile.
            let (bits, len) = unsafe {
                match left.len() {
                    8.. => (load!("mov {bits}, qword ptr [{from}]", "ldr {bits}, [{from}]", from), 8),
                    4.. => (load!("mov {bits:e}, dword ptr [{from}]", "ldr {bits:w}, [{from}]", from), 4),
                    2.. => (load!("movzx {bits:e}, word ptr [{from}]", "ldrh {bits:w}, [{from}]", from), 2),
                    _ => (load!("movzx {bits:e}, byte ptr [{from}]", "ldrb {bits:w}, [{from}]", from), 1),
                }
            };
            left.iter_mut().zip(bits.to_le_bytes()).take(len).for_each(|(into, byte)| *into = byte);
            at += len;
        }
        Some(())
    }
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
    {
        let _ = (from, into);
        None
    }
}
