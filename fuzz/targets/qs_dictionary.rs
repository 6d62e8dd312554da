//! Any bytes as a dictionary file: no panic, no hang, and the entries survive writing and reading.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qs_host::{TargetDescription, TargetSymbols, read_dictionaries, write_dictionaries};

fuzz_target!(|text: &[u8]| {
    let mut known = TargetSymbols::new(TargetDescription::default());
    let _ = read_dictionaries(text, &mut known, &mut false);
    let written = write_dictionaries(&known);
    let _ = read_dictionaries(&written, &mut known, &mut false);
});
