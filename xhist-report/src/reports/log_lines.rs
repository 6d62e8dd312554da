//! The last lines of each thread's log, for the answer.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};

use qs_core::record::Statement;
use xhist_history::model::{Names, RegistryPackage};

use crate::format::entries::AnsweredLogLine;
use xhist_history::events::context::Context;
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
    /// Where `defmt` names crates, the newest statement of each file, with its place in their order.
    newest: HashMap<u16, (u64, Statement)>,
    statements: u64,
    /// Each line with the statement before it.
    lines: VecDeque<(Option<Statement>, Trace)>,
    /// Lines before these.
    more: u64,
}

impl ThreadLog {
    /// A statement ran. `names_crates`: lines may name the crates that wrote them.
    fn ran(&mut self, statement: Statement, names_crates: bool) {
        self.at = Some(statement);
        if names_crates {
            self.statements += 1;
            self.newest.insert(statement.file, (self.statements, statement));
        }
    }

    /// The statement that wrote a line: the newest one of its crate, since statements of its logger may come behind it. Without
    /// one, the newest of the project, or of all.
    fn place(&self, event: &Trace, names: &Names) -> Option<Statement> {
        let path = |file: u16| names.shown_path(file).unwrap_or_default();
        let newest = |is_meant: &dyn Fn(&str) -> bool| {
            let meant = self.newest.iter().filter(|(file, _)| is_meant(path(**file)));
            meant.map(|(_, newest)| *newest).max_by_key(|(order, _)| *order).map(|(_, statement)| statement)
        };
        let Some(from) = &event.from_crate else { return self.at };
        let of_crate = newest(&|path| {
            RegistryPackage::of(path).is_some_and(|package| package.name.replace('-', "_") == *from)
        });
        of_crate.or_else(|| newest(&|path| RegistryPackage::of(path).is_none())).or(self.at)
    }
}

impl LogLines {
    /// Takes what a ring yields next.
    pub(super) fn take(&mut self, ring: &Ring, item: &Item, names: &Names) {
        match &item.what {
            What::Statement { file, line } => {
                let log = self.0.entry(ring.number).or_default();
                log.ran(Statement { file: *file, line: *line }, !ring.defmt.is_empty());
            }
            What::Trace(event) if event.is_log_line() => {
                let log = self.0.entry(ring.number).or_default();
                if log.lines.len() == MOST {
                    log.lines.pop_front();
                    log.more += 1;
                }
                log.lines.push_back((log.place(event, names), event.clone()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use qs_core::record::trace::{Code, Severity};
    use xhist_history::model::TraceClass;

    #[test]
    fn a_line_of_defmt_is_at_the_statement_of_its_crate() {
        let files = [
            "/p/src/main.rs",
            "/c/registry/src/i/defmt-rtt-1.3.1/src/lib.rs",
            "/c/registry/src/i/my-bus-0.1.0/src/lib.rs",
        ];
        let mut names = Names::default();
        (1..).zip(files).for_each(|(file, path)| names.add_path(file, path));
        let mut log = ThreadLog::default();
        let mut ran = |file: u16| {
            log.ran(Statement { file, line: 7 }, true);
            let at = |from: Option<&str>| {
                let class = TraceClass::Exception { severity: Severity::Sw0, code: Code::LOG_INFO };
                let from_crate = from.map(str::to_owned);
                let line = Trace { from_crate, ..Trace::of(class) };
                log.place(&line, &names).map(|at| at.file)
            };
            [None, Some("my_bus"), Some("app")].map(at)
        };
        assert_eq!(ran(2), [Some(2); 3], "nothing else ran");
        assert_eq!(ran(3), [Some(3), Some(3), Some(3)]);
        assert_eq!(ran(1), [Some(1), Some(3), Some(1)]);
        assert_eq!(ran(2), [Some(2), Some(3), Some(1)], "the logger's own statements");
    }
}
