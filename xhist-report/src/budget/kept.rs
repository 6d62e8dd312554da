//! Entries of a report as long as they fit.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde_json::json;

use super::{Budget, Weight};

/// Bytes of a marker, the longest.
const MARKER: usize = 52;
/// Bytes of the last line, or of the fields in it, without the command.
const LAST_LINE: usize = 112;

/// The heaviest entries of a report. Memory is bounded by the budget and one entry.
#[derive(Debug)]
pub struct KeptEntries {
    budget: Budget,
    /// Entries are lines of JSON.
    is_json: bool,
    kept: BTreeMap<u64, (Weight, Vec<u8>)>,
    lightest: BTreeSet<(Weight, u64)>,
    /// Bytes of those kept.
    bytes: usize,
    /// Places with a marker: runs of entries that are left out.
    holes: usize,
    /// Entries so far.
    count: u64,
}

impl KeptEntries {
    /// No entry yet. `is_json`: each entry is one or more whole lines of JSON.
    pub fn new(budget: Budget, is_json: bool) -> KeptEntries {
        KeptEntries {
            budget,
            is_json,
            kept: BTreeMap::new(),
            lightest: BTreeSet::new(),
            bytes: 0,
            holes: 0,
            count: 0,
        }
    }

    /// How many entries were given.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds an entry with its line end. An empty text is no entry.
    pub fn push(&mut self, weight: Weight, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        // One that leaves no room for others is worth less than all of them.
        let is_huge = text.len() > self.budget.bytes / 2 && weight != Weight::FRAME;
        let weight = if is_huge { Weight::LEAST } else { weight };
        let number = self.count;
        self.count += 1;
        self.bytes += text.len();
        self.kept.insert(number, (weight, text.to_vec()));
        self.lightest.insert((weight, number));
        let room = self.budget.bytes;
        // Without a hole there is no last line; but whether all fits is known only at the end.
        while self.bytes + self.framing() > room && !self.kept.is_empty() {
            self.leave_out();
        }
    }

    /// Bytes of what says what is left out.
    fn framing(&self) -> usize {
        match self.holes {
            0 => 0,
            holes => holes * MARKER + LAST_LINE + self.command().len(),
        }
    }

    /// The command, unless it needs more than half of the room.
    fn command(&self) -> &str {
        match self.budget.command.len() > self.budget.bytes / 2 {
            true => "the same command without --budget",
            false => &self.budget.command,
        }
    }

    fn leave_out(&mut self) {
        let Some((_, number)) = self.lightest.pop_first() else { return };
        let Some((_, text)) = self.kept.remove(&number) else { return };
        self.bytes -= text.len();
        let is_missing = |number: Option<u64>| {
            number.is_some_and(|number| number < self.count && !self.kept.contains_key(&number))
        };
        match (is_missing(number.checked_sub(1)), is_missing(number.checked_add(1))) {
            (false, false) => self.holes += 1,
            (true, true) => self.holes -= 1,
            _ => {}
        }
    }

    /// Writes what is kept, a marker at each place where entries are missing, and behind all how many are missing.
    ///
    /// # Errors
    /// Those of the output.
    pub fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let missing = self.count - self.kept.len() as u64;
        let last = self.kept.last_key_value().map(|(number, _)| *number);
        let mut expected = 0;
        for (number, (_, text)) in &self.kept {
            self.marker(number - expected, out)?;
            expected = number + 1;
            match self.is_json && missing > 0 && last == Some(*number) && expected == self.count {
                true => self.last_json(text, missing, out)?,
                false => out.write_all(text)?,
            }
        }
        self.marker(self.count - expected, out)?;
        if missing > 0 && (!self.is_json || expected < self.count) {
            match self.is_json {
                true => self.last_json(b"{}\n", missing, out)?,
                false => {
                    writeln!(
                        out,
                        "left out: {missing} of {} entries, marked `...`. All: {}",
                        self.count,
                        self.command()
                    )?;
                }
            }
        }
        out.flush()
    }

    fn marker(&self, missing: u64, out: &mut dyn Write) -> io::Result<()> {
        match (missing, self.is_json) {
            (0, _) => Ok(()),
            (1, false) => writeln!(out, "... 1 entry left out"),
            (_, false) => writeln!(out, "... {missing} entries left out"),
            (_, true) => writeln!(out, r#"{{"kind":"left_out","entries":{missing}}}"#),
        }
    }

    /// The last line of JSON, with what is missing as a field of it.
    fn last_json(&self, text: &[u8], missing: u64, out: &mut dyn Write) -> io::Result<()> {
        let Some(fields) = text.strip_suffix(b"}\n") else { return out.write_all(text) };
        out.write_all(fields)?;
        let comma = if fields == b"{" { "" } else { "," };
        let left_out = json!({ "entries": missing, "of": self.count, "command": self.command() });
        writeln!(out, "{comma}\"left_out\":{left_out}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn written(entries: KeptEntries) -> String {
        let mut out = Vec::new();
        entries.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn budget(bytes: usize) -> Budget {
        Budget { bytes, command: "xhist-report a.xhist".to_owned() }
    }

    #[test]
    fn what_fits_is_unchanged() {
        let mut entries = KeptEntries::new(budget(600), false);
        (0..100).for_each(|place| entries.push(Weight::newer(place), b"12345\n"));
        assert_eq!(written(entries), "12345\n".repeat(100));
    }

    #[test]
    fn the_lightest_are_left_out_and_each_place_has_a_marker() {
        let mut entries = KeptEntries::new(budget(600), false);
        entries.push(Weight::FRAME, b"heading\n");
        for place in 0..1000 {
            let weight = if place == 500 { Weight::on_the_way(place) } else { Weight::newer(place) };
            entries.push(weight, format!("entry {place}\n").as_bytes());
            assert!(entries.bytes <= 600);
        }
        let text = written(entries);
        assert!(text.len() <= 600, "{} bytes: {text}", text.len());
        let lines: Vec<&str> = text.lines().collect();
        let most = lines.iter().filter(|line| line.starts_with("entry ")).count();
        assert_eq!(
            lines[..4],
            [
                "heading",
                "... 500 entries left out",
                "entry 500",
                &format!("... {} entries left out", 1000 - 500 - most)
            ]
        );
        assert_eq!(lines[lines.len() - 2], "entry 999");
        let last =
            format!("left out: {} of 1001 entries, marked `...`. All: xhist-report a.xhist", 1000 - most);
        assert_eq!(lines.last(), Some(&&*last));
        assert!(text.len() > 400, "most of the room is used: {}", text.len());
    }

    #[test]
    fn json_stays_json_and_its_last_line_says_what_is_missing() {
        let mut entries = KeptEntries::new(budget(700), true);
        entries.push(Weight::FRAME, b"{\"schema\":2}\n");
        (0..1000)
            .for_each(|place| entries.push(Weight::newer(place), format!("{{\"n\":{place}}}\n").as_bytes()));
        entries.push(Weight::FRAME, b"{\"kind\":\"end\",\"entries\":1000}\n");
        let text = written(entries);
        assert!(text.len() <= 700, "{text}");
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let (last, missing) = (&lines[lines.len() - 1], &lines[1]["entries"]);
        assert_eq!((&lines[1]["kind"], &last["kind"]), (&json!("left_out"), &json!("end")));
        assert_eq!((&last["left_out"]["entries"], &last["left_out"]["of"]), (missing, &json!(1002)));
        assert_eq!(last["left_out"]["command"], "xhist-report a.xhist");
    }

    #[test]
    fn a_huge_entry_costs_no_others() {
        for huge in 0..3 {
            let mut entries = KeptEntries::new(budget(600), false);
            for place in 0..3 {
                let text = if place == huge { "x".repeat(9000) } else { format!("entry {place}") };
                entries.push(Weight::newer(place), format!("{text}\n").as_bytes());
            }
            let text = written(entries);
            assert!(text.len() <= 600 && text.matches("entry ").count() >= 2, "{text}");
            assert!(text.contains("... 1 entry left out"), "{text}");
        }
    }
}
