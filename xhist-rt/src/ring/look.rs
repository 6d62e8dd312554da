//! One look at all bytes of a record: their sum, and whether one of them needs an escape. Wide steps over a constant
//! length take fewer instructions than a loop over those that are there; the others are zero.

/// Sum of the bytes, modulo 256, and whether one of them may need an escape.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn look<const LEN: usize>(bytes: &[u8; LEN]) -> (u8, bool) {
    use core::arch::x86_64::*;

    use qs_core::frame::{ESCAPE, FLAG};

    if const { LEN > WIDE } {
        return look_anywhere(bytes);
    }
    // SAFETY: every processor with this architecture has these instructions, and any bytes are a vector.
    unsafe {
        let (mut sums, mut escapes) = (_mm_setzero_si128(), _mm_setzero_si128());
        let [escape, flag] = [ESCAPE, FLAG].map(|byte| _mm_set1_epi8(byte as i8));
        for bytes in bytes.as_chunks::<16>().0 {
            let bytes = _mm_loadu_si128(bytes.as_ptr().cast());
            sums = _mm_add_epi64(sums, _mm_sad_epu8(bytes, _mm_setzero_si128()));
            let found = _mm_or_si128(_mm_cmpeq_epi8(bytes, escape), _mm_cmpeq_epi8(bytes, flag));
            escapes = _mm_or_si128(escapes, found);
        }
        let sum = _mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums));
        (_mm_cvtsi128_si32(sum) as u8, _mm_movemask_epi8(escapes) != 0)
    }
}

/// More bytes than this are looked at in a loop.
#[cfg(target_arch = "x86_64")]
const WIDE: usize = 64;

/// Sum of the bytes, modulo 256, and whether one of them may need an escape.
#[cfg_attr(not(target_arch = "x86_64"), inline(always))]
pub(crate) fn look_anywhere<const LEN: usize>(bytes: &[u8; LEN]) -> (u8, bool) {
    const { assert!(LEN.is_multiple_of(8)) };
    let (mut sum, mut escapes) = (0u8, false);
    for word in bytes.as_chunks().0 {
        let word = u64::from_le_bytes(*word);
        sum = sum.wrapping_add(sum_of(word));
        escapes |= may_escape(word);
    }
    (sum, escapes)
}

/// A one in each byte.
const ONES: u64 = u64::MAX / 255;

/// Sum of the bytes, modulo 256.
#[inline(always)]
pub(crate) const fn sum_of(word: u64) -> u8 {
    const EVEN: u64 = u64::MAX / 0x0101;
    (((word & EVEN) + (word >> 8 & EVEN)).wrapping_mul(u64::MAX / 0xFFFF) >> 48) as u8
}

/// Whether a byte is 7D, 7E or 7F.
#[inline(always)]
pub(crate) const fn may_escape(word: u64) -> bool {
    const TOPS: u64 = ONES << 7;
    (word & !TOPS).wrapping_add(ONES * 3) & !word & TOPS != 0
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use look_anywhere as look;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use qs_core::frame::needs_escape;

    proptest! {
        #[test]
        fn sums_and_escapes_are_those_of_the_bytes(bytes: [u8; 32], at in 0usize..32, byte in 0x7Cu8..=0x7F) {
            let mut bytes = bytes.map(|byte| byte & 0x7B);
            bytes[at] = byte;
            let sum = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
            for (found, may) in [look(&bytes), look_anywhere(&bytes)] {
                prop_assert_eq!(found, sum);
                prop_assert!(may || !needs_escape(byte));
            }
            prop_assert_eq!(look_anywhere(&bytes).1, byte >= 0x7D);
        }
    }
}
