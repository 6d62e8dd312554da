//! `qspy`: lines of records come from the stream itself; only builds of rings are told here.

use std::io::{self, Write};

use anstyle::Style;

use super::{Format, build};
use crate::model::{Build, Entry, Ring, Subject};

/// Writes records as QSPY does.
pub struct Qspy;

impl Format for Qspy {
    fn build(&mut self, build: &Build, rings: &[&Ring], out: &mut dyn Write) -> io::Result<()> {
        build::write(build, rings, Style::new(), out)
    }

    fn entry(&mut self, entry: &Entry<'_>, out: &mut dyn Write) -> io::Result<()> {
        match entry.subject {
            Subject::Panic(record) | Subject::Signal(_, record) | Subject::Record(record) => {
                writeln!(out, "{}", record.text)
            }
            Subject::Statement(..) | Subject::Again(_) | Subject::Trace(..) => Ok(()),
        }
    }
}
