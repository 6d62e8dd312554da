//! Text forms of memory: Intel HEX and Motorola S-records, as debuggers and `objcopy` write them.

use std::fmt;
use std::path::Path;

use super::s_record::{self, SRecordError};
use super::{Image, Opened, SourceError};

/// Most bytes between two pieces of memory. Enough that a ring does not continue from one into the other, and that the bytes
/// behind a few lost records stay in their place.
const GAP: u64 = 256;

/// Most bad records that are reported one by one; a file of another kind has millions.
const MAX_BAD: usize = 5;

/// Pieces of memory with their addresses, in the order of the file.
type Pieces = Vec<(u64, Vec<u8>)>;

/// Why a line is not a good record.
enum RecordError {
    IntelHex(ihex::ReaderError),
    SRecord(SRecordError),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The library swaps the two.
            RecordError::IntelHex(ihex::ReaderError::ChecksumMismatch(right, found)) => {
                write!(f, "its checksum is {found:02X} and should be {right:02X}")
            }
            RecordError::IntelHex(error) => error.fmt(f),
            RecordError::SRecord(error) => error.fmt(f),
        }
    }
}

/// Decodes an opened source that is a text form of memory; returns others unchanged. Bad records are reported as losses.
pub fn decoded(opened: Opened) -> Result<Opened, SourceError> {
    let read = match is_record(&opened.image, b":") {
        true => intel(&opened.image),
        false if is_record(&opened.image, b"S") => motorola(&opened.image),
        false => return Ok(opened),
    };
    if let (0, Some(first)) = (read.good, read.bad.first()) {
        let name = opened.path.as_deref().unwrap_or(Path::new("standard input"));
        return Err(SourceError::NoGoodRecord { name: name.display().to_string(), first: first.clone() });
    }
    let (image, replaced) = joined(&read.pieces);
    let mut losses = read.losses();
    if replaced > 0 {
        losses.push(format!(
            "records that later ones at the same addresses contradict: {replaced}; the later ones were taken"
        ));
    }
    Ok(Opened { image: Image::Bytes(image), data: None, file: None, losses, ..opened })
}

/// Whether it starts with a record of this mark.
fn is_record(image: &[u8], mark: &[u8]) -> bool {
    let start = image.get(..9).and_then(|start| start.strip_prefix(mark));
    start.is_some_and(|rest| rest.iter().all(u8::is_ascii_hexdigit))
}

/// The records of a file.
#[derive(Default)]
struct Content {
    pieces: Pieces,
    /// Good records.
    good: usize,
    /// Errors of the first bad records.
    bad: Vec<String>,
    /// How many more bad records there are.
    more: usize,
}

impl Content {
    /// Adds the outcome of a line. Returns whether it is a good record.
    fn add(&mut self, line: usize, record: Result<Option<(u64, Vec<u8>)>, RecordError>) -> bool {
        match record {
            Ok(data) => {
                self.good += 1;
                self.pieces.extend(data);
                true
            }
            Err(_) if self.bad.len() == MAX_BAD => {
                self.more += 1;
                false
            }
            Err(why) => {
                self.bad.push(format!("the record in line {line} was left out: {why}"));
                false
            }
        }
    }

    fn losses(&self) -> Vec<String> {
        let more = (self.more > 0).then(|| format!("and {} more records", self.more));
        self.bad.iter().cloned().chain(more).collect()
    }
}

/// The lines that are not empty, with their numbers. Text behind a blank is a comment; a line may end in CR alone.
fn lines(content: &[u8]) -> impl Iterator<Item = (usize, &str)> {
    let lines = content.split(|byte| *byte == b'\n').zip(1..);
    let lines =
        lines.flat_map(|(line, number)| line.split(|byte| *byte == b'\r').map(move |line| (number, line)));
    lines.filter_map(|(number, line)| {
        let word = line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty())?;
        Some((number, std::str::from_utf8(word).unwrap_or("\u{fffd}")))
    })
}

fn intel(content: &[u8]) -> Content {
    use ihex::Record;
    let mut read = Content::default();
    let (mut base, mut end, mut is_sure, mut is_over) = (0, 0, true, false);
    for (number, line) in lines(content) {
        // Any text may follow the end, also another file of records.
        if is_over && !line.starts_with(':') {
            continue;
        }
        let record = match Record::from_record_string(line) {
            Ok(Record::Data { offset, value }) => {
                let offset = u64::from(offset);
                // The record with the address of the next 64 KiB may be one of the bad ones.
                if !is_sure && base + offset < end {
                    base += 1 << 16;
                }
                end = base + offset + value.len() as u64;
                Ok(Some((base + offset, value)))
            }
            Ok(Record::EndOfFile) => {
                (base, is_sure, is_over) = (0, true, true);
                Ok(None)
            }
            Ok(Record::ExtendedLinearAddress(high)) => {
                (base, is_sure) = (u64::from(high) << 16, true);
                Ok(None)
            }
            Ok(Record::ExtendedSegmentAddress(high)) => {
                (base, is_sure) = (u64::from(high) << 4, true);
                Ok(None)
            }
            Ok(_) => Ok(None),
            Err(error) => Err(RecordError::IntelHex(error)),
        };
        is_sure &= read.add(number, record);
    }
    read
}

fn motorola(content: &[u8]) -> Content {
    let mut read = Content::default();
    for (number, line) in lines(content) {
        read.add(number, s_record::parse(line).map_err(RecordError::SRecord));
    }
    read
}

/// Pieces that are adjacent or overlap.
struct MemoryBlock {
    start: u64,
    end: u64,
    /// Its offset in the image.
    at: usize,
}

/// Joins pieces into an image: adjacent pieces stay adjacent, others are kept apart. Where pieces overlap, the last one wins, as in a
/// device that is written in this order. Returns the image and the number of pieces with other bytes.
fn joined(pieces: &[(u64, Vec<u8>)]) -> (Vec<u8>, usize) {
    let mut spans: Vec<_> =
        pieces.iter().map(|(address, piece)| (*address, *address + piece.len() as u64)).collect();
    spans.sort_unstable();
    let mut image = Vec::new();
    let mut runs: Vec<MemoryBlock> = Vec::new();
    for (start, end) in spans {
        match runs.last_mut() {
            Some(run) if start <= run.end => run.end = run.end.max(end),
            last => {
                let gap = last.map_or(0, |run| (start - run.end).min(GAP));
                let at = image.len() + gap as usize;
                runs.push(MemoryBlock { start, end, at });
            }
        }
        let run = &runs[runs.len() - 1];
        image.resize(run.at + (run.end - run.start) as usize, 0);
    }
    let place = |(address, piece): &(u64, Vec<u8>)| {
        let run = &runs[runs.partition_point(|run| run.start <= *address) - 1];
        let at = run.at + (*address - run.start) as usize;
        at..at + piece.len()
    };
    for piece in pieces {
        image[place(piece)].copy_from_slice(&piece.1);
    }
    let replaced = pieces.iter().filter(|piece| image[place(piece)] != piece.1[..]).count();
    (image, replaced)
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
            assert_eq!((joined(&read.pieces).0, read.bad), (expected.to_vec(), vec![]));
        }
    }

    #[test]
    fn bytes_behind_a_lost_record_stay_in_their_place() {
        assert_eq!(joined(&[(0, vec![1]), (3, vec![2])]).0, [1, 0, 0, 2]);
        let text =
            ":0400500001020304A2\n:020054\n:0200540005069E\n\u{fffd}\n:0200560005069D\n:020058000506\n";
        let read = intel(text.as_bytes());
        assert_eq!(joined(&read.pieces).0, [1, 2, 3, 4, 0, 0, 5, 6]);
        let errors = [
            "line 2 was left out: too short",
            "line 3 was left out: its checksum is 9E and should be 9F",
            "line 4 was left out: missing start code ':'",
            "line 6 was left out: its checksum is 06 and should be A1",
        ];
        let errors = errors.map(|error| format!("the record in {error}"));
        assert_eq!(read.bad, errors);
    }

    #[test]
    fn behind_a_lost_record_of_an_address_nothing_is_overwritten() {
        let text = ":020000042000DA\n:02FFFE000102FE\n:020000042001D8\n:020000000506F3\n";
        let read = intel(text.as_bytes());
        assert_eq!((joined(&read.pieces).0, read.bad.len()), (vec![1, 2, 5, 6], 1));
    }

    #[test]
    fn a_file_behind_another_and_lines_that_end_in_cr_are_read() {
        let one = ":020000042000DA\n:0100000001FE\n:00000001FF\n";
        let text = format!("{one}\u{1a}\nthe other\n:0100010002FC\r:0100020003FA\r\n:00000001FF\n");
        let read = intel(text.as_bytes());
        assert_eq!((joined(&read.pieces).0.first_chunk(), read.bad), (Some(&[2, 3]), vec![]));
        assert_eq!((intel(one.as_bytes()).good, read.good), (3, 6));
    }

    #[test]
    fn of_overlapping_pieces_the_last_one_wins() {
        let pieces = [(4, vec![1; 8]), (8, vec![2; 8]), (0, vec![0; 4]), (6, vec![1])];
        assert_eq!(joined(&pieces), ([vec![0; 4], vec![1; 4], vec![2; 8]].concat(), 1));
        assert_eq!(joined(&[(0, vec![1, 2]), (1, vec![2, 3])]), (vec![1, 2, 3], 0));
    }

    #[test]
    fn lines_that_are_no_records_are_counted() {
        let read = motorola("S\n".repeat(1000).as_bytes());
        assert_eq!((read.bad.len(), read.more), (MAX_BAD, 1000 - MAX_BAD));
        assert_eq!(read.losses().last().map(String::as_str), Some("and 995 more records"));
    }

    #[test]
    fn any_bad_line_is_reported_and_the_next_one_read() {
        for line in ["S", "S1", "S0\u{e9}", "S10212EB", "S401FE", "S1+1+1", "S1\u{e9}", "x"] {
            let read = motorola(format!("{line}\nS1041234FFB6\n").as_bytes());
            assert_eq!((read.bad.len(), read.good), (1, 1), "{line}: {:?}", read.bad);
        }
        // A header says nothing about memory, so it is not checked.
        for line in ["S000", "S001FE", "S006000048FF521B"] {
            let read = motorola(format!("{line}\nS1041234FFB6\n").as_bytes());
            assert_eq!((read.bad.len(), read.good), (0, 2), "{line}: {:?}", read.bad);
        }
        for line in [":", ":00", ":0", ":0000000AF6", ":02000004F", "x"] {
            let read = intel(format!("{line}\n:0400500001020304A2\n").as_bytes());
            assert_eq!((read.bad.len(), read.good), (1, 1), "{line}: {:?}", read.bad);
        }
    }

    #[test]
    fn distant_pieces_stay_apart() {
        let image = joined(&[(0, vec![1]), (9999, vec![2])]).0;
        let gap = GAP as usize;
        assert_eq!((image[0], image.len(), image[gap + 1]), (1, gap + 2, 2));
    }
}
