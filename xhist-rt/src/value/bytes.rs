//! The bytes of a value. Some of them may be uninitialised: padding, or the rest of an enum. Rust may copy such bytes, but
//! not look at them. So they go through assembly without instructions first, which gives them some value.

use core::mem::MaybeUninit;

#[cfg(not(feature = "std"))]
use qs_core::record::value::{MAX_BYTES, RecordedValue};

/// Length of a group: the bytes that are read and coded together.
#[cfg(not(feature = "std"))]
const GROUP: usize = 8;
/// Bytes of a register.
const WORD: usize = size_of::<usize>();

/// Some value for these bytes, and their own value if they have one.
#[inline(always)]
fn settled(bits: MaybeUninit<usize>) -> usize {
    #[cfg(all(
        any(
            target_arch = "x86_64",
            target_arch = "x86",
            target_arch = "aarch64",
            target_arch = "arm",
            target_arch = "riscv32",
            target_arch = "riscv64"
        ),
        not(miri)
    ))]
    {
        let settled: usize;
        // SAFETY: the assembly has no instructions. What is in the register behind it, is a number.
        unsafe {
            core::arch::asm!(
                "/* {bits} */",
                bits = inlateout(reg) bits => settled,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        settled
    }
    #[cfg(not(all(
        any(
            target_arch = "x86_64",
            target_arch = "x86",
            target_arch = "aarch64",
            target_arch = "arm",
            target_arch = "riscv32",
            target_arch = "riscv64"
        ),
        not(miri)
    )))]
    // SAFETY: `bits` are valid memory. No assembly is known here; the compiler takes a volatile read for a read of
    // memory that it knows nothing of.
    unsafe {
        (&raw const bits).cast::<usize>().read_volatile()
    }
}

/// The first bytes at an address, as the low bytes of a number.
///
/// # Safety
/// `LEN` bytes, at most those of a register, may be read there.
#[inline(always)]
unsafe fn word<const LEN: usize>(from: *const u8) -> usize {
    let mut bits = MaybeUninit::new(0usize);
    // SAFETY: the caller promises the bytes, and a register has as many.
    unsafe { bits.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(from, LEN) };
    usize::from_le(settled(bits))
}

/// The first bytes at an address, at most a group, as the low bytes of a number.
///
/// # Safety
/// `LEN` bytes may be read there.
#[inline(always)]
pub(crate) unsafe fn group<const LEN: usize>(from: *const u8) -> u64 {
    // SAFETY: the caller promises the bytes.
    unsafe {
        match const { (WORD, LEN) } {
            (_, 0) => 0,
            (_, 1) => word::<1>(from) as u64,
            (_, 2) => word::<2>(from) as u64,
            (_, 3) => word::<3>(from) as u64,
            (_, 4) => word::<4>(from) as u64,
            (8, 5) => word::<5>(from) as u64,
            (8, 6) => word::<6>(from) as u64,
            (8, 7) => word::<7>(from) as u64,
            (8, _) => word::<WORD>(from) as u64,
            (_, 5) => word::<4>(from) as u64 | (word::<1>(from.add(4)) as u64) << 32,
            (_, 6) => word::<4>(from) as u64 | (word::<2>(from.add(4)) as u64) << 32,
            (_, 7) => word::<4>(from) as u64 | (word::<3>(from.add(4)) as u64) << 32,
            (_, _) => word::<4>(from) as u64 | (word::<4>(from.add(4)) as u64) << 32,
        }
    }
}

/// [`group`] for a length that is only known at run time.
///
/// # Safety
/// `len` bytes may be read there.
#[cfg_attr(feature = "std", allow(dead_code, reason = "most processors have `load`"))]
pub(crate) unsafe fn group_of(from: *const u8, len: usize) -> u64 {
    // SAFETY: the caller promises the bytes.
    unsafe {
        match len {
            0 => 0,
            1 => group::<1>(from),
            2 => group::<2>(from),
            3 => group::<3>(from),
            4 => group::<4>(from),
            5 => group::<5>(from),
            6 => group::<6>(from),
            7 => group::<7>(from),
            _ => group::<8>(from),
        }
    }
}

/// The first bytes at an address as a value of a ring or a frame.
///
/// # Safety
/// `len` bytes may be read there.
#[cfg(not(feature = "std"))]
pub(crate) unsafe fn recorded(
    number: u32,
    type_key: Option<u32>,
    from: *const u8,
    len: usize,
) -> RecordedValue {
    let mut bytes = [0; MAX_BYTES];
    let len = len.min(MAX_BYTES);
    for (index, group) in bytes.as_chunks_mut::<GROUP>().0.iter_mut().enumerate().take(len.div_ceil(GROUP)) {
        let at = index * GROUP;
        // SAFETY: the caller promises `len` bytes.
        *group = unsafe { group_of(from.add(at), len - at) }.to_le_bytes();
    }
    let mut value = RecordedValue::new(number, bytes.get(..len).unwrap_or(&bytes));
    value.type_key = type_key;
    value
}
