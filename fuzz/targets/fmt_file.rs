//! Any bytes as a file of formats, and any elements as an event that is told by it: no panic, nothing unprintable, lines of bounded length.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qs_core::record::trace::Told;
use xhist_report::model::Trace;
use xhist_report::trace::{Formats, read_formats};

fuzz_target!(|input: &[u8]| {
    // The first byte says how long the event is that stands behind it.
    let Some((&len, rest)) = input.split_first() else { return };
    let (elements, text) = rest.split_at(rest.len().min(len.into()));
    let mut formats = Formats::default();
    read_formats(text, &mut |line, said| match said {
        Ok(definition) => {
            let _ = formats.add(definition, line.to_string());
        }
        Err(wrong) => assert!(wrong.column <= text.len() + 1 && wrong.to_string().len() < 1000),
    });
    for id in 118..=119 {
        let Some(told) = Told::parse(id, elements) else { continue };
        let told = formats.tell(&Trace {
            class: told.class,
            args: told.args().to_vec(),
            buffer: told.buffer().map(|pieces| pieces.collect::<Vec<_>>().concat()),
            is_cut: told.is_cut,
            stamp: 0,
            opcode_name: None,
        });
        // A text of 1000 bytes may show the buffer, of 255 bytes here, with every third of them.
        assert!(!told.subject.contains(char::is_control) && told.subject.len() < 1 << 20);
    }
});
