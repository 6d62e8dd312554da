//! Digits of words: the bytes that words may have, as numbers.

/// Size of a unit in bytes.
pub const UNIT: usize = 2;
/// Base of the digits.
pub const BASE: u32 = 253;
/// First digit of the first unit of a long word.
pub const LEAD: u32 = 200;

/// The byte of a digit.
#[inline]
pub const fn byte_of(digit: u32) -> u8 {
    debug_assert!(digit < BASE);
    // 1..=0x7C, then 0x7F..=0xFF.
    (if digit < 0x7C { digit + 1 } else { digit + 3 }) as u8
}

/// The digit of a byte. `None` for the three bytes that no word has.
#[inline]
pub const fn digit_of(byte: u8) -> Option<u32> {
    match byte {
        0 | 0x7D | 0x7E => None,
        1..=0x7C => Some(byte as u32 - 1),
        _ => Some(byte as u32 - 3),
    }
}

/// The digits of a number, most significant first. Higher digits are cut off.
#[inline]
pub const fn digits<const LEN: usize>(mut value: u64) -> [u8; LEN] {
    let mut bytes = [byte_of(0); LEN];
    let mut at = LEN;
    while at > 0 {
        at -= 1;
        bytes[at] = byte_of((value % BASE as u64) as u32);
        value /= BASE as u64;
    }
    bytes
}

/// The number with these digits. `None` if a byte is not a digit.
#[inline]
pub fn number(bytes: &[u8]) -> Option<u64> {
    bytes.iter().try_fold(0u64, |value, byte| {
        value.checked_mul(u64::from(BASE))?.checked_add(u64::from(digit_of(*byte)?))
    })
}
