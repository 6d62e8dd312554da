//! The text of every insertion. It never contains a newline, so lines never move.

use crate::options::{Detail, MainHash, Values};
use crate::site::value_site::{ValueSite, ValueWatch};
use crate::site::{Action, Trigger};
use std::io::Write as _;

/// Marks the end of a wrapped expression and the start of carried attributes.
pub(crate) const MARK: &str = "/*xh*/";
/// The name of the recorder crate, as it appears in every call.
pub(crate) const CRATE: &str = "xhist_rt::";

/// The variable of an async body that holds its task.
pub(crate) const TASK: &str = "__xh_task";

/// What a recording call precedes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallForm {
    /// A statement.
    Plain,
    /// A statement whose attributes the call repeats.
    Carried,
    /// An expression that was wrapped in a block.
    Block,
    /// A wrapped expression in parentheses.
    Parens,
}

/// One name of recording calls.
pub(crate) struct Recording {
    pub name: &'static str,
    pub form: CallForm,
    /// This call checks for room; the others do not.
    pub checks: bool,
}

/// The names of all recording calls.
pub(crate) const RECORDINGS: [Recording; 8] = [
    Recording { name: "s", form: CallForm::Plain, checks: false },
    Recording { name: "c", form: CallForm::Carried, checks: false },
    Recording { name: "a", form: CallForm::Block, checks: false },
    Recording { name: "p", form: CallForm::Parens, checks: false },
    Recording { name: "e", form: CallForm::Plain, checks: true },
    Recording { name: "ce", form: CallForm::Carried, checks: true },
    Recording { name: "ae", form: CallForm::Block, checks: true },
    Recording { name: "pe", form: CallForm::Parens, checks: true },
];

/// Finds the recording call of this name.
pub(crate) fn recording(name: &[u8]) -> Option<&'static Recording> {
    RECORDINGS.iter().find(|recording| recording.name.as_bytes() == name)
}

/// The names of value calls: how much they record, and whether the record has the type.
pub(crate) const VALUES: [(&str, Values, bool); 6] = [
    ("v", Values::Eight, false),
    ("vw", Values::ThirtyTwo, false),
    ("vt", Values::Targets, false),
    ("vg", Values::Eight, true),
    ("vwg", Values::ThirtyTwo, true),
    ("vtg", Values::Targets, true),
];

/// Lines that one file id can number.
pub const LINES_PER_ID: u32 = 65_535;

/// Writes the insertions of one file into a buffer.
pub(crate) struct CallWriter<'a> {
    pub out: Vec<u8>,
    prefix: &'static str,
    numbers: &'a Numbers,
}

/// The ids and numbers that the map gives to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// One file id per 65,535 lines.
    pub ids: Vec<u16>,
    /// Number of the first statement of the file, unique in the program.
    pub first: u32,
    /// Number of the first value site of the file, unique in the program.
    pub values: u32,
}

/// A statement to record: its line, its index in the file, whether its call checks for room, and whether the task of
/// its async body may have waited before it.
#[derive(Clone, Copy)]
pub(crate) struct Recorded {
    pub line: u32,
    pub ordinal: usize,
    pub checks: bool,
    pub is_resumed: bool,
}

impl<'a> CallWriter<'a> {
    pub fn new(edition2015: bool, numbers: &'a Numbers, capacity: usize) -> Self {
        Self { out: Vec::with_capacity(capacity), prefix: if edition2015 { "" } else { "::" }, numbers }
    }

    /// `xhist_rt::s::<F,L,W>();` or another of [`RECORDINGS`].
    fn call(&mut self, form: CallForm, Recorded { line, ordinal, checks, .. }: Recorded) {
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

    /// `let __xh_task=xhist_rt::t();`
    pub fn task(&mut self) {
        let prefix = self.prefix;
        self.print(format_args!("let {TASK}={prefix}{CRATE}t();"));
    }

    /// `xhist_rt::r(&__xh_task);`, if the task may have waited.
    fn resume(&mut self, Recorded { is_resumed, .. }: Recorded, attributes: Option<&str>) {
        if is_resumed {
            self.carry(attributes);
            let prefix = self.prefix;
            self.print(format_args!("{prefix}{CRATE}r(&{TASK});"));
        }
    }

    pub fn statement(&mut self, recorded: Recorded, attributes: Option<&str>, triggers: &[Trigger]) {
        self.resume(recorded, attributes);
        self.triggers(triggers, attributes, |writer| {
            writer.carry(attributes);
            writer.call(if attributes.is_some() { CallForm::Carried } else { CallForm::Plain }, recorded);
        });
    }

    pub fn open(&mut self, recorded: Recorded, parens: bool, triggers: &[Trigger]) {
        self.out.push(b'{');
        self.resume(recorded, None);
        self.triggers(triggers, None, |writer| {
            writer.call(if parens { CallForm::Parens } else { CallForm::Block }, recorded)
        });
    }

    /// The parenthesis behind the calls of a block.
    pub fn paren(&mut self) {
        self.out.push(b'(');
    }

    /// Writes a recording call between its triggers. Start triggers come before the call and stop triggers after it,
    /// so that the statement is the first or the last entry of the history.
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

    /// Writes the attributes that a call has to repeat.
    fn carry(&mut self, attributes: Option<&str>) {
        if let Some(attributes) = attributes {
            self.print(format_args!("{MARK}{attributes} "));
        }
    }

    /// `xhist_rt::v::<N,_>(&x);`, or another of [`VALUES`], and the triggers at the value.
    pub fn value(&mut self, ordinal: usize, site: &ValueSite, values: Values, watches: &[ValueWatch]) {
        let ValueSite { name, attributes, copies, generic, recorded, .. } = site;
        let prefix = self.prefix;
        let (open, close) = if *copies { ("{", "}") } else { ("", "") };
        let hook = VALUES.iter().find(|(_, amount, typed)| *amount == values && typed == generic);
        if let Some((hook, ..)) = hook.filter(|_| *recorded) {
            let number = self.numbers.values.wrapping_add(ordinal as u32);
            self.carry(attributes.as_deref());
            self.print(format_args!("{prefix}{CRATE}{hook}::<{number},_>(&{open}{name}{close});"));
        }
        for ValueWatch { number, after, expected, .. } in watches {
            self.carry(attributes.as_deref());
            self.print(format_args!("{prefix}{CRATE}watch({number},{after},{prefix}core::option::Option::"));
            match expected {
                Some(text) => self.print(format_args!("Some({text:?})")),
                None => self.print(format_args!("None")),
            }
            self.print(format_args!(",&{open}{name}{close});"));
        }
    }

    pub fn close(&mut self, parens: bool) {
        self.print(format_args!("{MARK}{}", if parens { ")}" } else { "}" }));
    }

    pub fn main_hash(&mut self, hash: MainHash, detail: Detail, has_values: bool) {
        let prefix = self.prefix;
        let name = match (detail, has_values) {
            (Detail::Statement, false) => "m",
            (Detail::Function, false) => "me",
            (Detail::Statement, true) => "mv",
            (Detail::Function, true) => "mev",
        };
        match hash {
            MainHash::None => {}
            MainHash::Literal(hash) if has_values => {
                self.print(format_args!("{prefix}{CRATE}{name}::<0x{hash:016x}>();"));
            }
            MainHash::Literal(hash) => self.print(format_args!("{prefix}{CRATE}{name}(0x{hash:016x});")),
            MainHash::FromEnv => self.print(format_args!("{prefix}{CRATE}{name}!();")),
        }
    }
}

/// File id and line within that id: lines above 65,535 belong to the next id of the file.
fn place(ids: &[u16], line: u32) -> (u16, u32) {
    let index = (line.max(1) - 1) / LINES_PER_ID;
    (ids[index as usize], line - index * LINES_PER_ID)
}

/// Number of ids that a file of this many lines needs.
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
