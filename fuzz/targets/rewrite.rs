//! Any bytes into the rewriter: it refuses, or stripped the result is the original. With XHIST_FUZZ_STRICT set,
//! a result that could not be proved or does not parse is a crash too: the user's file is safe then, but it goes
//! without history, or the compiler refuses it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xhist_instrument::{Options, analyze, ids_needed, instrument, parses, strip};

fuzz_target!(|text: &[u8]| {
    let options = Options { edition2015: text.len() % 2 == 0, ..Options::default() };
    let Ok(analysis) = analyze(text, &options) else { return };
    let ids: Vec<u16> = (1..).take(ids_needed(analysis.lines)).collect();
    match instrument(text, &analysis, &ids, &options) {
        Ok(result) => {
            assert_eq!(strip(&result), text);
            if is_strict() {
                parses(&result).expect("it parses");
            }
        }
        Err(refusal) if is_strict() => panic!("not proved: {refusal}"),
        Err(_) => {}
    }
});

fn is_strict() -> bool {
    std::env::var_os("XHIST_FUZZ_STRICT").is_some()
}
