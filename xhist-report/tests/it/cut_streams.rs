//! Is a QS stream that is cut at an end, or has a record that does not fit, reported as not complete?

use std::io::Write;
use std::process::Stdio;

use qs_core::frame::FrameWriter;
use xhist_report::format::by_name;
use xhist_report::{Options, report};

use crate::support::{Dir, Outcome, outcome, report_with};

/// Every format that reads a stream.
const FORMATS: [&str; 4] = ["history", "json", "qspy", "traceinfo"];

fn frame(seq: u8, id: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    FrameWriter::new(seq, id, |byte| bytes.push(byte)).bytes(payload).finish();
    bytes
}

/// Application records with a time stamp and a text, escaped bytes among them.
fn frames(count: u8) -> Vec<Vec<u8>> {
    (1..=count).map(|seq| frame(seq, 100, b"\x7E\x7D\0\0\x08text\0")).collect()
}

fn reported(stream: &[u8], format: &str) -> Outcome {
    report_with(stream, &Options { format: by_name(format).unwrap(), ..Options::default() })
}

#[track_caller]
fn expect_loss(stream: &[u8], needles: &[&str]) {
    for format in FORMATS {
        let outcome = reported(stream, format);
        let context = format!("{format}: {}\n{}", outcome.notes, outcome.out);
        assert_eq!(outcome.code, 1, "{context}");
        assert!(needles.iter().all(|needle| outcome.notes.contains(needle)), "{needles:?} in {context}");
        if format == "json" {
            assert!(outcome.out.contains("\"complete\":false"), "{context}");
        }
    }
}

#[test]
fn a_whole_stream_is_complete() {
    for format in FORMATS {
        let outcome = reported(&frames(5).concat(), format);
        assert_eq!(outcome.code, 0, "{format}: {}", outcome.notes);
    }
}

#[test]
fn a_stream_that_starts_within_a_frame_is_not_complete() {
    let (first, rest) = (frames(1).concat(), frames(6)[1..].concat());
    for cut in 1..first.len() {
        expect_loss(&[&first[cut..], &rest].concat(), &["the stream starts within a frame"]);
    }
    let outcome = reported(&[&first[4..], &rest].concat(), "history");
    let place =
        format!("{} bytes damaged (the stream starts within a frame), before entry 1", first.len() - 4);
    assert!(outcome.notes.contains(&place), "{}", outcome.notes);
}

#[test]
fn a_stream_that_ends_within_a_frame_is_not_complete() {
    let (rest, last) = (frames(5).concat(), frames(6)[5].clone());
    for cut in 1..last.len() {
        expect_loss(&[&rest, &last[..cut]].concat(), &["the stream ends within a frame"]);
    }
    let outcome = reported(&[&rest, &last[..4]].concat(), "history");
    assert!(outcome.notes.contains(
        "4 bytes damaged (the stream ends within a frame, whose closing flag is missing), after entry 5"
    ));
    let outcome = reported(&[&rest, &last[..4]].concat(), "qspy");
    assert!(outcome.notes.contains("the last 4 bytes: "), "{}", outcome.notes);
}

/// Even where the frames that are cut are longer than all others.
#[test]
fn few_frames_between_two_that_are_cut_are_a_stream() {
    let long = frame(1, 100, &[7; 400]);
    let stream = [&long[200..], &frames(2)[1], &long[..200]].concat();
    expect_loss(&stream, &["starts within a frame", "ends within a frame"]);
}

#[test]
fn application_records_that_do_not_fit_are_not_complete() {
    let whole = frames(2).concat();
    for (what, payload) in [
        ("a time stamp", &b"\x01\0"[..]),
        ("a number", b"\x01\0\0\0\x05\x01\x02"),
        ("a text", b"\x01\0\0\0\x08text"),
        ("a text of nothing", b"\x01\0\0\0\x08"),
        ("memory", b"\x01\0\0\0\x09\x05\x01\x02"),
        ("memory that lacks its last byte", b"\x01\0\0\0\x09\x03\x01\x02"),
        ("the second half of a signal", b"\x01\0\0\0\x0A\x05\x00\x01"),
    ] {
        let stream = [whole.clone(), frame(3, 101, payload)].concat();
        for format in FORMATS {
            let outcome = reported(&stream, format);
            let context = format!("{what} as {format}: {}\n{}", outcome.notes, outcome.out);
            assert_eq!(outcome.code, 1, "{context}");
            let place = match format {
                "qspy" => "1; the first is record 3",
                "traceinfo" => "1; the first is before entry 1",
                _ => "1; the first is entry 3",
            };
            assert!(outcome.notes.contains(place), "{context}");
            assert!(format != "json" || outcome.out.contains("\"complete\":false"), "{context}");
        }
    }
}

#[test]
fn standard_input_is_as_a_file() {
    let dir = Dir::new();
    let (first, rest) = (frames(1).concat(), frames(4)[1..].concat());
    for (stream, code) in [
        ([&first[..], &rest].concat(), 0),
        ([&first[3..], &rest].concat(), 1),
        ([&first[..], &rest[..rest.len() - 1]].concat(), 1),
    ] {
        for arguments in [&["-"][..], &["--follow", "-"], &["qspy", "--follow", "-"]] {
            let mut command = dir.command(arguments);
            let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = piped.spawn().unwrap();
            child.stdin.take().unwrap().write_all(&stream).unwrap();
            let outcome = outcome(child.wait_with_output().unwrap());
            assert_eq!(outcome.code, code, "{arguments:?}: {}", outcome.notes);
            assert_eq!(outcome.notes.contains("within a frame"), code == 1, "{}", outcome.notes);
        }
    }
}

#[test]
fn what_cannot_be_a_stream_stays_no_stream() {
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let text = b"a text that has one tilde ~ only\n".repeat(100);
    let code = report(&text, &Options::default(), &mut out, &mut notes);
    assert_eq!(code as u8, 3);
}
