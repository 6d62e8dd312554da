//! The lines of an answer as text: place, function, source text.

use std::io::{self, Write};
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use qs_core::listing::Thousands;

use crate::format::Links;
use crate::format::entries::{AnsweredPanic, AnsweredRow};
use xhist_history::answer::{
    Code, Ending, Hole, ListedStatement, PlaceOfPanic, Row, RowKind, SecondPanic, ThreadEnd,
};
use xhist_history::calls::{BodyId, EnteredBy, Reentry, SincePanic};
use xhist_history::model::{InterruptNames, count, shortened, tail_of};
use xhist_history::notes::typed;

const DIM: Style = Style::new().dimmed();
const FUNCTION: Style = AnsiColor::Cyan.on_default();
const ALARM: Style = AnsiColor::Red.on_default().bold();
/// Widest columns of places and functions.
const MOST_PLACE: usize = 44;
const MOST_FUNCTION: usize = 32;
/// Functions entered again that are named.
const MOST_REENTRIES: usize = 3;
/// Deepest indentation, in calls.
const MOST_DEPTH: usize = 8;
/// Characters of a source text.
pub const MOST_TEXT: usize = 110;
/// Threads without a listing whose caught panics are named.
const MOST_CAUGHT: usize = 3;

/// What the lines show besides their statements.
pub trait Sources {
    /// The source text of a statement in one line, and the last line of the source that is in there. `is_open`: a frame of the
    /// panic is at it.
    fn text(&mut self, code: &Code, statement: ListedStatement, is_open: bool) -> Option<(String, u32)>;
    /// The values behind the statements of a row: the newest, and those of the first round of a loop; or the arguments of the
    /// call that begins with it. Empty without any.
    fn values(&mut self, row: &Row) -> String;
    /// The file that it is in.
    fn file(&mut self, code: &Code, statement: ListedStatement) -> Option<PathBuf>;
}

/// Writes the lines of a thread.
pub fn write_rows(
    rows: &[Row],
    (code, interrupts): (&Code, &InterruptNames),
    sources: &mut dyn Sources,
    links: Links,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rows: Vec<Result<Cells, &Hole>> =
        rows.iter().map(|row| Cells::of(row, (code, interrupts), sources, links)).collect();
    let widest = |cell: &dyn Fn(&Cells) -> usize, most: usize| {
        rows.iter().flatten().map(cell).max().unwrap_or(0).min(most)
    };
    let place = widest(&|cells| cells.place.chars().count(), MOST_PLACE);
    let function = widest(&|cells| cells.function.chars().count(), MOST_FUNCTION);
    for row in &rows {
        match row {
            Ok(cells) => cells.write(place, function, out)?,
            Err(Hole { what, place }) => {
                let what = if what.is_empty() { String::new() } else { format!("{what} at ") };
                writeln!(out, "  {ALARM}not recorded: {what}{place}{ALARM:#}")?;
            }
        }
    }
    Ok(())
}

/// The same lines as data.
pub fn answered_rows(
    rows: &[Row],
    (code, interrupts): (&Code, &InterruptNames),
    sources: &mut dyn Sources,
) -> Vec<AnsweredRow> {
    let mut answered = |row: &Row| {
        let cells = match Cells::of(row, (code, interrupts), sources, Links::default()) {
            Ok(cells) => cells,
            Err(Hole { what, place }) => {
                let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
                let (file, line) = (file.to_owned(), line.parse().ok());
                return AnsweredRow {
                    kind: "not_recorded",
                    file,
                    line,
                    text: what.clone(),
                    ..AnsweredRow::default()
                };
            }
        };
        let (file, line, kind) = match &row.kind {
            RowKind::Statement(statement) => {
                let (file, span) = code.place(*statement);
                let path = code.path_of(file);
                let shown = if path.is_empty() { cells.place.clone() } else { path.to_owned() };
                (shown, Some(span.line), "statement")
            }
            _ => (cells.place.clone(), None, "folded"),
        };
        AnsweredRow {
            kind,
            file,
            line,
            function: cells.function,
            depth: row.depth,
            text: cells.text,
            times: Some(row.times).filter(|times| *times > 1),
            interrupt: began(row, interrupts),
            inside: Some(row.inside).filter(|inside| *inside > 0),
            values: cells.values.trim().to_owned(),
            suspect: row.rank,
        }
    };
    rows.iter().map(&mut answered).collect()
}

/// Where a thread panicked, as data.
pub fn answered_panic(place: &PlaceOfPanic, code: &Code) -> Option<AnsweredPanic> {
    let path = |file: &u16| code.path_of(*file).to_owned();
    let (file, line, below) = match place {
        PlaceOfPanic::LastRow => return None,
        PlaceOfPanic::Above((file, line)) => (path(file), line, "returned"),
        PlaceOfPanic::Named((file, line)) | PlaceOfPanic::Within((file, line), _) => {
            (path(file), line, "unknown")
        }
        PlaceOfPanic::NamedOutside(file, line) => (file.clone(), line, "unknown"),
        PlaceOfPanic::Outside(file, line) => (file.clone(), line, "returned"),
    };
    Some(AnsweredPanic { file, line: *line, below })
}

/// The sentences above the lines.
pub fn reentry_texts(reentries: &[Reentry], code: &Code) -> Vec<String> {
    reentries.iter().take(MOST_REENTRIES).map(|reentry| reentry_text(reentry, code)).collect()
}

/// Which panics a thread caught: how many, and where the newest one came from.
pub fn caught_text((count, newest): (usize, ListedStatement), code: &Code) -> String {
    let place = code.shown_place(newest);
    match count {
        1 => format!("a panic at {place} was caught"),
        _ => format!("{} panics were caught, the newest at {place}", Thousands(count as u64)),
    }
}

/// Which panics threads caught that have no listing: a line each.
pub fn caught_by_others(caught: &[String]) -> String {
    let named = caught.iter().take(MOST_CAUGHT).map(|text| format!("not printed: {text}\n"));
    let more = match caught.len().saturating_sub(MOST_CAUGHT) {
        0 => String::new(),
        1 => "not printed: 1 more thread caught panics\n".to_owned(),
        more => format!("not printed: {more} more threads caught panics\n"),
    };
    named.chain([more]).collect()
}

/// The panic that a thread unwound from when it panicked again.
pub fn unwound_text((first, why): (ListedStatement, SecondPanic), code: &Code) -> String {
    let place = code.shown_place(first);
    let why = match why {
        SecondPanic::Destructor => "again in a destructor",
        SecondPanic::MayNotUnwind => "unwound to a function that may not, such as an `extern \"C\"` one",
    };
    format!("the thread panicked first at {place}, and {why}")
}

/// Writes what the thread caught and unwound from before its end.
pub fn write_before(caught: Option<&str>, unwound: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    caught.into_iter().try_for_each(|text| writeln!(out, "  {DIM}... {text}{DIM:#}"))?;
    unwound.into_iter().try_for_each(|text| writeln!(out, "  {ALARM}{text}{ALARM:#}"))
}

/// Writes how a thread ended, and what ran afterwards. `formatted` statements made the text of a panic's message.
pub fn write_end(
    (ending, place): (&Ending, &PlaceOfPanic),
    code: &Code,
    (formatted, after): (u64, u64),
    out: &mut dyn Write,
) -> io::Result<()> {
    if formatted > 0 {
        let formatted = plural(formatted);
        writeln!(out, "  {DIM}... {formatted} formatted the message; --all prints them{DIM:#}")?;
    }
    match ending.end {
        ThreadEnd::Here => return Ok(()),
        ThreadEnd::Panic => {
            let place = match place {
                PlaceOfPanic::LastRow => " here".to_owned(),
                PlaceOfPanic::Above((file, line)) => {
                    format!(" at {}:{line}: the calls below that line had returned", code.path_of(*file))
                }
                PlaceOfPanic::Within((file, line), function) => {
                    format!(" at {}:{line}, in {function}", code.path_of(*file))
                }
                PlaceOfPanic::Named((file, line)) => {
                    format!("; its message names {}:{line}", code.path_of(*file))
                }
                PlaceOfPanic::NamedOutside(file, line) => format!("; its message names {file}:{line}"),
                PlaceOfPanic::Outside(file, line) => {
                    format!(" at {file}:{line}: the calls above had returned")
                }
            };
            writeln!(out, "  {ALARM}-- the thread panicked{place} --{ALARM:#}")?;
        }
        ThreadEnd::Signal(signal) => writeln!(out, "  {ALARM}-- signal {signal} arrived here --{ALARM:#}")?,
    }
    let what = match (ending.end, ending.since) {
        (ThreadEnd::Signal(_), _) => "ran after the signal (handlers)",
        (_, SincePanic::Unwinding) => "ran after the panic (destructors, hooks)",
        (_, SincePanic::PassedOn) => "ran after the panic was caught, until `resume_unwind` passed it on",
        (_, SincePanic::Unclear) => return Ok(()),
    };
    match after {
        0 => Ok(()),
        _ => writeln!(out, "  {DIM}... {} {what}; --all prints them{DIM:#}", plural(after)),
    }
}

/// Functions that a handler or a callback entered again, a line each.
pub fn write_reentries(reentries: &[Reentry], code: &Code, out: &mut dyn Write) -> io::Result<()> {
    for reentry in reentries.iter().take(MOST_REENTRIES) {
        let line = reentry_text(reentry, code);
        writeln!(out, "  {ALARM}{line}{ALARM:#}")?;
    }
    match reentries.len().saturating_sub(MOST_REENTRIES) {
        0 => Ok(()),
        more => {
            writeln!(out, "  {DIM}{} more were entered again{DIM:#}", count(more, "function"))
        }
    }
}

/// `add was entered again by the handler on_timer at src/section.rs:10, before line 11`.
fn reentry_text(reentry: &Reentry, code: &Code) -> String {
    let function = code.name(reentry.body);
    let by = match reentry.by {
        (EnteredBy::Handler, by) => format!("by the handler {}", code.name(by)),
        (EnteredBy::Callback, by) => format!("by the callback {}", code.name(by)),
        (EnteredBy::Method, by) => format!("by way of {}, a method of a trait,", code.name(by)),
    };
    let at = code.shown_place(ListedStatement::Known(reentry.at));
    let more = match reentry.times {
        1 => String::new(),
        times => format!(" (entered again {} times in all)", Thousands(times)),
    };
    match reentry.next {
        Some(next) => {
            let next = code.place(ListedStatement::Known(next)).1.line;
            format!("{function} was entered again {by} at {at}, before line {next}{more}")
        }
        None if reentry.by.0 == EnteredBy::Handler => {
            format!("{function} was entered again {by} at {at}, or just after it ended there{more}")
        }
        None => format!("{function} was entered again {by} at {at}{more}"),
    }
}

/// The line that names suspects by file, the first ones: as many as this number of bytes has room for. Empty without any.
pub fn more_suspects(places: &[(&str, u32)], bytes: usize) -> String {
    let why = typed::command("suspects");
    let line = |named: usize| {
        let mut files: Vec<(&str, Vec<String>)> = Vec::new();
        for (path, line) in &places[..named] {
            match files.iter_mut().find(|(of, _)| of == path) {
                Some((_, lines)) => lines.push(line.to_string()),
                None => files.push((path, vec![line.to_string()])),
            }
        }
        let lists = files.iter().map(|(path, lines)| format!("{path}:{}", lines.join(", ")));
        format!("more suspects: {}; why: {why}\n", lists.collect::<Vec<_>>().join("; "))
    };
    (1..=places.len()).rev().map(line).find(|line| line.len() <= bytes).unwrap_or_default()
}

/// Writes what follows: statements after a panic that may have been caught.
pub fn write_after(after: u64, out: &mut dyn Write) -> io::Result<()> {
    let after = plural(after);
    writeln!(out, "then {after} ran; nothing shows whether the panic was caught (newest last):")
}

/// A line in columns.
struct Cells {
    place: String,
    /// The place as a link.
    linked: String,
    function: String,
    depth: usize,
    /// The source text, or what is folded.
    text: String,
    /// What follows it: how often it ran, values, its rank.
    behind: String,
    /// The values in that.
    values: String,
    is_folded: bool,
}

impl Cells {
    /// The columns of a row; a frame that was not recorded has none.
    fn of<'r>(
        row: &'r Row,
        (code, interrupts): (&Code, &InterruptNames),
        sources: &mut dyn Sources,
        links: Links,
    ) -> Result<Cells, &'r Hole> {
        let times = if row.times > 1 { format!(" x {}", Thousands(row.times)) } else { String::new() };
        let times = match began(row, interrupts) {
            none if none.is_empty() => times,
            interrupt => format!("{times}  <- {interrupt}"),
        };
        let name = |function: Option<BodyId>| function.map_or(String::new(), |function| code.name(function));
        let depth = row.depth.min(MOST_DEPTH);
        let values = sources.values(row);
        let folded = |function: String, text: String| Cells {
            place: String::new(),
            linked: String::new(),
            function,
            depth,
            text,
            behind: format!("{times}{values}"),
            values: values.clone(),
            is_folded: true,
        };
        Ok(match &row.kind {
            RowKind::Statement(statement) => {
                let line = code.place(*statement).1.line;
                let mut place = code.shown_place(*statement);
                let text = sources.text(code, *statement, row.frame.is_some());
                let (text, last) = text.unwrap_or((String::new(), line));
                if row.frame.is_some() && last > line {
                    place = format!("{place}-{last}");
                }
                let linked = links.linked(&place, sources.file(code, *statement).as_deref(), line);
                let rank = row.rank.map_or(String::new(), |rank| format!("  <- suspect {rank}"));
                let inside = match row.inside {
                    0 => String::new(),
                    inside => format!("  ... {} inside", plural(inside)),
                };
                let (text, behind) = (shortened(&text, MOST_TEXT), format!("{times}{inside}{values}{rank}"));
                let function = code.name_of(*statement);
                Cells {
                    place,
                    linked,
                    function,
                    depth,
                    text,
                    behind,
                    values: values.clone(),
                    is_folded: false,
                }
            }
            RowKind::Call(function, statements, inside) => {
                let place = code.path(*function).to_owned();
                let linked = place.clone();
                let text = format!("{}{}", plural(*statements), names_of(inside, code));
                Cells { place, linked, ..folded(name(Some(*function)), text) }
            }
            RowKind::Package(package, statements) => {
                folded(String::new(), format!("{package}: {}", plural(*statements)))
            }
            RowKind::Earlier(function, statements, inside) => {
                let text = format!("{} before{}", plural(*statements), names_of(inside, code));
                folded(name(*function), text)
            }
            RowKind::Later(statements, inside) => {
                let text = format!("{} more{}", plural(*statements), names_of(inside, code));
                folded(String::new(), text)
            }
            RowKind::Repeated(statements) => {
                folded(String::new(), format!("the last {} ran again", plural(*statements)))
            }
            RowKind::Open(calls, functions) => {
                let names: Vec<String> =
                    functions.iter().take(3).map(|function| code.name(*function)).collect();
                let more = if functions.len() > names.len() { ", ..." } else { "" };
                let (calls, plural) = (Thousands(*calls as u64), if *calls == 1 { "" } else { "s" });
                folded(String::new(), format!("{calls} open call{plural} of {}{more}", names.join(", ")))
            }
            RowKind::Overwritten => {
                folded(String::new(), "what ran here is overwritten in the ring".to_owned())
            }
            RowKind::NotRecorded(hole) => return Err(hole),
        })
    }

    fn write(&self, place: usize, function: usize, out: &mut dyn Write) -> io::Result<()> {
        let width = self.place.chars().count();
        let gap = place.saturating_sub(width);
        let style = if self.is_folded { DIM } else { Style::new() };
        let name = tail_of(&self.function, MOST_FUNCTION);
        let dots = if self.is_folded { "... " } else { "" };
        let text = format!("{:1$}{dots}{2}{3}", "", 2 * self.depth, self.text, self.behind);
        let line = format!(
            "  {style}{}{style:#}{:gap$}  {FUNCTION}{name:<function$}{FUNCTION:#}  {style}{text}{style:#}",
            self.linked, ""
        );
        writeln!(out, "{}", line.trim_end())
    }
}

/// The interrupt that begins with a row; empty for most.
fn began(row: &Row, interrupts: &InterruptNames) -> String {
    match row.interrupt {
        0 => String::new(),
        number => interrupts.text_with_priority(number),
    }
}

/// `: wrap, next`.
fn names_of(functions: &[BodyId], code: &Code) -> String {
    let names: Vec<String> = functions.iter().map(|function| code.name(*function)).collect();
    if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) }
}

fn plural(statements: u64) -> String {
    let plural = if statements == 1 { "" } else { "s" };
    format!("{} statement{plural}", Thousands(statements))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_suspects_are_named_as_there_is_room_for() {
        let places = [("src/a.rs", 7), ("src/b.rs", 9), ("src/a.rs", 3)];
        let whole = more_suspects(&places, usize::MAX);
        assert!(whole.starts_with("more suspects: src/a.rs:7, 3; src/b.rs:9; why: "), "{whole}");
        let two = more_suspects(&places, whole.len() - 1);
        assert!(two.starts_with("more suspects: src/a.rs:7; src/b.rs:9; why: "), "{two}");
        let one = more_suspects(&places, two.len() - 1);
        assert!(one.starts_with("more suspects: src/a.rs:7; why: "), "{one}");
        assert_eq!(more_suspects(&places, one.len() - 1), "");
        assert_eq!(more_suspects(&[], usize::MAX), "");
    }
}
