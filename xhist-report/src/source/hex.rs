//! Text forms of memory: Intel HEX and Motorola S-records, as debuggers and `objcopy` write them. It must not know what is
//! in the memory.

use std::path::Path;

use super::{Image, Opened};

/// Bytes between two pieces of memory at most: enough that nothing goes on from one to the other, and that what is behind some
/// lost records stays in its place.
const GAP: u64 = 256;

/// So many bad records are told apart; a file of another kind has millions.
const MAX_BAD: usize = 5;

/// Pieces of memory, each with its address, as they stand in the file.
type Pieces = Vec<(u64, Vec<u8>)>;

/// The memory that an opened source holds as text, if it does. All good records are read; the others are told as losses.
pub fn decoded(opened: Opened) -> Result<Opened, String> {
    let read = match is_record(&opened.image, b":") {
        true => intel(&opened.image),
        false if is_record(&opened.image, b"S") => motorola(&opened.image),
        false => return Ok(opened),
    };
    if let (0, Some(first)) = (read.good, read.bad.first()) {
        let name = opened.path.as_deref().unwrap_or(Path::new("standard input"));
        return Err(format!("{}: no record is good: {first}", name.display()));
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

/// Whether it starts as one of the two does.
fn is_record(image: &[u8], mark: &[u8]) -> bool {
    let start = image.get(..9).and_then(|start| start.strip_prefix(mark));
    start.is_some_and(|rest| rest.iter().all(u8::is_ascii_hexdigit))
}

/// What the lines of a file are.
#[derive(Default)]
struct Content {
    pieces: Pieces,
    /// Good records.
    good: usize,
    /// What is wrong with the first of the others.
    bad: Vec<String>,
    /// How many more there are.
    more: usize,
}

impl Content {
    /// Takes what came of a line; whether it is a good record.
    fn add(&mut self, line: usize, record: Result<Option<(u64, Vec<u8>)>, String>) -> bool {
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

/// The lines that are not empty, by their numbers. What is behind a blank is a comment; a line may end in CR alone.
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
    use ihex::{ReaderError, Record};
    let mut read = Content::default();
    let (mut base, mut end, mut is_sure, mut is_over) = (0, 0, true, false);
    for (number, line) in lines(content) {
        // Behind the end anything may stand, another file of records too.
        if is_over && !line.starts_with(':') {
            continue;
        }
        let record = match Record::from_record_string(line) {
            Ok(Record::Data { offset, value }) => {
                let offset = u64::from(offset);
                // The record that told of the next 64 KiB may be among those left out.
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
            // The library calls each by the other's name.
            Err(ReaderError::ChecksumMismatch(right, found)) => {
                Err(format!("its checksum is {found:02X} and should be {right:02X}"))
            }
            Err(why) => Err(why.to_string()),
        };
        is_sure &= read.add(number, record);
    }
    read
}

fn motorola(content: &[u8]) -> Content {
    use srec::Record;
    let mut read = Content::default();
    for (number, line) in lines(content) {
        // The library panics at what is no digit, and at a name that is no text.
        let is_plain =
            |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let record = match line.strip_prefix('S').filter(|digits| is_plain(digits)) {
            None => Err("it is not `S` and hex digits".to_owned()),
            Some(digits) if digits.starts_with('0') => Ok(None),
            Some(_) => match line.parse() {
                Ok(Record::S1(data)) => Ok(Some((address(data.address), data.data))),
                Ok(Record::S2(data)) => Ok(Some((address(data.address), data.data))),
                Ok(Record::S3(data)) => Ok(Some((address(data.address), data.data))),
                Ok(_) => Ok(None),
                Err(why) => Err(srec::ReaderError::to_string(&why)),
            },
        };
        read.add(number, record);
    }
    read
}

fn address(address: impl Into<u32>) -> u64 {
    address.into().into()
}

/// Pieces that lie together, or tell the same bytes.
struct Run {
    start: u64,
    end: u64,
    /// Its place in the image.
    at: usize,
}

/// One behind the other: what lies together stays together, and what does not is kept apart. Of pieces that tell the same bytes the
/// last holds, as in a device that is written in this order; so many others told something else.
fn joined(pieces: &[(u64, Vec<u8>)]) -> (Vec<u8>, usize) {
    let mut spans: Vec<_> =
        pieces.iter().map(|(address, piece)| (*address, *address + piece.len() as u64)).collect();
    spans.sort_unstable();
    let mut image = Vec::new();
    let mut runs: Vec<Run> = Vec::new();
    for (start, end) in spans {
        match runs.last_mut() {
            Some(run) if start <= run.end => run.end = run.end.max(end),
            last => {
                let gap = last.map_or(0, |run| (start - run.end).min(GAP));
                let at = image.len() + gap as usize;
                runs.push(Run { start, end, at });
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
    fn what_is_behind_a_lost_record_stays_in_its_place() {
        assert_eq!(joined(&[(0, vec![1]), (3, vec![2])]).0, [1, 0, 0, 2]);
        let text =
            ":0400500001020304A2\n:020054\n:0200540005069E\n\u{fffd}\n:0200560005069D\n:020058000506\n";
        let read = intel(text.as_bytes());
        assert_eq!(joined(&read.pieces).0, [1, 2, 3, 4, 0, 0, 5, 6]);
        let told = [
            "line 2 was left out: too short",
            "line 3 was left out: its checksum is 9E and should be 9F",
            "line 4 was left out: missing start code ':'",
            "line 6 was left out: its checksum is 06 and should be A1",
        ];
        let told = told.map(|told| format!("the record in {told}"));
        assert_eq!(read.bad, told);
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
    fn of_bytes_that_are_told_again_the_last_hold() {
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
    fn any_line_is_told_and_none_is_fatal() {
        for line in ["S", "S1", "S0\u{e9}", "S10212EB", "S401FE", "S1+1+1", "S1\u{e9}", "x"] {
            let read = motorola(format!("{line}\nS1041234FFB6\n").as_bytes());
            assert_eq!((read.bad.len(), read.good), (1, 1), "{line}: {:?}", read.bad);
        }
        // What names the file tells nothing of its memory.
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
    fn what_is_apart_stays_apart() {
        let image = joined(&[(0, vec![1]), (9999, vec![2])]).0;
        let gap = GAP as usize;
        assert_eq!((image[0], image.len(), image[gap + 1]), (1, gap + 2, 2));
    }
}
