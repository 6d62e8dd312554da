//! Any image into the report, and every ring in it into the tail that panics print: no panic, no hang, an exit code
//! of the table.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qs_core::ring::{Reader, find};
use xhist_report::{Options, report};

fuzz_target!(|image: &[u8]| {
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let _ = report(image, &Options::default(), &mut out, &mut notes);
    // The report bounds how many rings it reads; one is enough here.
    if let Some((offset, header)) = find(image).find_map(|found| Some((found.offset, found.header.ok()?))) {
        assert!(Reader::new(header, &image[offset..]).tail(5).count() <= 5);
    }
});
