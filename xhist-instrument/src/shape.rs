//! The text of everything inserted. `strip` is the only other file that knows these shapes.
//! No shape contains a newline, so no line ever moves.

use crate::options::{Detail, MainHash};
use crate::trigger::{Action, Trigger};
use std::io::Write as _;

/// Marks the end of a wrapped expression and the start of carried attributes.
pub(crate) const MARK: &str = "/*xh*/";
/// The name of the recorder crate, as it appears in every call.
pub(crate) const CRATE: &str = "xhist_rt::";

/// What a recording call stands in front of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A statement.
    Plain,
    /// A statement whose attributes it carries.
    Carried,
    /// The expression of a block that was put around it.
    Block,
    /// The same, with the expression in parentheses.
    Parens,
}

/// A name of recording calls.
pub(crate) struct Recording {
    pub name: &'static str,
    pub form: Form,
    /// The recorder may check for room here; at all others it need not.
    pub checks: bool,
}

/// All names of recording calls.
pub(crate) const RECORDINGS: [Recording; 8] = [
    Recording { name: "s", form: Form::Plain, checks: false },
    Recording { name: "c", form: Form::Carried, checks: false },
    Recording { name: "a", form: Form::Block, checks: false },
    Recording { name: "p", form: Form::Parens, checks: false },
    Recording { name: "e", form: Form::Plain, checks: true },
    Recording { name: "ce", form: Form::Carried, checks: true },
    Recording { name: "ae", form: Form::Block, checks: true },
    Recording { name: "pe", form: Form::Parens, checks: true },
];

/// The call of this name, if it records.
pub(crate) fn recording(name: &[u8]) -> Option<&'static Recording> {
    RECORDINGS.iter().find(|recording| recording.name.as_bytes() == name)
}

/// Lines one file id can number.
pub const LINES_PER_ID: u32 = 65_535;

/// Writes the shapes of one file into a buffer.
pub(crate) struct Writer<'a> {
    pub out: Vec<u8>,
    prefix: &'static str,
    numbers: &'a Numbers,
}

/// What the map gives to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// One file id for each 65,535 lines.
    pub ids: Vec<u16>,
    /// The number of its first statement in the program.
    pub first: u32,
}

/// A statement that a call records: its line, its place among those of its file in the order of the text, and whether its
/// call checks for room.
#[derive(Clone, Copy)]
pub(crate) struct Recorded {
    pub line: u32,
    pub ordinal: usize,
    pub checks: bool,
}

impl<'a> Writer<'a> {
    pub fn new(edition2015: bool, numbers: &'a Numbers, capacity: usize) -> Self {
        Self { out: Vec::with_capacity(capacity), prefix: if edition2015 { "" } else { "::" }, numbers }
    }

    /// `xhist_rt::s::<F,L,W>();` or another of [`RECORDINGS`].
    fn call(&mut self, form: Form, Recorded { line, ordinal, checks }: Recorded) {
        let is_meant = |recording: &&Recording| recording.form == form && recording.checks == checks;
        let name = RECORDINGS.iter().find(is_meant).expect("each form has its names").name;
        let (id, line) = place(&self.numbers.ids, line);
        let number = self.numbers.first.wrapping_add(ordinal as u32);
        let prefix = self.prefix;
        self.print(format_args!("{prefix}{CRATE}{name}::<{id},{line},{number}>();"));
    }

    fn print(&mut self, text: std::fmt::Arguments<'_>) {
        self.out.write_fmt(text).expect("writing to memory does not fail");
    }

    pub fn statement(&mut self, recorded: Recorded, attributes: Option<&str>, triggers: &[Trigger]) {
        self.triggers(triggers, attributes, |writer| {
            writer.carry(attributes);
            writer.call(if attributes.is_some() { Form::Carried } else { Form::Plain }, recorded);
        });
    }

    pub fn open(&mut self, recorded: Recorded, parens: bool, triggers: &[Trigger]) {
        self.out.push(b'{');
        self.triggers(triggers, None, |writer| {
            writer.call(if parens { Form::Parens } else { Form::Block }, recorded)
        });
        if parens {
            self.out.push(b'(');
        }
    }

    /// A recording call between its triggers: what starts stands before it, what stops behind it, so that its own
    /// statement is the first or the last in the history.
    fn triggers(&mut self, triggers: &[Trigger], attributes: Option<&str>, record: impl FnOnce(&mut Self)) {
        let is_start = |trigger: &&Trigger| trigger.action == Action::Start;
        triggers.iter().filter(is_start).for_each(|trigger| self.trigger(trigger, attributes));
        record(self);
        let stops = triggers.iter().filter(|trigger| !is_start(trigger));
        stops.for_each(|trigger| self.trigger(trigger, attributes));
    }

    /// `xhist_rt::start_at(N,HIT);` or `xhist_rt::stop_at(N,HIT,AFTER);`.
    fn trigger(&mut self, trigger: &Trigger, attributes: Option<&str>) {
        self.carry(attributes);
        let (prefix, Trigger { number, hit, .. }) = (self.prefix, trigger);
        match trigger.action {
            Action::Start => self.print(format_args!("{prefix}{CRATE}start_at({number},{hit});")),
            Action::Stop { after } => {
                self.print(format_args!("{prefix}{CRATE}stop_at({number},{hit},{after});"));
            }
        }
    }

    /// Attributes that a call needs too.
    fn carry(&mut self, attributes: Option<&str>) {
        if let Some(attributes) = attributes {
            self.print(format_args!("{MARK}{attributes} "));
        }
    }

    pub fn close(&mut self, parens: bool) {
        self.print(format_args!("{MARK}{}", if parens { ")}" } else { "}" }));
    }

    pub fn main_hash(&mut self, hash: MainHash, detail: Detail) {
        let prefix = self.prefix;
        let name = match detail {
            Detail::Statement => "m",
            Detail::Function => "me",
        };
        match hash {
            MainHash::None => {}
            MainHash::Literal(hash) => self.print(format_args!("{prefix}{CRATE}{name}(0x{hash:016x});")),
            MainHash::FromEnv => self.print(format_args!("{prefix}{CRATE}{name}!();")),
        }
    }
}

/// File id and line within it: lines above 65,535 belong to the next id of the file.
fn place(ids: &[u16], line: u32) -> (u16, u32) {
    let index = (line.max(1) - 1) / LINES_PER_ID;
    (ids[index as usize], line - index * LINES_PER_ID)
}

/// How many ids a file of this many lines needs.
pub fn ids_needed(lines: u32) -> usize {
    (lines.max(1) - 1) as usize / LINES_PER_ID as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_65536_is_line_1_of_the_second_id() {
        assert_eq!(place(&[3, 9], 65_535), (3, 65_535));
        assert_eq!(place(&[3, 9], 65_536), (9, 1));
        assert_eq!(ids_needed(65_535), 1);
        assert_eq!(ids_needed(65_536), 2);
        assert_eq!(ids_needed(0), 1);
    }
}
