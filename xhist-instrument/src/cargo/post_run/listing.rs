//! The last statements of a thread, as numbered lines.

use std::fmt::Write as _;

use qs_core::listing::{TailLine, Thousands};
use qs_core::record::Statement;

use super::rings::{Process, Ring};
use crate::map::MapFile;
use crate::shell::visible;

/// The lines of one ring, and where they end.
pub(super) struct Listing<'a> {
    pub(super) process: &'a Process,
    pub(super) ring: &'a Ring,
    pub(super) lines: usize,
    /// Up to its last panic: only destructors ran after it.
    pub(super) to_panic: bool,
}

impl Listing<'_> {
    /// Prints it with its title; nothing if the ring has no statement.
    pub(super) fn print(&self, map: Option<&MapFile>) {
        let mut text = String::new();
        let mut number = 0;
        for line in self.process.tail(self.ring, self.lines, self.to_panic) {
            match line {
                TailLine::Statement(statement, times) => {
                    number += 1;
                    let (path, line) = place(map, statement);
                    let repeated = if times > 1 { format!(" x {}", Thousands(times)) } else { String::new() };
                    let _ = writeln!(text, "{number:>4} {path}:{line}{repeated}");
                }
                TailLine::Repetition(again) => {
                    let _ = writeln!(text, "     {}", again.show(|statement| place(map, statement)));
                }
            }
        }
        let before = if self.to_panic { " before its panic" } else { "" };
        if !text.is_empty() {
            eprint!("last statements of thread {}{before} (newest last):\n{text}", self.ring.name());
        }
    }
}

/// Path and line, or numbers where the map does not know the file.
fn place(map: Option<&MapFile>, statement: Statement) -> (String, u32) {
    let Statement { file, line } = statement;
    match map.and_then(|map| map.place(file, line)) {
        Some((path, line)) => (visible(path), line),
        None if statement.number().is_some() => ("statement".to_owned(), u32::from(line)),
        None => (format!("file#{file}"), u32::from(line)),
    }
}
