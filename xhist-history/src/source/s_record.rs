//! Motorola S-records: one line of text to an address and the bytes there.

use std::fmt;

/// Why a line is not a good S-record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SRecordError {
    /// Something other than `S` and hexadecimal digits is in the line.
    NotHex,
    /// The type is reserved, or unknown.
    Type,
    /// The byte count is zero.
    NoBytes,
    /// The line ends before the bytes that it announces, or the bytes end before the address does.
    TooShort,
    /// The checksum does not match.
    Checksum,
}

impl fmt::Display for SRecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SRecordError::NotHex => "it is not `S` and hex digits",
            SRecordError::Type => "unexpected character",
            SRecordError::NoBytes => "byte count zero",
            SRecordError::TooShort => "not enough data",
            SRecordError::Checksum => "checksum mismatch",
        })
    }
}

/// Reads a record. `None` for a good record without memory: a header, a count or a start address.
///
/// A header is not checked: it names the file and says nothing about memory. Characters behind the checksum are ignored.
///
/// # Errors
/// What is wrong with the line.
pub fn parse(line: &str) -> Result<Option<(u64, Vec<u8>)>, SRecordError> {
    let digits = line.strip_prefix('S').filter(|digits| !digits.is_empty());
    let digits: Option<Vec<u8>> =
        digits.and_then(|digits| digits.chars().map(|char| Some(char.to_digit(16)? as u8)).collect());
    let (kind, digits) = match digits.as_deref() {
        None | Some([]) => return Err(SRecordError::NotHex),
        Some([0, ..]) => return Ok(None),
        Some([kind, digits @ ..]) => (*kind, digits),
    };
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    let (count, bytes) = bytes.split_first().ok_or(SRecordError::TooShort)?;
    let bytes = bytes.get(..usize::from(*count)).ok_or(SRecordError::TooShort)?;
    let (checksum, bytes) = bytes.split_last().ok_or(SRecordError::NoBytes)?;
    let sum = bytes.iter().fold(*count, |sum, byte| sum.wrapping_add(*byte));
    if *checksum != !sum {
        return Err(SRecordError::Checksum);
    }
    let (address_len, has_data) = match kind {
        1..=3 => (usize::from(kind) + 1, true),
        5 | 6 => (usize::from(kind) - 3, false),
        7..=9 => (11 - usize::from(kind), false),
        _ => return Err(SRecordError::Type),
    };
    let (address, data) = bytes.split_at_checked(address_len).ok_or(SRecordError::TooShort)?;
    if !has_data {
        return if data.is_empty() { Ok(None) } else { Err(SRecordError::TooShort) };
    }
    let address = address.iter().fold(0, |address, byte| address << 8 | u64::from(*byte));
    Ok(Some((address, data.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A record as `objcopy` writes it.
    fn written(kind: u8, address: u32, data: &[u8]) -> String {
        let address = &address.to_be_bytes()[3 - usize::from(kind)..];
        let bytes = [&[(address.len() + data.len() + 1) as u8], address, data].concat();
        let checksum = !bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        let hex: String = bytes.iter().chain([&checksum]).map(|byte| format!("{byte:02X}")).collect();
        format!("S{kind}{hex}")
    }

    #[test]
    fn records_without_memory_are_good_and_empty() {
        for line in ["S00600004844521B", "S000", "S5030003F9", "S604000003F8", "S70500000000FA", "S9030000FC"]
        {
            assert_eq!(parse(line), Ok(None), "{line}");
        }
    }

    #[test]
    fn errors_say_what_is_wrong() {
        for (line, error) in [
            ("", SRecordError::NotHex),
            ("S", SRecordError::NotHex),
            ("s1041234FFB6", SRecordError::NotHex),
            ("S1+1+1", SRecordError::NotHex),
            ("S1\u{e9}", SRecordError::NotHex),
            ("S1", SRecordError::TooShort),
            ("S1041234FF", SRecordError::TooShort),
            ("S10212EB", SRecordError::TooShort),
            ("S5020003FA", SRecordError::Checksum),
            ("S50200FD", SRecordError::TooShort),
            ("S100", SRecordError::NoBytes),
            ("S1041234FFB7", SRecordError::Checksum),
            ("S401FE", SRecordError::Type),
            ("SA01FE", SRecordError::Type),
        ] {
            assert_eq!(parse(line), Err(error), "{line}");
        }
    }

    proptest! {
        #[test]
        fn a_written_record_is_read_back(
            kind in 1u8..=3, address: u32, data in proptest::collection::vec(any::<u8>(), 0..250),
        ) {
            let address = address & (u32::MAX >> (24 - 8 * kind));
            let line = written(kind, address, &data);
            prop_assert_eq!(parse(&line), Ok(Some((address.into(), data.clone()))));
            prop_assert_eq!(parse(&line.to_lowercase().replacen('s', "S", 1)), Ok(Some((address.into(), data))));
        }

        #[test]
        fn a_changed_digit_is_detected(data in proptest::collection::vec(any::<u8>(), 0..20), at in 2usize..40, digit in 0u8..16) {
            let mut line = written(3, 0x2000_0000, &data).into_bytes();
            let at = 2 + at % (line.len() - 2);
            let digit = char::from_digit(digit.into(), 16).unwrap().to_ascii_uppercase() as u8;
            prop_assume!(line[at] != digit);
            line[at] = digit;
            prop_assert!(parse(std::str::from_utf8(&line).unwrap()).is_err());
        }

        #[test]
        fn any_text_is_read_or_refused(line in "S?[0-9A-Fa-f]{0,40}|\\PC{0,20}") {
            let _ = parse(&line);
        }
    }
}
