//! Any bytes as two sources to compare, with a map of a small program: no panic, no hang, and a source is like itself.
#![no_main]

mod small_map;

use libfuzzer_sys::fuzz_target;
use xhist_history::{ExitCode, ReadOptions};
use xhist_report::compare;

fuzz_target!(|input: &[u8]| {
    let Some((&len, rest)) = input.split_first_chunk() else { return };
    let len = usize::from(u16::from_le_bytes(len)).min(rest.len());
    let (good, bad) = rest.split_at(len);
    let mut options = ReadOptions::default();
    options.maps.given = Some(small_map::path());
    let run = |good: &[u8], bad: &[u8]| {
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let code = compare(good, bad, &options, &mut out, &mut notes);
        (code, String::from_utf8(out).expect("text"))
    };
    let (code, text) = run(good, bad);
    assert!(code == ExitCode::Complete || code == ExitCode::Incomplete || text.is_empty());
    let (code, text) = run(rest, rest);
    let is_answer = code <= ExitCode::Incomplete && !text.is_empty();
    assert!(!is_answer || text.contains("no difference") || text.contains("no common point"), "{text}");
});
