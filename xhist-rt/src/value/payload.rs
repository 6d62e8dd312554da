//! Stores bytes of values in a ring of words, as [`qs_core::record::value`] describes.

use super::load::loaded;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
use super::load::loaded_sixteen;

/// Bytes that are coded together.
const GROUP: usize = 8;

/// Stores bytes as the payload of a value with a length, and returns its end.
///
/// # Safety
/// There is room for the payload, and `len` bytes may be read.
#[inline(always)]
pub(crate) unsafe fn put_bytes(mut payload: *mut u8, mut from: *const u8, mut len: usize) -> *mut u8 {
    // SAFETY: the caller promises the room and the bytes.
    unsafe {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
        while len >= 2 * GROUP {
            payload = payload.add(put_sixteen(payload, from));
            (from, len) = (from.add(2 * GROUP), len - 2 * GROUP);
        }
        while len > 0 {
            payload = payload.add(put_eight(payload, loaded(from, len)));
            (from, len) = (from.wrapping_add(GROUP), len.saturating_sub(GROUP));
        }
    }
    payload
}

/// Stores two groups of bytes as payload, and returns its length.
///
/// # Safety
/// As for [`put_bytes`].
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
#[inline(always)]
unsafe fn put_sixteen(payload: *mut u8, from: *const u8) -> usize {
    use core::arch::x86_64::{
        _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8, _mm_storel_epi64, _mm_unpackhi_epi64,
    };
    // SAFETY: the processor has these instructions, and the caller promises the room and the bytes.
    unsafe {
        let bytes = loaded_sixteen(from);
        let tops = _mm_movemask_epi8(bytes).cast_unsigned();
        let low = _mm_or_si128(bytes, _mm_set1_epi8(-128));
        _mm_storel_epi64(payload.cast(), low);
        payload.add(8).cast::<u16>().write_unaligned(high_bits(tops & 0xFF));
        _mm_storel_epi64(payload.add(10).cast(), _mm_unpackhi_epi64(low, low));
        payload.add(18).cast::<u16>().write_unaligned(high_bits(tops >> 8));
    }
    20
}

/// The highest bits of eight bytes as they are in a payload.
#[inline(always)]
fn high_bits(tops: u32) -> u16 {
    (((tops + (tops & 0x80)) | 0x8080) as u16).to_le()
}

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
    // SAFETY: the caller promises the room.
    unsafe {
        payload.cast::<u64>().write_unaligned((value | 0x8080_8080_8080_8080).to_le());
        payload.add(8).cast::<u16>().write_unaligned(high_bits(tops(value)));
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
