//! An LCOV tracefile: each statement of the map, 1 when it ever ran, else 0. How often it ran nobody counted.

use std::io::{self, Write};

use super::Format;
use crate::model::{Build, Covered, Entry, Ring};

/// Writes the tracefile.
pub struct Lcov;

impl Format for Lcov {
    fn entry(&mut self, _: &Entry<'_>, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn build(&mut self, _: &Build, _: &[&Ring], _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn covered(&mut self, file: &Covered, out: &mut dyn Write) -> io::Result<()> {
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
