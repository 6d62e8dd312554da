//! `history` side by side: a column for each thread and for each interrupt, a line for each entry, oldest first. `~` marks entries that may
//! have run elsewhere among those of another thread. Styles are written for a terminal only: stripping them later costs more
//! than all else.

use std::borrow::Cow;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::task_columns::TaskColumns;
use super::{Format, build, number_width, push_place, tasks};
use crate::format::Layout;
use crate::format::entries::{Entry, Subject, Totals};
use xhist_history::model::{Build, Gap, Opening, Ring, TaskSummary, values_line};

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
    /// The columns, if they are those of tasks. Their lanes have the number of the column instead of a ring's.
    tasks: TaskColumns,
    /// The line being made.
    line: Vec<u8>,
    /// The place in it.
    place: Vec<u8>,
}

/// Number of the ring, and of the interrupt.
type Lane = (usize, u16);

impl Lanes {
    /// With the time of each entry, if that was asked for.
    pub fn new(layout: Layout) -> Lanes {
        Lanes {
            layout,
            number_width: 1,
            lanes: Vec::new(),
            tasks: TaskColumns::default(),
            line: Vec::new(),
            place: Vec::new(),
        }
    }

    /// What is written for a style.
    fn style(&self, style: Style) -> Style {
        if self.layout.terminal { style } else { Style::new() }
    }

    fn push(&mut self, style: Style, text: &str) {
        let style = self.style(style);
        // Of a plain text nothing is to be formatted.
        if style.is_plain() {
            self.line.extend_from_slice(text.as_bytes());
        } else {
            // A line in memory takes everything.
            let _ = write!(self.line, "{style}{text}{style:#}");
        }
    }

    fn blank(&mut self, columns: usize) {
        self.line.resize(self.line.len() + columns, b' ');
    }

    /// Ends the line with a text in the column of a ring, or of an interrupt of it.
    fn lane(&mut self, lane: Lane, style: Style, text: &str, out: &mut dyn Write) -> io::Result<()> {
        self.put(lane, style, text, shortened, out)
    }

    fn put(
        &mut self,
        lane: Lane,
        style: Style,
        text: &str,
        shortened: fn(&str) -> Cow<'_, str>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let lane = self.lanes.iter().position(|other| *other == lane).unwrap_or(0);
        self.blank(lane * WIDTH);
        match lane + 1 < self.lanes.len() {
            true => self.push(style, &shortened(text)),
            false => self.push(style, text),
        }
        self.line.push(b'\n');
        let written = out.write_all(&self.line);
        self.line.clear();
        written
    }

    /// Writes the name over a column, and adds the column if it is new.
    fn heading(&mut self, ring: &Ring, interrupt: u16, name: &str, out: &mut dyn Write) -> io::Result<()> {
        if !self.lanes.contains(&(ring.number, interrupt)) {
            self.lanes.push((ring.number, interrupt));
        }
        self.blank_margin();
        self.lane((ring.number, interrupt), HEADING, name, out)
    }

    /// The lane of a task, with a heading if the task is new there.
    fn task_lane(&mut self, task: Option<(u32, &str)>, out: &mut dyn Write) -> io::Result<Lane> {
        let (column, is_new) = self.tasks.of(task.map(|(number, _)| number));
        self.lanes = (0..self.tasks.len()).map(|column| (column, 0)).collect();
        if is_new {
            let name = match task {
                None => "no task".to_owned(),
                Some((number, function)) => format!("task {number} {function}"),
            };
            self.blank_margin();
            self.put((column, 0), HEADING, &name, begun, out)?;
        }
        Ok((column, 0))
    }

    fn blank_margin(&mut self) {
        let time_width = if self.layout.time { 19 } else { 0 };
        self.blank(self.number_width + 2 + time_width);
    }

    fn margin(&mut self, number: Option<u64>, mark: u8) {
        let mut digits = itoa::Buffer::new();
        let number = number.map_or("", |number| digits.format(number));
        self.blank(self.number_width.saturating_sub(number.len()));
        self.push(DIM, number);
        self.line.extend([b' ', mark]);
    }
}

/// The end of a text, which says more than its start, with a blank behind it.
fn shortened(text: &str) -> Cow<'_, str> {
    // No text has more characters than bytes.
    if text.len() + 1 < WIDTH {
        return Cow::Borrowed(text);
    }
    let len = text.chars().count();
    match text.char_indices().nth((len + 2).saturating_sub(WIDTH)) {
        Some((start, _)) if len + 1 >= WIDTH => Cow::Owned(format!("…{}", &text[start..])),
        _ => Cow::Borrowed(text),
    }
}

/// The start of a text, if that says more.
fn begun(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(WIDTH - 2) {
        Some((end, _)) if text.chars().count() + 1 > WIDTH => Cow::Owned(format!("{}…", &text[..end])),
        _ => Cow::Borrowed(text),
    }
}

impl Format for Lanes {
    fn start(&mut self, opening: &Opening<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.number_width = number_width(opening);
        if self.layout.tasks {
            return Ok(());
        }
        self.lanes = opening.rings.iter().map(|ring| (ring.number, 0)).collect();
        self.blank_margin();
        for ring in opening.rings {
            let name = ring.thread();
            let name = shortened(&name);
            let blanks = WIDTH.saturating_sub(name.chars().count());
            self.push(HEADING, &name);
            self.blank(blanks);
        }
        self.line.push(b'\n');
        let written = out.write_all(&self.line);
        self.line.clear();
        written
    }

    fn ring(&mut self, ring: &Ring, out: &mut dyn Write) -> io::Result<()> {
        if self.layout.tasks {
            return Ok(());
        }
        self.heading(ring, 0, &ring.thread(), out)
    }

    fn marks_order(&self) -> bool {
        true
    }

    fn entry(&mut self, entry: &Entry<'_>, out: &mut dyn Write) -> io::Result<()> {
        let task = if self.layout.tasks { Some(self.task_lane(entry.task, out)?) } else { None };
        if task.is_none() && !self.lanes.contains(&(entry.ring.number, entry.interrupt)) {
            self.heading(entry.ring, entry.interrupt, &entry.thread(), out)?;
        }
        let mark = if entry.uncertain { b'~' } else { b' ' };
        self.margin(entry.own_number(), mark);
        if self.layout.time {
            let time = entry.time.map(|time| entry.ring.time_text(time));
            self.push(DIM, &format!("{:>18}", time.as_deref().unwrap_or("-")));
            self.line.push(b' ');
        }
        let (ring, lane) = match task {
            Some(lane) => (lane, lane),
            None => ((entry.ring.number, 0), (entry.ring.number, entry.interrupt)),
        };
        match entry.subject {
            Subject::Statement(place, _) => {
                let mut text = std::mem::take(&mut self.place);
                text.clear();
                push_place(&mut text, &place);
                if !entry.values.is_empty() {
                    let _ = write!(text, "  {}", values_line(entry.values));
                }
                let written = self.lane(lane, Style::new(), &String::from_utf8_lossy(&text), out);
                self.place = text;
                written
            }
            Subject::Values => self.put(ring, DIM, &values_line(entry.values), begun, out),
            Subject::Again(again) => self.lane(ring, DIM, &again.text, out),
            Subject::Panic(_) => self.lane(ring, ALARM, "-- panicked here --", out),
            Subject::Signal(signal, _) => self.lane(ring, ALARM, &format!("-- signal {signal} --"), out),
            Subject::Output(trace, _) => self.lane(ring, DIM, &trace.printed(), out),
            Subject::Trace(event, trace) => {
                let style = if event.is_fault() { ALARM } else { RECORD };
                self.put(ring, style, &format!("{} {}", trace.class, trace.subject), begun, out)
            }
            Subject::Record(record) => match &record.mark {
                Some(mark) => self.lane(ring, RECORD, &format!("-- {mark} --"), out),
                None => self.lane(ring, RECORD, record.text.trim_start(), out),
            },
        }
    }

    fn build(&mut self, build: &Build, rings: &[&Ring], out: &mut dyn Write) -> io::Result<()> {
        build::write(build, rings, self.style(HEADING), out)
    }

    fn tasks(&mut self, tasks: &TaskSummary, out: &mut dyn Write) -> io::Result<()> {
        tasks::write(tasks, self.style(HEADING), self.style(DIM), out)
    }

    fn cancelled(&mut self, task: (u32, &str), out: &mut dyn Write) -> io::Result<()> {
        if !self.layout.tasks {
            return Ok(());
        }
        let lane = self.task_lane(Some(task), out)?;
        self.blank_margin();
        self.lane(lane, LOSS, "-- cancelled here --", out)
    }

    fn gap(&mut self, ring: &Ring, gap: &Gap, out: &mut dyn Write) -> io::Result<()> {
        self.blank_margin();
        self.lane((ring.number, 0), LOSS, &format!("-- {gap}"), out)
    }

    fn finish(&mut self, totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
        if !totals.complete {
            let loss = self.style(LOSS);
            writeln!(out, "{loss}-- not complete, see the messages --{loss:#}")?;
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
