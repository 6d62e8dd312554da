//! The text of every insertion. It never contains a newline, so lines never move.

use crate::options::{Detail, MainHash, Values};
use crate::site::value_site::{ValueSite, ValueWatch};
use crate::site::{Action, Trigger};
use qs_core::inserted::{
    BEGIN_TASK, CRATE, CallForm, ENDS, HASHES, HashCall, IN_RULES, MARK, RECORDINGS, RESUME_TASK,
    RecordingCall, START_AT, STOP_AT, StatementNumber, TASK, VALUES, ValueAmount, WATCH,
};
use qs_core::record::Statement;
use std::io::Write as _;

/// Lines that one file id can number.
pub const LINES_PER_ID: u32 = 65_535;

/// Writes the insertions of one file into a buffer.
pub(crate) struct CallWriter<'a> {
    pub out: Vec<u8>,
    prefix: &'static str,
    /// The prefix outside of the rules of macros.
    plain: &'static str,
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
        let plain = if edition2015 { "" } else { "::" };
        Self { out: Vec::with_capacity(capacity), prefix: plain, plain, numbers }
    }

    /// What follows is in the rules of a macro, or not. There the path leads through the crate of the macro: the call may be
    /// in a crate that does not know the recorder.
    pub fn in_rules(&mut self, in_rules: bool) {
        self.prefix = if in_rules { IN_RULES } else { self.plain };
    }

    /// An item at the head of a crate.
    pub fn item(&mut self, item: &str) {
        self.print(format_args!("{item}"));
    }

    /// `xhist_rt::s(0x1_002a_0a01);` or another of [`RECORDINGS`].
    fn call(&mut self, form: CallForm, Recorded { line, ordinal, checks, .. }: Recorded) {
        let (file, line) = place(&self.numbers.ids, line);
        let ordinal = self.numbers.first.wrapping_add(ordinal as u32);
        let number = StatementNumber::new(Statement { file, line }, ordinal);
        let is_meant = |recording: &&RecordingCall| {
            (recording.form, recording.checks, recording.width) == (form, checks, number.width)
        };
        let name = RECORDINGS.iter().find(is_meant).expect("each form has its names").name;
        let prefix = self.prefix;
        self.print(format_args!("{prefix}{CRATE}{name}({number});"));
    }

    fn print(&mut self, text: std::fmt::Arguments<'_>) {
        self.out.write_fmt(text).expect("writing to memory does not fail");
    }

    /// `let __xh_task=xhist_rt::t();`
    pub fn task(&mut self) {
        let prefix = self.prefix;
        self.print(format_args!("let {TASK}={prefix}{CRATE}{BEGIN_TASK}();"));
    }

    /// `xhist_rt::r(&__xh_task);`, if the task may have waited.
    fn resume(&mut self, Recorded { is_resumed, .. }: Recorded, attributes: Option<&str>) {
        if is_resumed {
            self.carry(attributes);
            let prefix = self.prefix;
            self.print(format_args!("{prefix}{CRATE}{RESUME_TASK}(&{TASK});"));
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
            Action::Start => self.print(format_args!("{prefix}{CRATE}{START_AT}({number},{hit});")),
            Action::Stop { after } => {
                self.print(format_args!("{prefix}{CRATE}{STOP_AT}({number},{hit},{after});"));
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
        let ValueSite { name, attributes, copies, generic, is_reference, recorded, .. } = site;
        let prefix = self.prefix;
        let (open, close) = if *copies { ("{", "}") } else { ("", "") };
        let amount = match values {
            Values::Off => None,
            Values::Eight => Some(ValueAmount::Eight),
            Values::ThirtyTwo => Some(ValueAmount::ThirtyTwo),
            Values::Targets if *is_reference => Some(ValueAmount::Pointees),
            Values::Targets => Some(ValueAmount::Targets),
        };
        let call = VALUES.iter().find(|call| Some(call.amount) == amount && call.is_generic == *generic);
        if let Some(call) = call.filter(|_| *recorded) {
            let (name_of_call, number) = (call.name, self.numbers.values.wrapping_add(ordinal as u32));
            self.carry(attributes.as_deref());
            self.print(format_args!("{prefix}{CRATE}{name_of_call}::<{number},_>(&{open}{name}{close});"));
        }
        for ValueWatch { number, after, expected, .. } in watches {
            self.carry(attributes.as_deref());
            self.print(format_args!(
                "{prefix}{CRATE}{WATCH}({number},{after},{prefix}core::option::Option::"
            ));
            match expected {
                Some(text) => self.print(format_args!("Some({text:?})")),
                None => self.print(format_args!("None")),
            }
            self.print(format_args!(",&{open}{name}{close});"));
        }
    }

    pub fn close(&mut self, parens: bool) {
        self.print(format_args!("{MARK}{}", if parens { ENDS[0] } else { ENDS[1] }));
    }

    pub fn main_hash(&mut self, hash: MainHash, detail: Detail, has_values: bool) {
        let prefix = self.prefix;
        let entries_only = detail == Detail::Function;
        let is_meant = |call: &&HashCall| call.entries_only == entries_only && call.has_values == has_values;
        let name = HASHES.iter().find(is_meant).expect("each build has its name").name;
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
fn place(ids: &[u16], line: u32) -> (u16, u16) {
    let index = (line.max(1) - 1) / LINES_PER_ID;
    (ids[index as usize], (line - index * LINES_PER_ID) as u16)
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
