//! `history` for people: aligned numbers, a heading where the thread changes, losses in their place.
//! Styles are always written; the owner of the terminal strips them if it shows no styles.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{Format, build, number_width, push_place, tasks};
use crate::format::Layout;
use crate::format::entries::{Entry, Subject, Totals};
use xhist_history::model::{Build, Gap, Opening, Ring, ShownValue, TaskSummary, values_line};

const DIM: Style = Style::new().dimmed();
const HEADING: Style = AnsiColor::Cyan.on_default().bold();
const VALUE: Style = AnsiColor::Cyan.on_default();
const RECORD: Style = AnsiColor::Green.on_default();
const ALARM: Style = AnsiColor::Red.on_default().bold();
const LOSS: Style = AnsiColor::Yellow.on_default();

/// Writes the listing.
pub struct Terminal {
    layout: Layout,
    number_width: usize,
    headings: bool,
    marks: bool,
    ring: Option<usize>,
    line: Vec<u8>,
}

impl Terminal {
    /// With the columns that were asked for.
    pub fn new(layout: Layout) -> Terminal {
        Terminal { layout, number_width: 1, headings: false, marks: false, ring: None, line: Vec::new() }
    }

    fn heading(&mut self, ring: &Ring, out: &mut dyn Write) -> io::Result<()> {
        if self.ring.replace(ring.number) == Some(ring.number) || !self.headings {
            return Ok(());
        }
        writeln!(out, "{HEADING}-- {ring} --{HEADING:#}")
    }
}

/// Ends a line with values.
fn values(values: &[ShownValue], out: &mut dyn Write) -> io::Result<()> {
    match values.is_empty() {
        true => writeln!(out),
        false => writeln!(out, "  {VALUE}{}{VALUE:#}", values_line(values)),
    }
}

impl Format for Terminal {
    fn start(&mut self, opening: &Opening<'_>, _: &mut dyn Write) -> io::Result<()> {
        self.number_width = number_width(opening);
        self.marks = opening.rings.len() > 1;
        self.headings = opening.rings.len() > 1 && !self.layout.thread;
        Ok(())
    }

    fn ring(&mut self, ring: &Ring, _: &mut dyn Write) -> io::Result<()> {
        self.marks = true;
        self.headings = !self.layout.thread;
        // A heading for it even where its number had one.
        self.ring = self.ring.filter(|number| *number != ring.number);
        Ok(())
    }

    fn marks_order(&self) -> bool {
        true
    }

    fn entry(&mut self, entry: &Entry<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.heading(entry.ring, out)?;
        match entry.own_number() {
            None => write!(out, "{:1$} ", "", self.number_width)?,
            Some(number) => write!(out, "{DIM}{number:>0$}{DIM:#} ", self.number_width)?,
        }
        if self.marks {
            write!(out, "{}", if entry.uncertain { '~' } else { ' ' })?;
        }
        if self.layout.time {
            let time = entry.time.map(|time| entry.ring.time_text(time));
            write!(out, "{DIM}{:>18}{DIM:#} ", time.as_deref().unwrap_or("-"))?;
        }
        if let Some(origin) = &entry.ring.origin {
            write!(out, "{HEADING}{origin:<21}{HEADING:#} ")?;
        }
        if self.layout.thread {
            write!(out, "{HEADING}{:<12}{HEADING:#} ", entry.thread())?;
        } else if entry.interrupt != 0 {
            let name = entry.ring.interrupts.name(entry.interrupt);
            let name = name.map_or_else(|| entry.interrupt.to_string(), str::to_owned);
            write!(out, "{HEADING}in {name:<4}{HEADING:#} ")?;
        }
        match entry.subject {
            Subject::Statement(place, source) => {
                self.line.clear();
                push_place(&mut self.line, &place);
                match source {
                    Some(source) => {
                        let place = String::from_utf8_lossy(&self.line);
                        write!(out, "{place:<28} {DIM}{source}{DIM:#}")?;
                    }
                    None => out.write_all(&self.line)?,
                }
                values(entry.values, out)
            }
            Subject::Values => values(entry.values, out),
            Subject::Again(again) => {
                write!(out, "{DIM}{}{DIM:#}", again.text)?;
                values(entry.values, out)
            }
            Subject::Panic(_) => {
                writeln!(out, "{ALARM}-- thread '{}' panicked here --{ALARM:#}", entry.ring.thread())
            }
            Subject::Signal(signal, _) => {
                writeln!(
                    out,
                    "{ALARM}-- signal {signal} arrived in thread '{}' --{ALARM:#}",
                    entry.ring.thread()
                )
            }
            Subject::Output(trace, _) => writeln!(out, "{DIM}{}{DIM:#}", trace.printed()),
            Subject::Trace(event, trace) => {
                let style = if event.is_fault() { ALARM } else { RECORD };
                writeln!(out, "{style}{} {}{style:#}", trace.class, trace.subject)
            }
            Subject::Record(record) => match &record.mark {
                Some(mark) => writeln!(out, "{RECORD}-- {mark} --{RECORD:#}"),
                None => writeln!(out, "{RECORD}{}{RECORD:#}", record.text),
            },
        }
    }

    fn build(&mut self, build: &Build, rings: &[&Ring], out: &mut dyn Write) -> io::Result<()> {
        build::write(build, rings, HEADING, out)
    }

    fn tasks(&mut self, tasks: &TaskSummary, out: &mut dyn Write) -> io::Result<()> {
        tasks::write(tasks, HEADING, DIM, out)
    }

    fn gap(&mut self, ring: &Ring, gap: &Gap, out: &mut dyn Write) -> io::Result<()> {
        self.heading(ring, out)?;
        writeln!(out, "{LOSS}{:>1$} {gap}{LOSS:#}", "--", self.number_width.max(2))
    }

    fn finish(&mut self, totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
        if !totals.complete {
            writeln!(out, "{LOSS}-- not complete, see the messages --{LOSS:#}")?;
        }
        Ok(())
    }
}
