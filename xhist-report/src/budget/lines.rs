//! A report that is written as lines, each an entry.

use std::io::{self, Write};

use super::{Budget, KeptEntries, Weight};

/// An output that keeps the lines that fit. [`BudgetedLines::finish`] writes them.
#[derive(Debug)]
pub struct BudgetedLines {
    entries: KeptEntries,
    is_json: bool,
    weigh: fn(u64) -> Weight,
    /// The last line, as far as it is known.
    line: Vec<u8>,
    /// The line before, not yet known not to be the last.
    waiting: Vec<u8>,
}

impl BudgetedLines {
    /// `weigh`: the weight of a line by its place, from 0.
    pub fn new(budget: Budget, is_json: bool, weigh: fn(u64) -> Weight) -> BudgetedLines {
        let entries = KeptEntries::new(budget, is_json);
        BudgetedLines { entries, is_json, weigh, line: Vec::new(), waiting: Vec::new() }
    }

    fn push(&mut self, text: &[u8], is_last: bool) {
        let place = self.entries.count();
        let weight = match self.is_json && (place == 0 || is_last) {
            true => Weight::FRAME,
            false => (self.weigh)(place),
        };
        self.entries.push(weight, text);
    }

    /// Writes what is kept.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self, out: &mut dyn Write) -> io::Result<()> {
        let (waiting, line) = (std::mem::take(&mut self.waiting), std::mem::take(&mut self.line));
        self.push(&waiting, line.is_empty());
        self.push(&line, true);
        self.entries.write(out)
    }
}

impl Write for BudgetedLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                let before = std::mem::replace(&mut self.waiting, line);
                self.push(&before, false);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_of_a_list_stay_and_the_frame_of_json() {
        let budget = || Budget { bytes: 600, command: "c".to_owned() };
        let mut lines = BudgetedLines::new(budget(), false, Weight::earlier);
        (1..=1000).for_each(|rank| writeln!(lines, "{rank}. suspect").unwrap());
        let mut text = Vec::new();
        lines.finish(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("1. suspect\n2. suspect\n") && text.len() <= 600, "{text}");
        assert!(!text.contains("1000. suspect") && text.contains(" of 1000 entries, "), "{text}");

        let mut lines = BudgetedLines::new(budget(), true, Weight::earlier);
        (1..=1000).for_each(|rank| writeln!(lines, "{{\"rank\":{rank}}}").unwrap());
        let mut text = Vec::new();
        lines.finish(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let last = text.lines().last().unwrap();
        assert!(last.contains("\"rank\":1000") && last.contains("\"left_out\""), "{text}");
    }
}
