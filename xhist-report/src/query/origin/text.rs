//! The origin of a value as text.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{OriginLine, weight_of_hop};
use crate::budget::Weight;
use xhist_history::model::{shortened, tail_of};
use xhist_history::origin::{HopKind, OriginEnd, OriginHop, ValueOrigin};
use xhist_history::recording::Recording;

const DIM: Style = Style::new().dimmed();
const FUNCTION: Style = AnsiColor::Cyan.on_default();
/// Widest columns.
const MOST_PLACE: usize = 44;
const MOST_FUNCTION: usize = 32;
/// Characters of a source text, and of a value.
const MOST_TEXT: usize = 90;
const MOST_VALUE: usize = 60;
/// Characters of how it ends.
const MOST_END: usize = 300;
/// Hops that a brief origin shows: the newest, and the oldest.
const BRIEF: (usize, usize) = (2, 4);
/// Commands to go on with below a brief origin.
const BRIEF_COMMANDS: usize = 2;

/// What to type for values.
pub const WITH_VALUES: &str =
    "`cargo xhist why` runs a failed test again with them, and `cargo xhist run --values PATTERN` a program";

/// What the text says besides the origin.
pub struct OriginLook<'l> {
    /// The command that goes on: this with `NAME@N` in place of `{}`.
    pub command: Box<dyn Fn(&str) -> String + 'l>,
    /// What to type for values, where none are recorded.
    pub with_values: &'l str,
}

/// The lines of an origin.
pub fn lines(recording: &Recording, origin: &ValueOrigin, look: &OriginLook<'_>) -> Vec<OriginLine> {
    let lane = recording.lane(recording.lane_of(origin.step));
    let thread = lane.map_or(String::new(), |lane| format!(" in thread {}", lane.name));
    let number = recording.number(origin.step);
    let title =
        format!("origin of `{}` at {number}{}{thread}", origin.name, value_text(origin.value.as_deref()));
    let mut all = vec![(Weight::FRAME, title)];
    let lines: Vec<Line> = origin.hops.iter().map(|hop| Line::of(recording, hop)).collect();
    let hops = in_columns(&lines).into_iter().enumerate();
    all.extend(hops.map(|(index, line)| (weight_of_hop(index, lines.len()), line)));
    all.extend(end(recording, origin, look, usize::MAX));
    if lines.iter().any(|line| line.is_from_text) {
        let why = "~ this statement ran; that it passed the value on is known from its text, not from a recorded value";
        all.push((Weight::on_the_way(0), why.to_owned()));
    }
    if recording.values.is_empty() {
        all.push((Weight::on_the_way(0), format!("no values are recorded: {}", look.with_values)));
    }
    all
}

/// Writes an origin in a few lines, under this title.
pub fn print_brief(
    recording: &Recording,
    (title, origin): (&str, &ValueOrigin),
    look: &OriginLook<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "origin of {title}, `{}`:", shortened(&origin.name, MOST_TEXT))?;
    let mut lines: Vec<Line> = origin.hops.iter().map(|hop| Line::of(recording, hop)).collect();
    let (newest, oldest) = BRIEF;
    if lines.len() > newest + oldest + 1 {
        let left_out = lines.len() - newest - oldest;
        let text = format!("... {left_out} more statements passed it on");
        lines.splice(newest..newest + left_out, [Line { text, ..Line::default() }]);
    }
    let end = end(recording, origin, look, BRIEF_COMMANDS).into_iter().map(|(_, line)| line);
    in_columns(&lines).into_iter().chain(end).try_for_each(|line| writeln!(out, "{line}"))
}

/// A line in columns.
#[derive(Default)]
struct Line {
    number: String,
    place: String,
    function: String,
    text: String,
    is_from_text: bool,
}

impl Line {
    fn of(recording: &Recording, hop: &OriginHop) -> Line {
        let site = recording.site(hop.site);
        let file = recording.file_of(hop.site);
        let line = site.map_or(0, |site| site.line);
        let source = file.and_then(|file| file.line(line)).unwrap_or_default().trim();
        let what = match hop.kind {
            HopKind::Bound | HopKind::Assigned => hop.name.clone(),
            HopKind::Argument => format!("passes {}", hop.name),
            HopKind::Returned if hop.name == source => "returned".to_owned(),
            HopKind::Returned => format!("returned {}", hop.name),
            HopKind::Branch if hop.name == source => "this branch ran".to_owned(),
            HopKind::Branch => format!("this branch ran: {}", hop.name),
        };
        let what = shortened(&what, MOST_VALUE);
        Line {
            number: recording.number(hop.step).to_string(),
            place: recording.place(hop.site),
            function: recording.function_of(hop.site).to_owned(),
            text: format!("{}  {what}{}", shortened(source, MOST_TEXT), value_text(hop.value.as_deref())),
            is_from_text: hop.value.is_none(),
        }
    }
}

/// Lines with their columns aligned.
fn in_columns(lines: &[Line]) -> Vec<String> {
    let width = |cell: &dyn Fn(&Line) -> &str, most: usize| {
        lines.iter().map(|line| cell(line).chars().count().min(most)).max().unwrap_or_default()
    };
    let number = width(&|line| &line.number, MOST_PLACE) + 1;
    let (place, function) =
        (width(&|line| &line.place, MOST_PLACE), width(&|line| &line.function, MOST_FUNCTION));
    let in_columns = |line: &Line| {
        if line.number.is_empty() {
            return format!("  {DIM}{:number$}  {}{DIM:#}", "", line.text);
        }
        let mark = if line.is_from_text { "~" } else { "" };
        let marked = format!("{mark}{}", line.number);
        let name = tail_of(&line.function, MOST_FUNCTION);
        let text = format!(
            "  {marked:>number$}  {:<place$}  {FUNCTION}{name:<function$}{FUNCTION:#}  {}",
            line.place, line.text
        );
        text.trim_end().to_owned()
    };
    lines.iter().map(in_columns).collect()
}

/// How the way ends, and at most this number of commands that go on.
fn end(
    recording: &Recording,
    origin: &ValueOrigin,
    look: &OriginLook<'_>,
    commands: usize,
) -> Vec<OriginLine> {
    let mut lines = vec![(Weight::FRAME, format!("  {}", shortened(&origin.end_text(recording), MOST_END)))];
    let OriginEnd::Made(_, operands) = &origin.end else { return lines };
    for operand in operands.iter().filter(|operand| !operand.name.contains("[..]")).take(commands) {
        let asked = format!("{}@{}", operand.name, recording.number(operand.step));
        let command = format!("  {DIM}go on: {}{DIM:#}", (look.command)(&asked));
        lines.push((Weight::level(0, 0), command));
    }
    lines
}

fn value_text(value: Option<&str>) -> String {
    value.map_or(String::new(), |value| format!(" = {}", shortened(value, MOST_VALUE)))
}
