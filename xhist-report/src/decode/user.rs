//! Text of QS application records, as QSPY prints them with its default sizes and no dictionaries.
//! It must not know predefined records.

use qs_core::record::USER_BASE;

use super::element::{Fields, push_element};

/// QSPY cuts a line here.
const MAX_LINE: usize = 991;

/// The line of an application record; `None` for the id of a predefined one.
pub fn text(id: u8, payload: &[u8]) -> Option<String> {
    let number = id.checked_sub(USER_BASE)?;
    let mut fields = Fields::new(payload);
    // A missing time stamp reads as 0, as in QSPY.
    let time = fields.uint(4, &mut String::new());
    let mut line = format!("{time:010} USER+{number:03}");
    while !fields.is_empty() {
        push_element(&mut fields, &mut line);
    }
    if let Some((cut, _)) = line.char_indices().nth(MAX_LINE) {
        line.truncate(cut);
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(elements: &str) -> String {
        let digits = format!("40e20100{elements}");
        let payload: Vec<u8> = (0..digits.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
            .collect();
        text(101, &payload).unwrap().strip_prefix("0000123456 USER+001").unwrap().to_owned()
    }

    /// What QSPY printed for these elements.
    const ELEMENTS: &[(&str, &str)] = &[
        ("00fb", " -5"),
        ("50fb", "    -5"),
        ("8003", " 003"),
        ("f0ff", " 255"),
        ("0107", " 7"),
        ("5107", "     7"),
        ("f17e", " 0x7E"),
        ("02ffff", " -1"),
        ("720080", "  -32768"),
        ("f2ffff", "              -1"),
        ("03ffff", " 65535"),
        ("832a00", "       42"),
        ("f37e7d", " 0x7D7E"),
        ("0400000080", " -2147483648"),
        ("f4ffffffff", "              -1"),
        ("05ffffffff", " 4294967295"),
        ("c501000000", "            1"),
        ("f5efbeadde", " 0xDEADBEEF"),
        ("06d00f4940", "   3e+00"),
        ("16d00f4940", "   3.1e+00"),
        ("76b00f21b4", "  -1.5000001e-07"),
        ("260000807f", "        inf"),
        ("360000c0ff", "        -nan"),
        ("360000c07f", "         nan"),
        ("070000000000000440", "   2e+00"),
        ("f7182d4454fb210940", "   3.141592653589793e+00"),
        ("979c7500883ce437fe", " -1.000000000e+300"),
        ("08686920746865726500", " hi there"),
        ("0800", " ''"),
        ("0900", " "),
        ("0903017eff", "  01 7E FF"),
        ("0a060030000020", " 00000006,Obj=0x20000030,Obj=0x20000030"),
        ("0a000000000000", " NULL"),
        ("0b01000000", " 0x00000001"),
        ("0b00000000", " NULL"),
        ("0dfbffffffffffffff", " -5"),
        ("9dfbffffffffffffff", " -5"),
        ("4d351cdcdf02000000", " 12345678901"),
        ("0e0500000000000000", "  5"),
        ("9e0500000000000000", "                    5"),
        ("fecdab341200000000", " 0x        1234ABCD"),
        ("0fcdab0000", " 0xABCD"),
        ("8fcdab0000", " 0x0000ABCD"),
    ];

    #[test]
    fn elements_print_as_in_qspy() {
        for (bytes, expected) in ELEMENTS {
            assert_eq!(line(bytes), *expected, "{bytes}");
        }
    }

    #[test]
    fn elements_follow_each_other() {
        let (bytes, expected): (Vec<_>, Vec<_>) = ELEMENTS.iter().copied().unzip();
        assert_eq!(line(&bytes.concat()), expected.concat());
    }

    #[test]
    fn short_records_print_what_is_missing() {
        assert_eq!(text(100, &[1, 2]).unwrap(), "0000000000 USER+000");
        assert_eq!(
            text(100, &[0, 0, 0, 0, 5, 1, 2]).unwrap(),
            "   <COMMS> ERROR    2 more bytes needed for uint32_t  0"
        );
        assert_eq!(
            text(100, &[0, 0, 0, 0, 8, b'a', b'b']).unwrap(),
            "   <COMMS> ERROR    2 more bytes needed for string"
        );
        assert_eq!(text(64, &[]), None);
    }

    #[test]
    fn a_long_line_is_cut() {
        let mut payload = vec![0; 4];
        for _ in 0..50 {
            payload.extend([0xF4, 0, 0, 0, 0, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
        assert_eq!(text(100, &payload).unwrap().len(), MAX_LINE);
    }

    #[test]
    fn no_bytes_make_it_panic() {
        for format in 0..=255u8 {
            for len in 0..12 {
                let mut payload = vec![0xFF; 4 + len];
                if let Some(byte) = payload.get_mut(4) {
                    *byte = format;
                }
                text(255, &payload).unwrap();
            }
        }
    }
}
