//! A planted crash: proves that `fuzz/run` notices one. `.ci/run` expects that this target fails.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    assert!(data.len() < 3, "a planted crash");
});
