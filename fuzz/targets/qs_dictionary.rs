//! Any bytes as a dictionary file: no panic, no hang, and what was read can be written and read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xhist_report::qs::{Known, Target, read_dictionaries, write_dictionaries};

fuzz_target!(|text: &[u8]| {
    let mut known = Known::new(Target::default());
    let _ = read_dictionaries(text, &mut known, &mut false);
    let written = write_dictionaries(&known);
    let _ = read_dictionaries(&written, &mut known, &mut false);
});
