//! One pass over all bytes of a record: their sum, and whether one of them needs an escape. Wide steps over a
//! constant length take fewer instructions than a loop over the bytes in use; the others are zero. A word holds up to
//! eight more bytes, which become known last.

/// Sum of the bytes, modulo 256, and whether one of them may need an escape.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn sum_and_find_escape<const LEN: usize>(bytes: &[u8; LEN], more: u64) -> (u8, bool) {
    use core::arch::x86_64::*;

    use qs_core::frame::{ESCAPE, FLAG};

    if const { LEN > WIDE } {
        return sum_and_find_escape_anywhere(bytes, more);
    }
    // SAFETY: every processor with this architecture has these instructions, and any bytes are a vector.
    unsafe {
        let (mut sums, mut escapes) = (_mm_setzero_si128(), _mm_setzero_si128());
        let [escape, flag] = [ESCAPE, FLAG].map(|byte| _mm_set1_epi8(byte as i8));
        let mut add = |bytes| {
            sums = _mm_add_epi64(sums, _mm_sad_epu8(bytes, _mm_setzero_si128()));
            let found = _mm_or_si128(_mm_cmpeq_epi8(bytes, escape), _mm_cmpeq_epi8(bytes, flag));
            escapes = _mm_or_si128(escapes, found);
        };
        bytes.as_chunks::<16>().0.iter().for_each(|bytes| add(_mm_loadu_si128(bytes.as_ptr().cast())));
        add(_mm_cvtsi64_si128(more.cast_signed()));
        let sum = _mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums));
        (_mm_cvtsi128_si32(sum) as u8, _mm_movemask_epi8(escapes) != 0)
    }
}

/// A loop handles more bytes than this.
#[cfg(target_arch = "x86_64")]
const WIDE: usize = 64;

/// Sum of the bytes, modulo 256, and whether one of them may need an escape.
#[cfg_attr(not(target_arch = "x86_64"), inline(always))]
pub(super) fn sum_and_find_escape_anywhere<const LEN: usize>(bytes: &[u8; LEN], more: u64) -> (u8, bool) {
    const { assert!(LEN.is_multiple_of(8)) };
    let (mut sum, mut escapes) = (sum_of(more), may_escape(more));
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
const fn sum_of(word: u64) -> u8 {
    const EVEN: u64 = u64::MAX / 0x0101;
    (((word & EVEN) + (word >> 8 & EVEN)).wrapping_mul(u64::MAX / 0xFFFF) >> 48) as u8
}

/// Whether a byte is 7D, 7E or 7F.
#[inline(always)]
const fn may_escape(word: u64) -> bool {
    const TOPS: u64 = ONES << 7;
    (word & !TOPS).wrapping_add(ONES * 3) & !word & TOPS != 0
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use sum_and_find_escape_anywhere as sum_and_find_escape;

/// Number of units that [`find_unit`] compares.
pub(super) const BLOCK: usize = 32;

/// A bit for each unit that equals the wanted one.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn find_unit(units: &[u16; BLOCK], wanted: u16) -> u32 {
    use core::arch::x86_64::*;

    let unit = units.as_ptr().cast::<__m128i>();
    // SAFETY: every processor with this architecture has these instructions; 4 vectors of 8 units are all the units.
    unsafe {
        let wanted = _mm_set1_epi16(wanted.cast_signed());
        let half = |at: usize| {
            let [first, second] =
                [at, at + 1].map(|at| _mm_cmpeq_epi16(_mm_loadu_si128(unit.add(at)), wanted));
            _mm_movemask_epi8(_mm_packs_epi16(first, second)).cast_unsigned()
        };
        half(0) | half(2) << 16
    }
}

/// A bit for each unit that equals the wanted one.
#[cfg_attr(not(target_arch = "x86_64"), inline(always))]
#[cfg_attr(target_arch = "x86_64", cfg(test))]
pub(super) fn find_unit_anywhere(units: &[u16; BLOCK], wanted: u16) -> u32 {
    // Most blocks have none, which one comparison of many units shows.
    if units.iter().fold(0, |found, unit| found | u16::from(*unit == wanted)) == 0 {
        return 0;
    }
    units.iter().rev().fold(0, |found, unit| found << 1 | u32::from(*unit == wanted))
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use find_unit_anywhere as find_unit;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use qs_core::frame::needs_escape;

    proptest! {
        #[test]
        fn sum_and_escape_match_the_bytes(bytes: [u8; 40], at in 0usize..40, byte in 0x7Cu8..=0x7F) {
            let mut bytes = bytes.map(|byte| byte & 0x7B);
            bytes[at] = byte;
            let sum = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
            let (bytes, more) = bytes.split_first_chunk::<32>().expect("as many");
            let more = u64::from_le_bytes(more.try_into().expect("eight"));
            for (found, may) in [sum_and_find_escape(bytes, more), sum_and_find_escape_anywhere(bytes, more)] {
                prop_assert_eq!(found, sum);
                prop_assert!(may || !needs_escape(byte));
            }
            prop_assert_eq!(sum_and_find_escape_anywhere(bytes, more).1, byte >= 0x7D);
        }

        #[test]
        fn each_place_of_the_unit_sets_its_bit(units: [u16; BLOCK], wanted: u16, at: u32) {
            let units = core::array::from_fn(|unit| if at >> unit & 1 == 1 { wanted } else { units[unit] | 1 });
            let expected = (0..BLOCK).filter(|unit| units[*unit] == wanted).fold(0, |bits, unit| bits | 1u32 << unit);
            prop_assert_eq!(find_unit(&units, wanted), expected);
            prop_assert_eq!(find_unit_anywhere(&units, wanted), expected);
        }
    }

    #[test]
    fn a_block_of_one_unit_sets_every_bit() {
        let units = [7; BLOCK];
        assert_eq!([find_unit(&units, 7), find_unit_anywhere(&units, 7)], [u32::MAX; 2]);
    }
}
