//! Any bytes into the frame decoder: bytes and slices agree, offsets add up, and every decoded frame survives encoding
//! and decoding.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qs_core::frame::{Decoder, FrameWriter, Outcome};

fuzz_target!(|bytes: &[u8]| {
    let (mut bytewise, mut slicewise) = (Decoder::new(), Decoder::new());
    let (mut at, mut covered) = (0, 0u64);
    while at < bytes.len() {
        let (used, outcome) = slicewise.push_slice(&bytes[at..]);
        for byte in &bytes[at..at + used - 1] {
            assert_eq!(bytewise.push(*byte), Outcome::More);
        }
        let outcome = (outcome, bytewise.push(bytes[at + used - 1]));
        assert_eq!(outcome.0, outcome.1);
        match outcome.0 {
            Outcome::More => {}
            Outcome::Damaged(damage) => {
                assert_eq!(damage.offset, covered);
                covered += damage.len;
            }
            Outcome::Frame(frame) => {
                assert_eq!(frame.offset, covered);
                covered = (at + used) as u64;
                let mut again = Vec::new();
                FrameWriter::new(frame.seq, frame.id, |byte| again.push(byte)).bytes(frame.payload).finish();
                let mut decoder = Decoder::new();
                let (_, outcome) = decoder.push_slice(&again);
                let Outcome::Frame(read) = outcome else { panic!("{outcome:?}") };
                assert_eq!((read.seq, read.id, read.payload), (frame.seq, frame.id, frame.payload));
            }
        }
        at += used;
    }
    assert_eq!(covered + slicewise.pending(), bytes.len() as u64);
});
