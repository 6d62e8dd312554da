//! Numbers as text, without allocating. It must not know what they are.

use std::io::Write;

const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
const ZEROS: &[u8; 20] = b"00000000000000000000";

/// A decimal number.
pub fn number(line: &mut Vec<u8>, number: u64) {
    line.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// A decimal number with a sign.
pub fn signed(line: &mut Vec<u8>, number: i64) {
    line.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// A decimal number with zeros before it.
pub fn padded(line: &mut Vec<u8>, number: u64, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number).as_bytes();
    let missing = width.saturating_sub(digits.len());
    line.extend_from_slice(&ZEROS[..missing.min(ZEROS.len())]);
    line.extend_from_slice(digits);
}

/// A decimal number with zeros before it; the sign counts.
pub fn signed_padded(line: &mut Vec<u8>, number: i32, width: usize) {
    if number < 0 {
        line.push(b'-');
    }
    padded(line, number.unsigned_abs().into(), width - usize::from(number < 0));
}

/// A decimal number with blanks before it.
pub fn right(line: &mut Vec<u8>, number: impl itoa::Integer, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number).as_bytes();
    line.extend(std::iter::repeat_n(b' ', width.saturating_sub(digits.len())));
    line.extend_from_slice(digits);
}

/// So many hexadecimal digits.
pub fn hex(line: &mut Vec<u8>, number: u64, digits: usize) {
    let mut buffer = [0; 16];
    let buffer = &mut buffer[..digits.min(16)];
    for (digit, slot) in buffer.iter_mut().rev().enumerate() {
        *slot = DIGITS[(number >> (4 * digit)) as usize & 15];
    }
    line.extend_from_slice(buffer);
}

/// A hexadecimal number with at least so many digits, the missing ones filled with `fill`.
pub fn hex_filled(line: &mut Vec<u8>, number: u64, width: usize, fill: u8) {
    let digits = (64 - number.leading_zeros() as usize).div_ceil(4).max(1);
    line.extend(std::iter::repeat_n(fill, width.saturating_sub(digits)));
    hex(line, number, digits);
}

/// A number in the exponent form of C's `%e`, with so many digits behind the point.
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
        let_exponent_have_two_digits(line, start);
    }
    let len = line.len() - start;
    line.extend(std::iter::repeat_n(b' ', width.saturating_sub(len)));
    line[start..].rotate_right(width.saturating_sub(len));
}

/// `1e3` becomes `1e+03`.
fn let_exponent_have_two_digits(line: &mut Vec<u8>, start: usize) {
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
    fn numbers_are_filled_as_asked() {
        assert_eq!(put(|line| padded(line, 42, 10)), "0000000042");
        assert_eq!(put(|line| signed_padded(line, -1, 8)), "-0000001");
        assert_eq!(put(|line| right(line, -5, 6)), "    -5");
        assert_eq!(put(|line| hex(line, 0x1F, 4)), "001F");
        assert_eq!(put(|line| hex_filled(line, 0, 0, b'0')), "0");
        assert_eq!(put(|line| hex_filled(line, 0x1234_ABCD, 16, b' ')), "        1234ABCD");
    }

    #[test]
    fn exponents_are_as_in_c() {
        assert_eq!(put(|line| exponent(line, 2.5, false, 0)), "  2e+00");
        assert_eq!(put(|line| exponent(line, -1e300, true, 9)), "-1.000000000e+300");
        assert_eq!(put(|line| exponent(line, 1.5e-7, false, 1)), "  1.5e-07");
        assert_eq!(put(|line| exponent(line, f64::NAN, true, 3)), "       -nan");
    }
}
