//! What the ring of a program holds.

use qs_core::ring::{Header, Item, Reader, find};
use xhist_tests::Tree;

use crate::variants::Variant;

/// What was in the rings of a run.
pub struct Held {
    /// Statements, with those of rounds that were folded.
    pub statements: f64,
    /// Bytes of history.
    pub kib: f64,
    /// Older history was overwritten.
    is_full: bool,
}

/// Statements that a round executes, from a ring that nothing is overwritten in.
pub fn statements_of_round(variant: &Variant, program: &str) -> Option<f64> {
    let of = |rounds| {
        let held = held(variant, program, rounds, Some("64m"));
        (!held.is_full).then_some(held.statements)
    };
    Some((of(6)? - of(2)?) / 4.0)
}

/// What the ring of the main thread holds after `rounds` rounds; of the default size unless another one is given.
pub fn held(variant: &Variant, program: &str, rounds: u32, size: Option<&str>) -> Held {
    let tree = Tree::empty("ring");
    let file = tree.join("ring.xhist");
    let run = variant.run(program, rounds, 1).env("XHIST_FILE", &file);
    let run = size.into_iter().fold(run, |run, size| run.env("XHIST_SIZE", size));
    run.succeed();
    let image = std::fs::read(&file).expect("a ring file");
    std::fs::remove_file(&file).expect("a ring file");
    let found = find(&image).find_map(|found| Some((found.offset, found.header.ok()?)));
    let (offset, header): (usize, Header) = found.expect("a ring");
    let mut reader = Reader::new(header, &image[offset..]);
    let mut statements = 0u64;
    while let Some(item) = reader.next() {
        match item {
            Item::Statement(..) => statements += 1,
            Item::Repetition(again) => statements += again.statements as u64 * again.times,
            _ => {}
        }
    }
    let bytes = header.state.head().min(header.size as u64);
    let is_full = header.state.head() >= header.size as u64;
    Held { statements: statements as f64, kib: bytes as f64 / 1024.0, is_full }
}
