//! The origin of a value as it is printed: a line for each statement that passed it on, and how the way ends.

mod json;
mod text;

use std::io::{self, Write};

use anstream::adapter::strip_str;

use crate::budget::{Budget, KeptEntries, Weight};

pub use json::lines as json_lines;
pub use text::{OriginLook, WITH_VALUES, lines as text_lines, print_brief};

/// A line, and how much it matters where not all fit.
pub type OriginLine = (Weight, String);

/// The weight of a statement that passed the value on: those near either end of the way say most.
fn weight_of_hop(index: usize, hops: usize) -> Weight {
    Weight::level(index.min(hops - 1 - index), index as u64)
}

/// Writes lines; with a budget those that fit, without styles.
///
/// # Errors
/// Those of the output.
pub fn print(
    lines: &[OriginLine],
    is_json: bool,
    budget: Option<Budget>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(budget) = budget else {
        lines.iter().try_for_each(|(_, line)| writeln!(out, "{line}"))?;
        return out.flush();
    };
    let mut entries = KeptEntries::new(budget, is_json);
    lines
        .iter()
        .for_each(|(weight, line)| entries.push(*weight, format!("{}\n", strip_str(line)).as_bytes()));
    entries.write(out)
}
