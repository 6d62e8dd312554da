//! Any bytes into the rewriter: it refuses, or stripped the result is the original. With XHIST_FUZZ_STRICT set,
//! a result that could not be proved or does not parse is a crash too: the user's file is safe then, but it goes
//! without history, or the compiler refuses it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xhist_instrument::{Action, Options, Trigger, analyze, ids_needed, instrument, parses, strip};

fuzz_target!(|text: &[u8]| {
    let (edition2015, triggers) = (text.len() % 2 == 0, text.len() % 3 == 0);
    let options = Options { edition2015, triggers, ..Options::default() };
    let Ok(mut analysis) = analyze(text, &options) else { return };
    if triggers {
        for site in 0..analysis.sites.len() {
            let action = if site % 2 == 0 { Action::Start } else { Action::Stop { after: site as u32 } };
            analysis.add_trigger(Trigger { site, number: 7, hit: 1, action });
        }
    }
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
