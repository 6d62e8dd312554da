//! The last lines of each thread's log, for the answer.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};

use qs_core::record::Statement;

use crate::format::entries::AnsweredLogLine;
use xhist_history::context::Context;
use xhist_history::model::{Item, Ring, Trace, What};

/// Lines of a thread.
const MOST: usize = 8;

/// The newest lines, by the number of the ring.
#[derive(Debug, Default)]
pub(super) struct LogLines(HashMap<usize, ThreadLog>);

#[derive(Debug, Default)]
struct ThreadLog {
    /// The newest statement.
    at: Option<Statement>,
    /// Each line with the statement before it.
    lines: VecDeque<(Option<Statement>, Trace)>,
    /// Lines before these.
    more: u64,
}

impl LogLines {
    /// Takes what a ring yields next.
    pub(super) fn take(&mut self, ring: &Ring, item: &Item) {
        match &item.what {
            What::Statement { file, line } => {
                self.0.entry(ring.number).or_default().at = Some(Statement { file: *file, line: *line });
            }
            What::Trace(event) if event.is_log_line() => {
                let log = self.0.entry(ring.number).or_default();
                if log.lines.len() == MOST {
                    log.lines.pop_front();
                    log.more += 1;
                }
                log.lines.push_back((log.at, event.clone()));
            }
            _ => {}
        }
    }

    /// The lines of a ring, the newest last.
    pub(super) fn of(&self, ring: &Ring, context: &Context<'_, '_>) -> Vec<AnsweredLogLine> {
        let (_, names) = context.maps.of(ring);
        let line = |(at, event): &(Option<Statement>, Trace)| {
            let described = context.options.trace.formats.describe(event);
            let place = at.map(|at| names.place(at.file, at.line));
            AnsweredLogLine {
                file: place.and_then(|place| place.path).unwrap_or_default().to_owned(),
                line: place.filter(|place| place.path.is_some()).map(|place| place.line),
                level: described.level().to_owned(),
                text: described.text,
            }
        };
        self.0.get(&ring.number).into_iter().flat_map(|log| &log.lines).map(line).collect()
    }

    /// Writes the lines of a ring.
    ///
    /// # Errors
    /// Those of the output.
    pub(super) fn write(
        &self,
        ring: &Ring,
        lines: &[AnsweredLogLine],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let more = match self.0.get(&ring.number).map_or(0, |log| log.more) {
            0 => String::new(),
            more => format!(", {more} more before"),
        };
        writeln!(out, "its log (newest last{more}):")?;
        let place = |line: &AnsweredLogLine| match line.line {
            Some(number) => format!("{}:{number}", line.file),
            None => "?".to_owned(),
        };
        let width = lines.iter().map(|line| place(line).chars().count()).max().unwrap_or(0);
        lines
            .iter()
            .try_for_each(|line| writeln!(out, "  {:width$}  {:5}  {}", place(line), line.level, line.text))
    }
}
