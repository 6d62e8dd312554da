//! Everything that is written is read back; every damaged byte is reported.

use proptest::prelude::*;
use qs_core::frame::{Cause, Decoder, FLAG, FrameWriter, MAX_PAYLOAD, Outcome, renumber, sequence_number};
use qs_core::map::{
    BodyKind, BranchLine, FileLine, FunctionLine, Head, Line, LoopLine, NumberRange, StmtLine, Text,
    ValueLine,
};
use qs_core::record::{EventKind, RECORD_BASE, Statement, XhistRecord};
use qs_core::ring::{Header, find};

type Record = (u8, Vec<u8>);

fn records() -> impl Strategy<Value = Vec<Record>> {
    let byte = prop_oneof![4 => any::<u8>(), 1 => Just(0x7D), 1 => Just(0x7E)];
    prop::collection::vec((any::<u8>(), prop::collection::vec(byte, 0..40)), 1..60)
}

fn stream(first_seq: u8, records: &[Record]) -> Vec<Vec<u8>> {
    let frame = |(index, (id, payload)): (usize, &Record)| {
        let mut bytes = Vec::new();
        FrameWriter::new(first_seq.wrapping_add(index as u8), *id, |byte| bytes.push(byte))
            .bytes(payload)
            .finish();
        bytes
    };
    records.iter().enumerate().map(frame).collect()
}

/// Frames read, frames missing, and damaged bytes.
fn decode(bytes: &[u8], piece: usize) -> (Vec<Record>, u64, u64) {
    let mut decoder = Decoder::new();
    let (mut read, mut missing, mut damaged) = (Vec::new(), 0, 0);
    for piece in bytes.chunks(piece) {
        let mut rest = piece;
        while !rest.is_empty() {
            let (used, outcome) = decoder.push_slice(rest);
            rest = &rest[used..];
            match outcome {
                Outcome::More => {}
                Outcome::Frame(frame) => {
                    missing += u64::from(frame.missing);
                    read.push((frame.id, frame.payload.to_vec()));
                }
                Outcome::Damaged(damage) => damaged += damage.len,
            }
        }
    }
    (read, missing, damaged + decoder.pending())
}

proptest! {
    #[test]
    fn frames_round_trip_in_pieces_of_any_size(first: u8, records in records(), piece in 1usize..70) {
        let bytes = stream(first, &records).concat();
        prop_assert_eq!(decode(&bytes, piece), (records, 0, 0));
    }

    #[test]
    fn a_frame_may_get_another_number(first: u8, second: u8, records in records()) {
        for (frame, other) in stream(first, &records).iter().zip(stream(second, &records)) {
            let mut repetition = Vec::new();
            renumber(frame, sequence_number(&other).expect("one"), |byte| repetition.push(byte));
            prop_assert_eq!(repetition, other);
        }
    }

    #[test]
    fn a_lost_frame_is_counted(first: u8, records in records(), lost: prop::sample::Index) {
        let mut frames = stream(first, &records);
        let lost = lost.index(frames.len());
        frames.remove(lost);
        let at_an_end = lost == 0 || lost == frames.len();
        let (read, missing, damaged) = decode(&frames.concat(), 64);
        prop_assert_eq!(read.len(), frames.len());
        prop_assert_eq!((missing, damaged), (u64::from(!at_an_end), 0));
    }

    #[test]
    fn a_cut_stream_is_in_step_from_the_next_flag(first: u8, records in records(), cut: prop::sample::Index) {
        let frames = stream(first, &records);
        let bytes = frames.concat();
        let cut = cut.index(bytes.len());
        let mut whole = 0;
        let mut start = 0;
        for frame in &frames {
            whole += usize::from(start >= cut);
            start += frame.len();
        }
        let (read, _, _) = decode(&bytes[cut..], 16);
        // A frame cut in its escape or before its checksum may look whole, but never more than one frame.
        prop_assert!(read.len() == whole || read.len() == whole + 1);
        prop_assert_eq!(&read[read.len() - whole..], &records[records.len() - whole..]);
    }

    #[test]
    fn any_bytes_are_frames_or_damage(bytes: Vec<u8>) {
        let (read, _, damaged) = decode(&bytes, 7);
        prop_assert!(read.iter().map(|(_, payload)| payload.len() as u64 + 4).sum::<u64>() + damaged <= bytes.len() as u64);
    }

    #[test]
    fn statements_and_events_round_trip(seq: u8, word: u32, time: Option<u32>, code: u8, value: u64) {
        let mut bytes = Vec::new();
        let statement = Statement::from_word(word);
        statement.emit(seq, RECORD_BASE, time, |byte| bytes.push(byte));
        let mut decoder = Decoder::new();
        let (_, Outcome::Frame(frame)) = decoder.push_slice(&bytes) else { panic!("no frame") };
        prop_assert_eq!(XhistRecord::parse(&frame, RECORD_BASE), Some(XhistRecord::Statement { statement, time }));

        let kind = match code {
            1 => EventKind::Panic,
            2 => EventKind::Time,
            3 => EventKind::Signal,
            4 => EventKind::Started,
            5 => EventKind::Stopped,
            6 => EventKind::Armed,
            7 => EventKind::Thread,
            8 => EventKind::Exit,
            9 => EventKind::Repetition,
            10 => EventKind::Handler,
            11 => EventKind::Until,
            n => EventKind::Unknown(n),
        };
        let mut bytes = Vec::new();
        kind.emit(seq, RECORD_BASE, word, value, |byte| bytes.push(byte));
        let mut decoder = Decoder::new();
        let (_, Outcome::Frame(frame)) = decoder.push_slice(&bytes) else { panic!("no frame") };
        prop_assert_eq!(XhistRecord::parse(&frame, RECORD_BASE), Some(XhistRecord::Event { kind, time: word, value }));
    }

    #[test]
    fn map_lines_round_trip(file: u16, line: u32, col: u32, text in "\\PC*", hash: u64) {
        let plain = Text::plain(&text);
        let lines = [
            Line::Head(Head { version: 3, hash, root: plain, tool: plain, mains: plain }),
            Line::File(FileLine { file, path: plain, base: line, numbers: NumberRange::default(), values: NumberRange { first: col / 2, room: line / 2 }, source: (line % 2 == 0).then_some(hash), skipped: plain , derived: plain, priorities: plain}),
            Line::Function(FunctionLine { file, path: plain, line, col, end_line: line, end_col: col, kind: BodyKind::Closure, of_trait: plain }),
            Line::Loop(LoopLine { file, at: (line, col), end: (col, line) }),
            Line::Branch(BranchLine { file, at: (line, col), end: (col, line), past: (line, line) }),
            Line::Stmt(StmtLine { file, line, col, end_line: line, end_col: col, kind: plain, function: plain, text: col, calls: plain, jump: None, awaits: false, recorded: line % 2 == 0 }),
            Line::Value(ValueLine { file, line, col, name: plain, kind: plain, function: plain, text: line % 2 == 0, generic: col % 2 == 0 }),
        ];
        for line in lines {
            let written = line.to_string();
            let json: serde_json::Value = serde_json::from_str(&written).expect("JSON");
            let read = Line::parse(&written).expect("a map line");
            prop_assert_eq!(read.to_string(), written.as_str());
            if let Line::File(file) = read {
                prop_assert_eq!(file.path.chars().collect::<String>(), text.clone());
                prop_assert_eq!(json["path"].as_str(), Some(text.as_str()));
            }
        }
    }

    #[test]
    fn json_of_another_writer_has_the_same_meaning(text: String) {
        let line = serde_json::json!({"file": 3, "path": text, "base": 0, "more": [text, {"a": null}]}).to_string();
        let Ok(Line::File(file)) = Line::parse(&line) else { panic!("{line}") };
        prop_assert_eq!(file.path.chars().collect::<String>(), text);
    }

    #[test]
    fn no_line_panics(line: String) {
        let _ = Line::parse(&line);
        let _ = Line::parse(&format!("{{\"file\":{line}}}"));
    }

    #[test]
    fn no_image_panics(mut image: Vec<u8>) {
        image.splice(0..0, qs_core::ring::MAGIC);
        for found in find(&image) {
            prop_assert!(found.header.is_err() || found.offset < image.len());
        }
        let _ = Header::parse(&image);
    }
}

#[test]
fn a_record_of_the_largest_size_is_read_and_a_larger_one_is_damage() {
    for (len, fits) in [(MAX_PAYLOAD, true), (MAX_PAYLOAD + 1, false)] {
        let mut bytes = Vec::new();
        FrameWriter::new(1, 2, |byte| bytes.push(byte)).bytes(&vec![7; len]).finish();
        let mut decoder = Decoder::new();
        match decoder.push_slice(&bytes).1 {
            Outcome::Frame(frame) => assert!(fits && frame.payload.len() == len),
            Outcome::Damaged(damage) => assert!(!fits && damage.cause == Cause::TooLong, "{damage}"),
            Outcome::More => panic!("the flag was not seen"),
        }
    }
}

#[test]
fn a_lone_flag_is_damage_of_one_byte() {
    let mut decoder = Decoder::new();
    let Outcome::Damaged(damage) = decoder.push(FLAG) else { panic!("a frame of nothing") };
    assert_eq!((damage.offset, damage.len), (0, 1));
    assert_eq!(damage.to_string(), "1 bytes at offset 0: bad checksum (sum 0x00, expected 0xFF)");
}
