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

/// Reads all of it.
pub fn open(text: &OsStr) -> Result<Opened, String> {
    let opened = file::open(text)?;
    let path = Path::new(text).display();
    let content = std::str::from_utf8(&opened.image).map_err(|_| format!("{path} is not all text"))?;
    let pieces = if content.starts_with(':') { intel(content) } else { motorola(content) };
    let image = joined(pieces.map_err(|why| format!("{path}: {why}"))?);
    Ok(Opened { image: Image::Bytes(image), data: None, file: None, ..opened })
}

fn intel(content: &str) -> Result<Pieces, String> {
    let mut pieces = Pieces::new();
    let mut base = 0;
    for (record, number) in ihex::Reader::new(content).zip(1..) {
        match record.map_err(|error| format!("record {number}: {error}"))? {
            ihex::Record::Data { offset, value } => _ = pieces.insert(base + u64::from(offset), value),
            ihex::Record::ExtendedLinearAddress(high) => base = u64::from(high) << 16,
            ihex::Record::ExtendedSegmentAddress(high) => base = u64::from(high) << 4,
            _ => {}
        }
    }
    Ok(pieces)
}

fn motorola(content: &str) -> Result<Pieces, String> {
    let mut pieces = Pieces::new();
    for (record, number) in srec::reader::read_records(content).zip(1..) {
        match record.map_err(|error| format!("record {number}: {error:?}"))? {
            srec::Record::S1(data) => _ = pieces.insert(address(data.address), data.data),
            srec::Record::S2(data) => _ = pieces.insert(address(data.address), data.data),
            srec::Record::S3(data) => _ = pieces.insert(address(data.address), data.data),
            _ => {}
        }
    }
    Ok(pieces)
}

fn address(address: impl Into<u32>) -> u64 {
    address.into().into()
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
        assert_eq!(joined(intel(intel_text).expect("good records")), expected);
        assert_eq!(joined(motorola(&motorola_text.replace(' ', "")).expect("good records")), expected);
        assert!(intel(":0400500001020304FF\n").is_err(), "a wrong checksum");
    }

    #[test]
    fn what_is_behind_a_lost_record_stays_in_its_place() {
        assert_eq!(joined([(0, vec![1]), (3, vec![2])].into()), [1, 0, 0, 2]);
        let text = ":0400500001020304A2\n:0200540005069E\n";
        assert_eq!(intel(text).unwrap_err(), "record 2: invalid checksum '9F', expecting '9E'");
        assert!(motorola("S00600004844521B\nS307\n").unwrap_err().starts_with("record 2: "));
    }

    #[test]
    fn what_is_apart_stays_apart() {
        let image = joined([(0, vec![1]), (9999, vec![2])].into());
        let gap = GAP as usize;
        assert_eq!((image[0], image.len(), image[gap + 1]), (1, gap + 2, 2));
    }
}
