//! What fills the rings, as a table, and the lines for a manifest that would leave the most of it out.

use std::io::{self, Write};

use crate::format::entries::Hotspot;

/// Functions that are listed one by one.
const SHOWN: usize = 20;
/// A function that is worth excluding fills at least this part of the rings.
const WORTH: u64 = 20;

/// Writes the table.
pub fn write(functions: &[Hotspot], out: &mut dyn Write) -> io::Result<()> {
    let total: u64 = functions.iter().map(|hot| hot.statements).sum();
    let share = |statements: u64| format!("{:>5.1} %", statements as f64 * 100.0 / total.max(1) as f64);
    for hot in functions.iter().take(SHOWN) {
        let Hotspot { file, lines: (first, last), statements, .. } = hot;
        let lines = if first == last { first.to_string() } else { format!("{first}-{last}") };
        let function = hot.function.as_deref().unwrap_or("?");
        writeln!(out, "{} {statements:>9}  {function}  {file}:{lines}", share(*statements))?;
    }
    if functions.len() > SHOWN {
        let rest = functions[SHOWN..].iter().map(|hot| hot.statements).sum();
        writeln!(out, "{} {rest:>9}  in {} more functions", share(rest), functions.len() - SHOWN)?;
    }
    let worth: Vec<&str> = functions
        .iter()
        .filter(|hot| hot.statements.saturating_mul(WORTH) >= total)
        .filter_map(|hot| hot.exclude.as_deref())
        .collect();
    if !worth.is_empty() {
        writeln!(
            out,
            "\n# leaves out what fills a twentieth of the rings or more\n[package.metadata.xhist]\nexclude = ["
        )?;
        worth.iter().try_for_each(|pattern| writeln!(out, "    \"{pattern}\","))?;
        writeln!(out, "]")?;
    }
    Ok(())
}
