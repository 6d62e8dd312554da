//! Any image into the report, and every ring in it into the panic hook's printer: no panic, no hang, a documented
//! exit code.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qs_core::ring::{Header, Item, Reader, Shown, find};
use xhist_report::{Options, report};

/// More items than a ring of this size can hold.
fn bound(header: &Header) -> usize {
    8 * (header.header_len + header.size) + 64
}

/// A reader that resumes where another stopped yields only new items, and every reader ends.
fn readers(header: Header, image: &[u8]) {
    let count = |mut reader: Reader<'_>| {
        let (mut items, mut statements) = (0, 0);
        while let Some(item) = reader.next() {
            items += 1;
            statements += usize::from(matches!(item, Item::Statement(..) | Item::Repetition(_)));
            assert!(items <= bound(&header));
        }
        (statements, reader.resume_from(), reader.shown())
    };
    let (_, from, shown) = count(Reader::with_prologue(header, image, 0, 0, Shown::default()));
    let again = count(Reader::with_prologue(header, image, from, 0, shown)).0;
    assert!(again == 0 || !header.has_words() || shown.statements == u16::MAX);
    count(Reader::new(header, image).whole_frames());
    count(Reader::with_prologue(header, image, 0, 0, Shown::default()).whole_frames());
    count(Reader::new(header, image).without_open_words());
}

fuzz_target!(|image: &[u8]| {
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let _ = report(image, &Options::default(), &mut out, &mut notes);
    // The report limits the number of rings itself; one is enough here.
    if let Some((offset, header)) = find(image).find_map(|found| Some((found.offset, found.header.ok()?))) {
        readers(header, &image[offset..]);
    }
});
