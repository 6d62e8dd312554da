//! Any bytes as a format file, and any elements as an event: no panic, nothing unprintable, lines of bounded length.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qs_core::record::trace::ParsedEvent;
use xhist_history::model::Trace;
use xhist_history::options::trace::{Formats, read_formats};

fuzz_target!(|input: &[u8]| {
    // The first byte is the length of the event that follows it.
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
        let Some(event) = ParsedEvent::parse(id, elements) else { continue };
        let described = formats.describe(&Trace {
            args: event.args().to_vec(),
            buffer: event.buffer().map(|pieces| pieces.collect::<Vec<_>>().concat()),
            is_cut: event.is_cut,
            ..Trace::of(event.class)
        });
        // A text of 1000 bytes may print the buffer, here of 255 bytes, once per three bytes.
        assert!(!described.subject.contains(char::is_control) && described.subject.len() < 1 << 20);
    }
});
