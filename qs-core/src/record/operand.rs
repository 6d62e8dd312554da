//! Operands of the steps of packed statements: numbers as bytes that begin no step.

/// Writes the bytes of a number behind a step: five bits each, lowest first. No byte is zero or needs an escape.
pub fn digits(mut value: u64, mut sink: impl FnMut(u8)) {
    const MORE: u8 = 0x20;
    loop {
        let low = 1 + (value & 0x1F) as u8;
        value >>= 5;
        if value == 0 {
            return sink(low);
        }
        sink(low + MORE);
    }
}

/// The number whose digits are at `at`, which moves behind them. 0 without digits.
pub(super) fn number(data: &[u8], at: &mut usize) -> u64 {
    read(data, at).0
}

/// [`number`] with all of its digits. `None` if the last one is missing.
pub(super) fn whole_number(data: &[u8], at: &mut usize) -> Option<u64> {
    let (value, is_whole) = read(data, at);
    is_whole.then_some(value)
}

/// A number, and whether it has its last digit.
fn read(data: &[u8], at: &mut usize) -> (u64, bool) {
    let (mut value, mut shift) = (0u64, 0);
    while let Some(byte @ 0x01..=0x40) = data.get(*at) {
        *at += 1;
        let digit = u64::from(byte - 1);
        value |= (digit & 0x1F).checked_shl(shift).unwrap_or(0);
        shift += 5;
        if digit < 0x20 {
            return (value, true);
        }
    }
    (value, false)
}
