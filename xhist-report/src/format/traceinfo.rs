//! `traceinfo`: trace events only, one a line, for people and programs alike: time, severity and what it means, owner, name, text.
//! Columns that were asked for follow, each behind a tab: thread, source.

use std::io::{self, Write};

use super::Format;
use crate::format::Layout;
use crate::format::entries::{Entry, Subject};
use xhist_history::model::moment_text;

/// Writes the lines.
pub struct TraceInfo {
    layout: Layout,
}

impl TraceInfo {
    /// With the columns that were asked for.
    pub fn new(layout: Layout) -> TraceInfo {
        TraceInfo { layout }
    }
}

impl Format for TraceInfo {
    fn entry(&mut self, entry: &Entry<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Subject::Trace(event, trace) = entry.subject else { return Ok(()) };
        // A stamp that is no part of the statements' clock is better than nothing here.
        let date = entry.time.filter(|_| self.layout.dates).and_then(|time| entry.ring.moment_of(time));
        let time = || entry.time.map_or_else(|| event.stamp.to_string(), |time| entry.ring.time_text(time));
        let time = date.and_then(moment_text).unwrap_or_else(time);
        write!(out, "{time:>18} {}", trace.class)?;
        if let Some(meaning) = trace.meaning {
            write!(out, " ({meaning})")?;
        }
        write!(out, " {}", trace.subject)?;
        if self.layout.thread {
            write!(out, "\t{}", entry.ring.thread())?;
        }
        if let Some(origin) = &entry.ring.origin {
            write!(out, "\t{origin}")?;
        }
        writeln!(out)
    }
}
