//! Any bytes as a file of spectra: no panic, no hang, and no more statements than the slots have bits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qs_core::ring::process_start::ProcessStart;
use qs_core::ring::spectrum::{HEADER_LEN, MAGIC, Spectrum, find};

/// Bytes of a slot, and the lines that it has bits for.
const SLOT: usize = 16;
const LINES: usize = 96;

fuzz_target!(|image: &[u8]| {
    let mut at = 0;
    while let Ok(spectrum) = Spectrum::parse(&image[at..]) {
        let slots = (spectrum.len() - HEADER_LEN) / SLOT;
        assert!(spectrum.statements().count() <= slots * LINES);
        assert!(spectrum.missing() + slots == spectrum.slots as usize);
        assert!(spectrum.name().len() <= spectrum.header.name.len());
        at += spectrum.len();
    }
    if let Ok(start) = ProcessStart::parse(image) {
        assert!(ProcessStart::parse(&start.bytes()) == Ok(start));
    }
    let found = find(image).filter(|(offset, spectrum)| {
        spectrum.as_ref().is_ok_and(|spectrum| offset + spectrum.len() <= image.len())
    });
    // One may begin in the name of another, but the first eight bytes are its own.
    assert!(found.count() <= image.len() / MAGIC.len());
});
