//! Any bytes into the rewriter: it refuses them, or stripping the result restores the original. With
//! XHIST_FUZZ_STRICT set, a result that is not proved or does not parse is a crash, too. The instrumented text is
//! also reformatted: stripped, it has the tokens of the original.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xhist_instrument::{
    Action, Detail, Numbers, Options, Trigger, analyze, ids_needed, instrument, parses, strip, try_strip,
};

fuzz_target!(|text: &[u8]| {
    let (edition2015, triggers) = (text.len().is_multiple_of(2), text.len().is_multiple_of(3));
    let detail = if text.len().is_multiple_of(5) { Detail::Function } else { Detail::Statement };
    let options = Options { edition2015, detail, triggers, ..Options::default() };
    let Ok(mut analysis) = analyze(text, &options) else { return };
    if triggers {
        for site in 0..analysis.sites.len() {
            let action = if site % 2 == 0 { Action::Start } else { Action::Stop { after: site as u32 } };
            analysis.add_trigger(Trigger { site, number: 7, hit: 1, action });
        }
    }
    let ids: Vec<u16> = (1..).take(ids_needed(analysis.lines)).collect();
    match instrument(text, &analysis, &Numbers { ids, first: 1, values: 1 }, &options) {
        Ok(result) => {
            assert_eq!(strip(&result), text);
            respaced(text, &result);
            if is_strict() {
                parses(&result).expect("it parses");
            }
        }
        Err(refusal) if is_strict() => panic!("not proved: {refusal}"),
        Err(_) => {}
    }
});

/// Spaces the calls as rustfmt does, each on its own line. Skips texts that hold similar code themselves.
fn respaced(original: &[u8], instrumented: &[u8]) {
    let (Ok(original), Ok(instrumented)) = (str::from_utf8(original), str::from_utf8(instrumented)) else {
        return;
    };
    if ["xhist_rt", "/*xh*/"].iter().any(|ours| original.contains(ours)) {
        return;
    }
    let mut moved = String::new();
    for (index, part) in instrumented.split("::xhist_rt::").enumerate() {
        let Some((call, behind)) = part.split_once(");").filter(|_| index > 0) else {
            moved.push_str(part);
            continue;
        };
        moved.push_str("\n    :: xhist_rt::");
        moved.push_str(&call.replace(',', ", "));
        moved.push_str(") ;\n");
        moved.push_str(behind);
    }
    let stripped = try_strip(moved.as_bytes()).expect("moved calls can be taken out").text;
    let without_blanks = |text: &[u8]| -> Vec<u8> {
        text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
    };
    assert_eq!(without_blanks(&stripped), without_blanks(original.as_bytes()));
}

fn is_strict() -> bool {
    std::env::var_os("XHIST_FUZZ_STRICT").is_some()
}
