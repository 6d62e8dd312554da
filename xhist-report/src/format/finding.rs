//! Broken rules of order for people: the rule, then the statements that prove it.

use std::io::{self, Write};

use crate::format::entries::Finding;

/// Writes a finding.
pub fn write(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let Finding { rule, text, times, evidence, .. } = finding;
    let times = if *times > 1 { format!(" ({times} times)") } else { String::new() };
    writeln!(out, "{rule}: {text}{times}")?;
    let lines = || evidence.iter().flat_map(|piece| &piece.lines);
    let digits = |number: u64| number.checked_ilog10().unwrap_or(0) as usize + 1;
    let number_width = lines().map(|line| digits(line.number)).max().unwrap_or(1);
    let places: Vec<usize> =
        lines().map(|line| line.file.chars().count() + 1 + digits(line.line.into())).collect();
    let place_width = places.iter().max().copied().unwrap_or(0);
    let function_width = lines().map(|line| line.function.chars().count()).max().unwrap_or(0);
    for piece in evidence {
        writeln!(out, "  thread {}:", piece.thread)?;
        for line in &piece.lines {
            if line.left_out > 0 {
                writeln!(out, "  {:number_width$}  ... {} more", "", line.left_out)?;
            }
            let place = format!("{}:{}", line.file, line.line);
            let text = format!(
                "  {:>number_width$}  {place:place_width$}  {:function_width$}  {}",
                line.number,
                line.function,
                line.source.as_deref().unwrap_or("")
            );
            writeln!(out, "{}", text.trim_end())?;
        }
    }
    writeln!(out)
}
