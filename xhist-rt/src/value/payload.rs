//! Stores bytes of values in a ring of words, as [`qs_core::record::value`] describes.

/// Stores four bytes as payload, and returns its length.
///
/// # Safety
/// There is room for the payload.
#[inline(always)]
pub(crate) unsafe fn put_four(payload: *mut u8, value: u64) -> usize {
    // SAFETY: the caller promises the room.
    unsafe {
        payload.cast::<u32>().write_unaligned((value as u32 | 0x8080_8080).to_le());
        payload.add(4).cast::<u16>().write_unaligned((tops(value) as u16 | 0x8080).to_le());
    }
    6
}

/// Stores eight bytes as payload, and returns its length.
///
/// # Safety
/// There is room for the payload.
#[inline(always)]
pub(crate) unsafe fn put_eight(payload: *mut u8, value: u64) -> usize {
    let high = tops(value) as u16;
    // SAFETY: the caller promises the room.
    unsafe {
        payload.cast::<u64>().write_unaligned((value | 0x8080_8080_8080_8080).to_le());
        payload.add(8).cast::<u16>().write_unaligned(((high + (high & 0x80)) | 0x8080).to_le());
    }
    10
}

/// The highest bit of each byte, that of the lowest byte first.
#[inline(always)]
pub(crate) fn tops(value: u64) -> u32 {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        use core::arch::x86_64::{_mm_cvtsi64_si128, _mm_movemask_epi8};
        // SAFETY: the processor has these instructions.
        unsafe { _mm_movemask_epi8(_mm_cvtsi64_si128(value.cast_signed())).cast_unsigned() }
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    {
        // Each product of two single bits has a place of its own, so nothing is carried.
        ((value & 0x8080_8080_8080_8080).wrapping_mul(0x0002_0408_1020_4081) >> 56) as u32
    }
}
