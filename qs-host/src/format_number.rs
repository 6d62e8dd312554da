//! Numbers as text in QSPY's forms, without an allocation.

use std::io::Write;

const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
const ZEROS: &[u8; 20] = b"00000000000000000000";

/// A short text without an allocation. All its room is copied: that takes a few instructions, a copy of `len` bytes takes a call.
#[derive(Clone, Copy, Debug)]
pub struct InlineText<const ROOM: usize> {
    bytes: [u8; ROOM],
    len: u8,
}

impl<const ROOM: usize> InlineText<ROOM> {
    /// Creates the text, cut to its room.
    pub fn new(text: &[u8]) -> InlineText<ROOM> {
        let (mut bytes, len) = ([0; ROOM], text.len().min(ROOM));
        bytes[..len].copy_from_slice(&text[..len]);
        InlineText { bytes, len: len as u8 }
    }

    /// Appends the text.
    #[inline(always)]
    pub fn push(&self, line: &mut Vec<u8>) {
        start_of(line, &self.bytes, self.len.into());
    }
}

impl<const ROOM: usize> std::ops::Deref for InlineText<ROOM> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// Appends the first `len` bytes.
#[inline(always)]
fn start_of<const ROOM: usize>(line: &mut Vec<u8>, bytes: &[u8; ROOM], len: usize) {
    let end = line.len() + len;
    line.extend_from_slice(bytes);
    line.truncate(end);
}

/// Eight digits of a number below 100,000,000. Its halves, quarters and digits are computed side by side in one word.
const fn eight_digits(number: u64) -> [u8; 8] {
    let halves = (number / 10_000) | ((number % 10_000) << 32);
    let high = ((halves * 10_486) >> 20) & 0x7F_0000_007F;
    let quarters = high + ((halves - 100 * high) << 16);
    let tens = ((quarters * 103) >> 10) & 0xF_000F_000F_000F;
    ((tens + ((quarters - 10 * tens) << 8)) | 0x3030_3030_3030_3030).to_le_bytes()
}

/// Eight hexadecimal digits, a nibble to a byte.
const fn eight_hex(number: u32) -> [u8; 8] {
    let bytes = number.swap_bytes() as u64;
    let pairs = (bytes | bytes << 16) & 0xFFFF_0000_FFFF;
    let bytes = (pairs | pairs << 8) & 0xFF_00FF_00FF_00FF;
    let nibbles = (bytes >> 4 | bytes << 8) & 0x0F0F_0F0F_0F0F_0F0F;
    let letters = ((nibbles + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101;
    (nibbles + 0x3030_3030_3030_3030 + 7 * letters).to_le_bytes()
}

/// Appends a decimal number. The fast cases are the numbers of most fields.
#[inline]
pub fn number(line: &mut Vec<u8>, number: u64) {
    match number {
        0..10 => line.push(b'0' + number as u8),
        10..100 => line.extend_from_slice(&[b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]),
        _ => line.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
    }
}

/// Appends a decimal number with a sign.
pub fn signed(line: &mut Vec<u8>, number: i64) {
    line.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a decimal number with leading zeros. The fast case is a time stamp: ten columns.
#[inline]
pub fn padded(line: &mut Vec<u8>, number: u64, width: usize) {
    const COLUMNS: usize = 10;
    const EIGHT: u64 = 100_000_000;
    if width != COLUMNS || number >= 100 * EIGHT {
        return filled(line, number, width);
    }
    let (first, [a, b, c, d, e, f, g, h]) = ((number / EIGHT) as u8, eight_digits(number % EIGHT));
    line.extend_from_slice(&[b'0' + first / 10, b'0' + first % 10, a, b, c, d, e, f, g, h]);
}

fn filled(line: &mut Vec<u8>, number: u64, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number).as_bytes();
    let missing = width.saturating_sub(digits.len());
    line.extend_from_slice(&ZEROS[..missing.min(ZEROS.len())]);
    line.extend_from_slice(digits);
}

/// Appends a decimal number with leading zeros. The sign takes one of the columns.
pub fn signed_padded(line: &mut Vec<u8>, number: i32, width: usize) {
    if number < 0 {
        line.push(b'-');
    }
    padded(line, number.unsigned_abs().into(), width - usize::from(number < 0));
}

/// Appends a decimal number with leading blanks.
pub fn right(line: &mut Vec<u8>, number: impl itoa::Integer, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number).as_bytes();
    line.extend(std::iter::repeat_n(b' ', width.saturating_sub(digits.len())));
    line.extend_from_slice(digits);
}

/// Appends the last `digits` hexadecimal digits of a number.
#[inline]
pub fn hex(line: &mut Vec<u8>, number: u64, digits: usize) {
    match digits {
        8 => line.extend_from_slice(&eight_hex(number as u32)),
        16 => {
            line.extend_from_slice(&eight_hex((number >> 32) as u32));
            line.extend_from_slice(&eight_hex(number as u32));
        }
        _ => few_hex(line, number, digits),
    }
}

fn few_hex(line: &mut Vec<u8>, number: u64, digits: usize) {
    let mut buffer = [0; 16];
    let buffer = &mut buffer[..digits.min(16)];
    for (digit, slot) in buffer.iter_mut().rev().enumerate() {
        *slot = DIGITS[(number >> (4 * digit)) as usize & 15];
    }
    line.extend_from_slice(buffer);
}

/// Appends a hexadecimal number, filled with `fill` to at least `width` columns.
pub fn hex_filled(line: &mut Vec<u8>, number: u64, width: usize, fill: u8) {
    let digits = (64 - number.leading_zeros() as usize).div_ceil(4).max(1);
    line.extend(std::iter::repeat_n(fill, width.saturating_sub(digits)));
    hex(line, number, digits);
}

/// Appends a number in the form of C's `%e`, with `digits` digits behind the point.
pub fn exponent(line: &mut Vec<u8>, value: f64, negative: bool, digits: usize) {
    let width = if digits == 0 { 7 } else { 8 + digits };
    let start = line.len();
    let sign = if negative { "-" } else { "" };
    // Writing to memory cannot fail.
    let _ = match value {
        value if value.is_nan() => write!(line, "{sign}nan"),
        value if value.is_infinite() => write!(line, "{sign}inf"),
        _ => write!(line, "{value:.digits$e}"),
    };
    if value.is_finite() {
        pad_exponent(line, start);
    }
    let len = line.len() - start;
    line.extend(std::iter::repeat_n(b' ', width.saturating_sub(len)));
    line[start..].rotate_right(width.saturating_sub(len));
}

/// Gives an exponent its sign and two digits: `1e3` becomes `1e+03`.
fn pad_exponent(line: &mut Vec<u8>, start: usize) {
    let Some(at) = line[start..].iter().rposition(|byte| *byte == b'e').map(|at| start + at + 1) else {
        return;
    };
    if line.get(at) != Some(&b'-') {
        line.insert(at, b'+');
    }
    if line.len() - at < 3 {
        line.insert(at + 1, b'0');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(with: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut line = Vec::new();
        with(&mut line);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn numbers_are_padded_to_their_width() {
        assert_eq!(put(|line| padded(line, 42, 10)), "0000000042");
        assert_eq!(put(|line| signed_padded(line, -1, 8)), "-0000001");
        assert_eq!(put(|line| right(line, -5, 6)), "    -5");
        assert_eq!(put(|line| hex(line, 0x1F, 4)), "001F");
        assert_eq!(put(|line| hex_filled(line, 0, 0, b'0')), "0");
        assert_eq!(put(|line| hex_filled(line, 0x1234_ABCD, 16, b' ')), "        1234ABCD");
    }

    #[test]
    fn digits_side_by_side_are_those_of_the_number() {
        let numbers =
            (0..64).flat_map(|bit| [1u64 << bit, (1 << bit) - 1]).chain((0..20).map(|n| 10u64.pow(n)));
        for number in
            numbers.flat_map(|number| [number, number / 7, number.wrapping_mul(0x9E37_79B9_7F4A_7C15)])
        {
            assert_eq!(put(|line| padded(line, number, 10)), format!("{number:010}"));
            assert_eq!(put(|line| self::number(line, number)), format!("{number}"));
            assert_eq!(put(|line| hex(line, number, 16)), format!("{number:016X}"));
            assert_eq!(put(|line| hex(line, number, 8)), format!("{:08X}", number as u32));
        }
    }

    #[test]
    fn exponents_are_as_in_c() {
        assert_eq!(put(|line| exponent(line, 2.5, false, 0)), "  2e+00");
        assert_eq!(put(|line| exponent(line, -1e300, true, 9)), "-1.000000000e+300");
        assert_eq!(put(|line| exponent(line, 1.5e-7, false, 1)), "  1.5e-07");
        assert_eq!(put(|line| exponent(line, f64::NAN, true, 3)), "       -nan");
    }
}
