//! Any image into the report: no panic, no hang, an exit code of the table.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xhist_report::{Options, report};

fuzz_target!(|image: &[u8]| {
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let _ = report(image, &Options::default(), &mut out, &mut notes);
});
