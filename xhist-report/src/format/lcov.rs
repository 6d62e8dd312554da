//! An LCOV tracefile: each statement of the map, 1 if it was ever executed, otherwise 0. Executions are not counted.

use std::io::{self, Write};

use super::Format;
use crate::format::entries::FileCoverage;

/// Writes the tracefile.
pub struct Lcov;

impl Format for Lcov {
    fn covered(&mut self, file: &FileCoverage, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "TN:\nSF:{}", file.path)?;
        for (name, (line, _)) in &file.functions {
            writeln!(out, "FN:{line},{name}")?;
        }
        for (name, (_, ran)) in &file.functions {
            writeln!(out, "FNDA:{},{name}", u8::from(*ran))?;
        }
        let hit = file.functions.values().filter(|(_, ran)| *ran).count();
        writeln!(out, "FNF:{}\nFNH:{hit}", file.functions.len())?;
        for (line, ran) in &file.lines {
            writeln!(out, "DA:{line},{}", u8::from(*ran))?;
        }
        let hit = file.lines.values().filter(|ran| **ran).count();
        writeln!(out, "LF:{}\nLH:{hit}\nend_of_record", file.lines.len())
    }
}
