//! The decoder reads the examples of `docs/wire-format.md` as the page shows.

use std::fmt::Write;
use std::path::Path;

use qs_core::frame::{Decoder, Outcome};
use qs_core::record::packed::{Packed, Page};
use qs_core::ring::{Header, Item, Reader, executed};

/// The page, and its fenced blocks with this language.
fn page(kind: &str) -> (String, Vec<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/wire-format.md");
    let text = std::fs::read_to_string(path).expect("the page");
    let fence = format!("```{kind}\n");
    let blocks = text.split(&fence).skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect();
    (text, blocks)
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("hex")).collect()
}

#[test]
fn the_example_frame_is_valid() {
    let frame = bytes(&page("hex").1[0]);
    let mut decoder = Decoder::new();
    let (used, Outcome::Frame(read)) = decoder.push_slice(&frame) else { panic!("no frame") };
    let packed = Packed::parse(read.payload).expect("packed");
    assert_eq!((used, read.seq, read.id), (frame.len(), 1, 122));
    assert_eq!((packed.page, packed.data.len()), (Page { file: 1, base: 0 }, 17));
}

#[test]
fn the_ring_of_the_example_reads_as_the_page_says() {
    let mut image = bytes(&page("hex").1[1]);
    image.resize(64 + 256, 0);
    let mut reader = Reader::new(Header::parse(&image).expect("a header"), &image);
    let (mut listing, mut number) = (String::new(), 0);
    while let Some(item) = reader.next() {
        match item {
            Item::Statement(statement, None) => {
                number += 1;
                writeln!(listing, "{number} file#{}:{}", statement.file, statement.line).unwrap();
            }
            Item::Repetition(repetition) => {
                let name = |at: qs_core::record::Statement| (format!("file#{}", at.file), u32::from(at.line));
                writeln!(listing, "{}", repetition.show(name)).unwrap();
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(listing, page("text").1[0]);
}

#[test]
fn the_page_has_the_constants_of_the_code() {
    let (text, _) = page("hex");
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(" ");
    assert!(text.contains(&hex(&qs_core::ring::MAGIC)) && text.contains(&hex(&executed::MAGIC)));
    assert!(text.contains(&format!("layout version {}.", qs_core::ring::LAYOUT_VERSION)));
    assert!(text.contains(&format!("at most {} slots", executed::PROBES)));
    assert_eq!(executed::slot(1, 1 << 16), (0x9E37_79B1u32 >> 7) & 0xFFFF);
}
