//! Any symbols as the strings of a program's `defmt`, and any bytes as its lines: no panic, no hang, and short texts.
//!
//! Each line of the input up to a zero is a symbol: its tag, a blank, its text. Behind the zero are bytes of the section, up to
//! another zero, and of a line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xhist_history::model::defmt::DefmtTable;

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(3, |byte| *byte == 0);
    let [symbols, section, bytes] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    let symbols = String::from_utf8_lossy(symbols);
    let names = symbols.lines().filter_map(|line| line.split_once(' ')).map(|(tag, text)| {
        let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace(char::is_control, "?");
        format!(r#"{{"package":"a-b","tag":"defmt_{tag}","data":"{text}","disambiguator":"1"}}"#)
    });
    let names: Vec<String> = names.chain(["_defmt_version_ = 4".to_owned()]).collect();
    let addressed = names.iter().map(String::as_str).zip(1..);
    let Some(table) = DefmtTable::of_symbols(addressed, 1, section) else { return };
    for is_cut in [false, true] {
        if let Some(line) = table.line(bytes, is_cut) {
            assert!(line.text.len() < 4096, "{} bytes", line.text.len());
        }
    }
});
