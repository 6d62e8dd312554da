//! Loads the bytes of what a reference leads to, whatever its type is: with assembly, of which the compiler knows nothing but
//! that it reads.

/// Whether bytes that other threads may change can be loaded here.
pub(crate) const LOADS_SHARED: bool =
    cfg!(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_endian = "little", not(miri)));

/// The first bytes at an address, at most eight, as the low bytes of a number. Padding has some value. With
/// [`LOADS_SHARED`] other threads may change them, such as those of an atomic or behind a lock: each byte is one that
/// was there.
///
/// # Safety
/// `len` bytes may be read there.
#[inline(always)]
pub(crate) unsafe fn loaded(from: *const u8, len: usize) -> u64 {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_endian = "little", not(miri)))]
    {
        use core::arch::asm;
        macro_rules! load {
            ($x86:literal, $arm:literal, $from:expr) => {{
                let bits: u64;
                #[cfg(target_arch = "x86_64")]
                asm!($x86, from = in(reg) $from, bits = out(reg) bits, options(nostack, preserves_flags, readonly));
                #[cfg(target_arch = "aarch64")]
                asm!($arm, from = in(reg) $from, bits = out(reg) bits, options(nostack, preserves_flags, readonly));
                bits
            }};
        }
        // SAFETY: the caller promises the bytes, and no load takes more than are left. The compiler draws no conclusion
        // from what assembly loads where another thread stores meanwhile.
        unsafe {
            if len >= 8 {
                return load!("mov {bits}, qword ptr [{from}]", "ldr {bits}, [{from}]", from);
            }
            let (mut all, mut at) = (0, 0);
            if len & 4 != 0 {
                all = load!("mov {bits:e}, dword ptr [{from}]", "ldr {bits:w}, [{from}]", from);
                at = 4;
            }
            if len & 2 != 0 {
                let from = from.wrapping_add(at);
                all |=
                    load!("movzx {bits:e}, word ptr [{from}]", "ldrh {bits:w}, [{from}]", from) << (8 * at);
                at += 2;
            }
            if len & 1 != 0 {
                let from = from.wrapping_add(at);
                all |=
                    load!("movzx {bits:e}, byte ptr [{from}]", "ldrb {bits:w}, [{from}]", from) << (8 * at);
            }
            all
        }
    }
    #[cfg(not(all(
        any(target_arch = "x86_64", target_arch = "aarch64"),
        target_endian = "little",
        not(miri)
    )))]
    // SAFETY: the caller promises the bytes.
    unsafe {
        super::bytes::group_of(from, len)
    }
}

/// [`loaded`] for sixteen bytes.
///
/// # Safety
/// They may be read there.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
#[inline(always)]
pub(crate) unsafe fn loaded_sixteen(from: *const u8) -> core::arch::x86_64::__m128i {
    let bytes;
    // SAFETY: the caller promises the bytes. For those that another thread stores meanwhile, see `loaded`.
    unsafe {
        core::arch::asm!(
            "movdqu {bytes}, xmmword ptr [{from}]",
            from = in(reg) from,
            bytes = out(xmm_reg) bytes,
            options(nostack, preserves_flags, readonly),
        );
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_behind_the_last_is_loaded() {
        let bytes = [0x81, 0x92, 0xA3, 0xB4, 0xC5, 0xD6, 0xE7, 0xF8u8];
        for len in 0..=bytes.len() {
            let mut wanted = [0; 8];
            wanted[..len].copy_from_slice(&bytes[..len]);
            // A slice of its own, so that a checker of memory would see a longer load.
            let kept = bytes[..len].to_vec();
            // SAFETY: the vector has these bytes.
            assert_eq!(unsafe { loaded(kept.as_ptr(), len) }, u64::from_le_bytes(wanted), "{len}");
        }
    }
}
