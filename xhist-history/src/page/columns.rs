//! Columns of numbers and JSON as blocks of a page: differences as variable-length numbers, deflated, in base64.
//!
//! Base64 has no character that HTML reads, so no text of a dump can end a block or begin markup.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;

/// Numbers of a block. A browser decodes each in a few milliseconds.
const NUMBERS: usize = 1 << 19;
/// Largest number of a column. The page adds and doubles them as floating point numbers, which are exact up to 2^53.
pub const MAX: u64 = 1 << 51;

/// Writes the blocks of a page.
pub struct BlockWriter<'o> {
    out: &'o mut dyn Write,
}

impl<'o> BlockWriter<'o> {
    /// Writes there.
    pub fn new(out: &'o mut dyn Write) -> BlockWriter<'o> {
        BlockWriter { out }
    }

    /// A column of numbers. Larger ones than [`MAX`] become [`MAX`].
    pub fn numbers(&mut self, name: &'static str, numbers: impl Iterator<Item = u64>) -> io::Result<()> {
        let mut bytes = Vec::new();
        let (mut count, mut before) = (0, 0);
        for number in numbers {
            let number = number.min(MAX) as i64;
            push_varint(&mut bytes, zigzag(number - before));
            (count, before) = (count + 1, number);
            if count == NUMBERS {
                self.block(name, count, &bytes)?;
                bytes.clear();
                (count, before) = (0, 0);
            }
        }
        if count > 0 { self.block(name, count, &bytes) } else { Ok(()) }
    }

    /// A part of a table, as JSON.
    pub fn json(&mut self, name: &'static str, value: &impl Serialize) -> io::Result<()> {
        self.block(name, 1, &serde_json::to_vec(value)?)
    }

    fn block(&mut self, name: &'static str, count: usize, bytes: &[u8]) -> io::Result<()> {
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
        deflate.write_all(bytes)?;
        let text = STANDARD.encode(deflate.finish()?);
        writeln!(
            self.out,
            r#"<script type="application/octet-stream" data-block="{name}" data-count="{count}">{text}</script>"#
        )
    }
}

/// Small for small differences, up or down.
fn zigzag(difference: i64) -> u64 {
    ((difference << 1) ^ (difference >> 63)) as u64
}

/// Seven bits a byte, the lowest first; the highest bit of a byte says that another one follows.
fn push_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Name, count and bytes of each block.
    fn blocks(page: &str) -> Vec<(String, usize, Vec<u8>)> {
        let part = |line: &str, from: &str, to: &str| {
            let at = line.find(from).expect("a part") + from.len();
            line[at..at + line[at..].find(to).expect("its end")].to_owned()
        };
        let block = |line: &str| {
            let bytes = STANDARD.decode(part(line, ">", "<")).expect("base64");
            let mut inflated = Vec::new();
            flate2::read::DeflateDecoder::new(&bytes[..]).read_to_end(&mut inflated).expect("deflated bytes");
            let count = part(line, "data-count=\"", "\"").parse().expect("a number");
            (part(line, "data-block=\"", "\""), count, inflated)
        };
        page.lines().map(block).collect()
    }

    #[test]
    fn numbers_are_differences() {
        let mut page = Vec::new();
        BlockWriter::new(&mut page).numbers("x", [5, 6, 4, 300, u64::MAX].into_iter()).expect("room");
        let found = blocks(std::str::from_utf8(&page).expect("text"));
        let (name, count, bytes) = &found[0];
        assert_eq!((name.as_str(), *count, found.len()), ("x", 5, 1));
        assert_eq!(bytes[..5], [10, 2, 3, 0xD0, 4]);
        assert_eq!(bytes.len(), 13);
    }

    #[test]
    fn a_long_column_has_several_blocks() {
        let mut page = Vec::new();
        let numbers = (0..NUMBERS as u64 + 3).map(|_| 7);
        BlockWriter::new(&mut page).numbers("x", numbers).expect("room");
        let found = blocks(std::str::from_utf8(&page).expect("text"));
        // Each begins from 0 again.
        assert_eq!(
            found.iter().map(|block| (block.1, block.2[0])).collect::<Vec<_>>(),
            [(NUMBERS, 14), (3, 14)]
        );
    }

    #[test]
    fn no_text_gets_into_the_markup() {
        let mut page = Vec::new();
        let text = "</script><script>alert(1)</script><!--";
        BlockWriter::new(&mut page).json("x", &[text]).expect("room");
        let page = String::from_utf8(page).expect("text");
        assert!(page.matches('<').count() == 2 && !page.contains("alert"), "{page}");
        assert_eq!(blocks(&page)[0].2, serde_json::to_vec(&[text]).expect("JSON"));
    }
}
