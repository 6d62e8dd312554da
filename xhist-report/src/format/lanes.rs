//! `history` side by side: a column for each thread and for each interrupt, a line for each entry, oldest first. `~` marks entries that may
//! have run elsewhere among those of another thread. Styles are always written, as in the listing for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{Format, build, number_width, push_place};
use crate::model::{Build, Entry, Gap, Opening, Ring, Subject, Totals};
use crate::options::Layout;

const WIDTH: usize = 30;
const DIM: Style = Style::new().dimmed();
const HEADING: Style = AnsiColor::Cyan.on_default().bold();
const RECORD: Style = AnsiColor::Green.on_default();
const ALARM: Style = AnsiColor::Red.on_default().bold();
const LOSS: Style = AnsiColor::Yellow.on_default();

/// Writes the columns.
pub struct Lanes {
    layout: Layout,
    number_width: usize,
    /// In the order of the columns.
    lanes: Vec<Lane>,
}

/// Number of the ring, and of the interrupt.
type Lane = (usize, u16);

impl Lanes {
    /// With the time of each entry, if that was asked for.
    pub fn new(layout: Layout) -> Lanes {
        Lanes { layout, number_width: 1, lanes: Vec::new() }
    }

    /// A text in the column of a ring, or of an interrupt of it.
    fn lane(&self, lane: Lane, style: Style, text: &str, out: &mut dyn Write) -> io::Result<()> {
        self.put(lane, style, text, shortened, out)
    }

    fn put(
        &self,
        lane: Lane,
        style: Style,
        text: &str,
        shortened: fn(&str) -> String,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let lane = self.lanes.iter().position(|other| *other == lane).unwrap_or(0);
        let text = if lane + 1 < self.lanes.len() { shortened(text) } else { text.to_owned() };
        // As a width, more than 65,535 blanks are a panic.
        let before = " ".repeat(lane * WIDTH);
        writeln!(out, "{before}{style}{text}{style:#}")
    }

    /// The name over a column, which is a new one where there is none yet.
    fn heading(&mut self, ring: &Ring, interrupt: u16, name: &str, out: &mut dyn Write) -> io::Result<()> {
        if !self.lanes.contains(&(ring.number, interrupt)) {
            self.lanes.push((ring.number, interrupt));
        }
        self.blank_margin(out)?;
        self.lane((ring.number, interrupt), HEADING, name, out)
    }

    fn blank_margin(&self, out: &mut dyn Write) -> io::Result<()> {
        let time_width = if self.layout.time { 19 } else { 0 };
        write!(out, "{:1$}", "", self.number_width + 2 + time_width)
    }

    fn margin(&self, number: Option<u64>, mark: char, out: &mut dyn Write) -> io::Result<()> {
        let number = number.map(|number| number.to_string()).unwrap_or_default();
        write!(out, "{DIM}{number:>0$}{DIM:#} {mark}", self.number_width)
    }
}

/// The end of a text, which tells more than its start, with a blank behind it.
fn shortened(text: &str) -> String {
    let len = text.chars().count();
    match text.char_indices().nth((len + 2).saturating_sub(WIDTH)) {
        Some((start, _)) if len + 1 >= WIDTH => format!("…{}", &text[start..]),
        _ => text.to_owned(),
    }
}

/// The start of a text, where that tells more.
fn begun(text: &str) -> String {
    match text.char_indices().nth(WIDTH - 2) {
        Some((end, _)) if text.chars().count() + 1 > WIDTH => format!("{}…", &text[..end]),
        _ => text.to_owned(),
    }
}

impl Format for Lanes {
    fn start(&mut self, opening: &Opening<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.number_width = number_width(opening);
        self.lanes = opening.rings.iter().map(|ring| (ring.number, 0)).collect();
        self.blank_margin(out)?;
        for ring in opening.rings {
            write!(out, "{HEADING}{:<WIDTH$}{HEADING:#}", shortened(&ring.thread()))?;
        }
        writeln!(out)
    }

    fn ring(&mut self, ring: &Ring, out: &mut dyn Write) -> io::Result<()> {
        self.heading(ring, 0, &ring.thread(), out)
    }

    fn marks_order(&self) -> bool {
        true
    }

    fn entry(&mut self, entry: &Entry<'_>, out: &mut dyn Write) -> io::Result<()> {
        if !self.lanes.contains(&(entry.ring.number, entry.interrupt)) {
            self.heading(entry.ring, entry.interrupt, &entry.thread(), out)?;
        }
        let mark = if entry.uncertain { '~' } else { ' ' };
        let number = (!matches!(entry.subject, Subject::Again(_))).then_some(entry.number);
        self.margin(number, mark, out)?;
        if self.layout.time {
            let time = entry.time.map(|time| entry.ring.time_text(time));
            write!(out, "{DIM}{:>18}{DIM:#} ", time.as_deref().unwrap_or("-"))?;
        }
        let (ring, lane) = ((entry.ring.number, 0), (entry.ring.number, entry.interrupt));
        match entry.subject {
            Subject::Statement(place, _) => {
                let mut text = Vec::new();
                push_place(&mut text, &place);
                self.lane(lane, Style::new(), &String::from_utf8_lossy(&text), out)
            }
            Subject::Again(again) => self.lane(ring, DIM, &again.text, out),
            Subject::Panic(_) => self.lane(ring, ALARM, "-- panicked here --", out),
            Subject::Signal(signal, _) => self.lane(ring, ALARM, &format!("-- signal {signal} --"), out),
            Subject::Trace(event, told) => {
                let style = if event.is_fault() { ALARM } else { RECORD };
                self.put(ring, style, &format!("{} {}", told.class, told.subject), begun, out)
            }
            Subject::Record(record) => match &record.mark {
                Some(mark) => self.lane(ring, RECORD, &format!("-- {mark} --"), out),
                None => self.lane(ring, RECORD, record.text.trim_start(), out),
            },
        }
    }

    fn build(&mut self, build: &Build, rings: &[&Ring], out: &mut dyn Write) -> io::Result<()> {
        build::write(build, rings, HEADING, out)
    }

    fn gap(&mut self, ring: &Ring, gap: &Gap, out: &mut dyn Write) -> io::Result<()> {
        self.blank_margin(out)?;
        self.lane((ring.number, 0), LOSS, &format!("-- {gap}"), out)
    }

    fn finish(&mut self, totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
        if !totals.complete {
            writeln!(out, "{LOSS}-- not complete, see the messages --{LOSS:#}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_loses_its_start() {
        assert_eq!(shortened("src/main.rs:1"), "src/main.rs:1");
        let long = shortened("/a/very/long/way/to/some/where/é.rs:12");
        assert_eq!(long, "…ng/way/to/some/where/é.rs:12");
        assert!(shortened(&"é".repeat(100)).chars().count() < WIDTH);
        assert_eq!(begun("SW1 0x000001:0x01 1 2 3 4 5 6"), "SW1 0x000001:0x01 1 2 3 4 5 6");
        assert!(begun(&"é".repeat(100)).chars().count() < WIDTH);
    }
}
