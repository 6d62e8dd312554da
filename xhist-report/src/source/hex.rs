//! Text forms of memory: Intel HEX and Motorola S-records, as debuggers and `objcopy` write them. It must not know what is
//! in the memory.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::{Image, Opened, file};

/// Bytes between two pieces of memory at most: enough that nothing goes on from one to the other, and that what is behind some
/// lost records stays in its place.
const GAP: u64 = 256;

/// Pieces of memory by address.
type Pieces = BTreeMap<u64, Vec<u8>>;

/// Whether a file starts as one of the two does.
pub fn is_hex(text: &OsStr) -> bool {
    let mut start = [0; 9];
    let path = Path::new(text);
    // Reading a pipe to look would take the bytes out of it.
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && (is_record(&start, b":") || is_record(&start, b"S"))
}

fn is_record(start: &[u8; 9], mark: &[u8]) -> bool {
    start.strip_prefix(mark).is_some_and(|rest| rest.iter().all(u8::is_ascii_hexdigit))
}

/// Reads all good records; the others are told as losses.
pub fn open(text: &OsStr) -> Result<Opened, String> {
    let opened = file::open(text)?;
    let read = if opened.image.starts_with(b":") { intel(&opened.image) } else { motorola(&opened.image) };
    if let (0, Some(first)) = (read.good, read.bad.first()) {
        return Err(format!("{}: no record is good: {first}", Path::new(text).display()));
    }
    Ok(Opened {
        image: Image::Bytes(joined(read.pieces)),
        data: None,
        file: None,
        losses: read.bad,
        ..opened
    })
}

/// What the lines of a file are.
#[derive(Default)]
struct Content {
    pieces: Pieces,
    /// Good records.
    good: usize,
    /// What is wrong with each of the others.
    bad: Vec<String>,
}

impl Content {
    /// Takes what came of a line; whether it is a good record.
    fn add(&mut self, line: usize, record: Result<Option<(u64, &[u8])>, String>) -> bool {
        match record {
            Ok(data) => {
                self.good += 1;
                self.pieces.extend(data.map(|(address, data)| (address, data.to_vec())));
                true
            }
            Err(why) => {
                self.bad.push(format!("the record in line {line} was left out: {why}"));
                false
            }
        }
    }
}

/// The lines that are not empty, by their numbers. What is behind a blank is a comment.
fn lines(content: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).zip(1..);
    let lines =
        lines.map(|(line, number)| (number, line.split(u8::is_ascii_whitespace).next().unwrap_or(line)));
    lines.filter(|(_, line)| !line.is_empty())
}

fn intel(content: &[u8]) -> Content {
    let mut read = Content::default();
    let (mut base, mut end, mut is_sure) = (0, 0, true);
    for (number, line) in lines(content) {
        let bytes = line.strip_prefix(b":").ok_or_else(|| "it does not start with `:`".to_owned());
        let bytes = bytes.and_then(|digits| checked(digits, 5, 0));
        let record = match bytes.as_deref() {
            Err(why) => Err(why.clone()),
            Ok([high, low, 0, data @ ..]) => {
                let offset = u64::from(u16::from_be_bytes([*high, *low]));
                // The record that told of the next 64 KiB may be among those left out.
                if !is_sure && base + offset < end {
                    base += 1 << 16;
                }
                end = base + offset + data.len() as u64;
                Ok(Some((base + offset, data)))
            }
            Ok([_, _, 1, ..]) => break,
            Ok([_, _, kind @ (2 | 4), high, low]) => {
                let shift = if *kind == 2 { 4 } else { 16 };
                (base, is_sure) = (u64::from(u16::from_be_bytes([*high, *low])) << shift, true);
                Ok(None)
            }
            Ok([_, _, 3 | 5, ..]) => Ok(None),
            Ok(_) => Err("such records are not known".to_owned()),
        };
        is_sure &= read.add(number, record);
    }
    read
}

fn motorola(content: &[u8]) -> Content {
    let mut read = Content::default();
    for (number, line) in lines(content) {
        let (kind, bytes) = match line {
            [b'S', kind, digits @ ..] => (*kind, checked(digits, 1, 0xFF)),
            _ => (0, Err("it does not start with `S` and a digit".to_owned())),
        };
        let data = |address: &[u8], data| {
            let address = address.iter().fold(0, |address, byte| address << 8 | u64::from(*byte));
            Ok(Some((address, data)))
        };
        let record = match (kind, bytes.as_deref()) {
            (_, Err(why)) => Err(why.clone()),
            (b'1', Ok([a, b, rest @ ..])) => data(&[*a, *b], rest),
            (b'2', Ok([a, b, c, rest @ ..])) => data(&[*a, *b, *c], rest),
            (b'3', Ok([a, b, c, d, rest @ ..])) => data(&[*a, *b, *c, *d], rest),
            (b'0' | b'5'..=b'9', _) => Ok(None),
            _ => Err("such records are not known".to_owned()),
        };
        read.add(number, record);
    }
    read
}

/// The bytes of a record between its length and its checksum. `more` is how much longer it is than it says, `total` what its
/// checksum makes of all bytes.
fn checked(digits: &[u8], more: usize, total: u8) -> Result<Vec<u8>, String> {
    let digit = |digit: &u8| char::from(*digit).to_digit(16).map(|value| value as u8);
    let values: Option<Vec<u8>> = digits.iter().map(digit).collect();
    let values = values.ok_or("not all of it are hex digits")?;
    let bytes: Vec<u8> = values.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    let wanted = bytes.first().map_or(more, |len| usize::from(*len) + more);
    let [_, inner @ .., sum] = &bytes[..] else { return Err("it is cut".to_owned()) };
    if 2 * wanted > digits.len() {
        return Err(format!("it is cut: {} of {wanted} bytes are there", bytes.len()));
    }
    if 2 * wanted < digits.len() {
        return Err(format!("it is longer than the {wanted} bytes that it tells"));
    }
    let before = bytes[..=inner.len()].iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    match total.wrapping_sub(before) {
        right if right == *sum => Ok(inner.to_vec()),
        right => Err(format!("its checksum is {sum:02X} and should be {right:02X}")),
    }
}

/// One behind the other: what lies together stays together, and what does not is kept apart.
fn joined(pieces: Pieces) -> Vec<u8> {
    let mut image = Vec::new();
    let mut end = None;
    for (address, piece) in pieces {
        if let Some(end) = end {
            // Pieces that overlap are kept apart too.
            let gap = u64::checked_sub(address, end).unwrap_or(GAP).min(GAP);
            image.resize(image.len() + gap as usize, 0);
        }
        end = Some(address + piece.len() as u64);
        image.extend(piece);
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_give_the_same_bytes() {
        let intel_text = ":020000042000DA\n:0400500001020304A2\n:0200540005069F\n:00000001FF\n";
        let motorola_text =
            "S00600004844521B\nS3092000005001020304 7C\nS307200000540506 79\nS70500000000FA\n";
        let expected = [1, 2, 3, 4, 5, 6];
        let motorola_text = motorola_text.replace(' ', "");
        for read in [intel(intel_text.as_bytes()), motorola(motorola_text.as_bytes())] {
            assert_eq!((joined(read.pieces), read.bad), (expected.to_vec(), vec![]));
        }
    }

    #[test]
    fn what_is_behind_a_lost_record_stays_in_its_place() {
        assert_eq!(joined([(0, vec![1]), (3, vec![2])].into()), [1, 0, 0, 2]);
        let text =
            ":0400500001020304A2\n:020054\n:0200540005069E\n\u{fffd}\n:0200560005069D\n:020058000506\n";
        let read = intel(text.as_bytes());
        assert_eq!(joined(read.pieces), [1, 2, 3, 4, 0, 0, 5, 6]);
        let told = [
            "line 2 was left out: it is cut: 3 of 7 bytes are there",
            "line 3 was left out: its checksum is 9E and should be 9F",
            "line 4 was left out: it does not start with `:`",
            "line 6 was left out: it is cut: 6 of 7 bytes are there",
        ];
        let told = told.map(|told| format!("the record in {told}"));
        assert_eq!(read.bad, told);
    }

    #[test]
    fn behind_a_lost_record_of_an_address_nothing_is_overwritten() {
        let text = ":020000042000DA\n:02FFFE000102FE\n:020000042001D8\n:020000000506F3\n";
        let read = intel(text.as_bytes());
        assert_eq!((joined(read.pieces), read.bad.len()), (vec![1, 2, 5, 6], 1));
    }

    #[test]
    fn any_line_is_told_and_none_is_fatal() {
        for line in ["S", "S1", "S000", "S0\u{e9}", "S10212EB", "S401FE", "S006000048FF521B00", "S1+1+1", "x"]
        {
            let read = motorola(format!("{line}\nS1041234FFB6\n").as_bytes());
            assert_eq!((read.bad.len(), read.good), (1, 1), "{line}: {:?}", read.bad);
        }
        for line in [":", ":00", ":0", ":0000000AF6", ":02000004F", "x"] {
            let read = intel(format!("{line}\n:0400500001020304A2\n").as_bytes());
            assert_eq!((read.bad.len(), read.good), (1, 1), "{line}: {:?}", read.bad);
        }
    }

    #[test]
    fn what_is_apart_stays_apart() {
        let image = joined([(0, vec![1]), (9999, vec![2])].into());
        let gap = GAP as usize;
        assert_eq!((image[0], image.len(), image[gap + 1]), (1, gap + 2, 2));
    }
}
