//! The calls that `xhist-instrument` inserts into sources: their names, and the texts around them. The recorder has a
//! function of each name, the rewriter writes the calls and removes them, and reports show sources without them.

use crate::record::Statement;
use crate::record::words::Word;

/// The name of the recorder crate, as it appears in every call.
pub const CRATE: &str = "xhist_rt::";
/// The name of the recorder in crates that give it to their macros, and the item that does so.
pub const GIVEN: &str = "__xhist_rt";
/// See [`GIVEN`].
pub const GIVE_RECORDER: &str = "#[doc(hidden)]pub extern crate xhist_rt as __xhist_rt;";
/// The name of the recorder in crates whose output is recorded, and the item that has its macros in place of those of `std`.
pub const PRINTED: &str = "__xhist_out";
/// See [`PRINTED`]. Macros that the crate defines or imports come before these, as before those of `std`.
pub const RECORD_OUTPUT: &str = "__xhist_out::__record_writes!{}#[allow(macro_use_extern_crate,unused_imports)]#[macro_use(print,println,eprint,eprintln,dbg)]extern crate xhist_rt as __xhist_out;";
/// The path before [`CRATE`] in the rules of a macro: [`GIVEN`] of the macro's crate.
pub const IN_RULES: &str = "$crate::__";
/// Marks the end of a wrapped expression and the start of carried attributes.
pub const MARK: &str = "/*xh*/";
/// The variable of an async body that holds its task.
pub const TASK: &str = "__xh_task";
/// The text between a mark and the code behind a wrapped expression, the longer one first.
pub const ENDS: [&str; 2] = [")}", "}"];

/// The call at the begin of an async body, whose result is [`TASK`].
pub const BEGIN_TASK: &str = "t";
/// The call behind an `.await`.
pub const RESUME_TASK: &str = "r";
/// The calls of triggers at statements, and at values.
pub const START_AT: &str = "start_at";
/// See [`START_AT`].
pub const STOP_AT: &str = "stop_at";
/// See [`START_AT`].
pub const WATCH: &str = "watch";

/// What a recording call precedes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallForm {
    /// A statement.
    Plain,
    /// A statement whose attributes the call repeats.
    Carried,
    /// An expression that was wrapped in a block.
    Block,
    /// A wrapped expression in parentheses.
    Parens,
}

impl CallForm {
    /// What was inserted before the call and behind it.
    pub const fn around(self) -> (&'static str, &'static str) {
        match self {
            CallForm::Plain | CallForm::Carried => ("", ""),
            CallForm::Block => ("{", ""),
            CallForm::Parens => ("{", "("),
        }
    }
}

/// The length of the word in the argument of a recording call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordWidth {
    /// Two bytes.
    Short,
    /// Four bytes, which are zero for a statement that no word can represent.
    Long,
}

impl WordWidth {
    /// Bits of the word.
    const fn bits(self) -> u32 {
        match self {
            WordWidth::Short => 16,
            WordWidth::Long => 32,
        }
    }
}

/// The argument of a recording call: all that any recorder needs of a statement, in one number. From the lowest bit: the
/// bytes of the word, the first one lowest; 16 bits of the line; 16 bits of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementNumber {
    /// The number.
    pub value: u64,
    /// The length of its word. The name of the call has it.
    pub width: WordWidth,
}

impl StatementNumber {
    /// The argument for a statement with this number in its program, 0 = no number.
    #[inline]
    pub const fn new(statement: Statement, number: u32) -> StatementNumber {
        let (word, width) = match Word::new(statement, number) {
            Some(Word::Short(bytes)) => (u16::from_le_bytes(bytes) as u32, WordWidth::Short),
            Some(Word::Long(bytes)) => (u32::from_le_bytes(bytes), WordWidth::Long),
            None => (0, WordWidth::Long),
        };
        let place = statement.to_word() as u64;
        StatementNumber { value: place << width.bits() | word as u64, width }
    }

    /// File and line.
    #[inline(always)]
    pub const fn statement(self) -> Statement {
        Statement::from_word((self.value >> self.width.bits()) as u32)
    }
}

/// The literal in a call: hexadecimal, with a `_` before each four digits.
impl core::fmt::Display for StatementNumber {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Statement { file, line } = self.statement();
        write!(to, "0x{file:x}_{line:04x}_")?;
        if self.width == WordWidth::Long {
            write!(to, "{:04x}_", self.value as u32 >> 16)?;
        }
        write!(to, "{:04x}", self.value as u16)
    }
}

/// One name of recording calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordingCall {
    /// The name.
    pub name: &'static str,
    /// What it precedes.
    pub form: CallForm,
    /// This call checks for room; the others do not.
    pub checks: bool,
    /// The length of the word in its argument.
    pub width: WordWidth,
}

impl RecordingCall {
    const fn new(name: &'static str, form: CallForm, checks: bool, width: WordWidth) -> RecordingCall {
        RecordingCall { name, form, checks, width }
    }
}

/// All recording calls.
pub const RECORDINGS: [RecordingCall; 16] = {
    use CallForm::{Block, Carried, Parens, Plain};
    use WordWidth::{Long, Short};
    [
        RecordingCall::new("s", Plain, false, Short),
        RecordingCall::new("sl", Plain, false, Long),
        RecordingCall::new("c", Carried, false, Short),
        RecordingCall::new("cl", Carried, false, Long),
        RecordingCall::new("a", Block, false, Short),
        RecordingCall::new("al", Block, false, Long),
        RecordingCall::new("p", Parens, false, Short),
        RecordingCall::new("pl", Parens, false, Long),
        RecordingCall::new("e", Plain, true, Short),
        RecordingCall::new("el", Plain, true, Long),
        RecordingCall::new("ce", Carried, true, Short),
        RecordingCall::new("cel", Carried, true, Long),
        RecordingCall::new("ae", Block, true, Short),
        RecordingCall::new("ael", Block, true, Long),
        RecordingCall::new("pe", Parens, true, Short),
        RecordingCall::new("pel", Parens, true, Long),
    ]
};

/// Finds the recording call of this name.
pub fn recording(name: &[u8]) -> Option<&'static RecordingCall> {
    RECORDINGS.iter().find(|call| call.name.as_bytes() == name)
}

/// How much a value call records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueAmount {
    /// At most 8 bytes of the value.
    Eight,
    /// At most 32 bytes of the value.
    ThirtyTwo,
    /// 64 bytes, and the targets of texts, numbers and slices of numbers.
    Targets,
    /// What a reference refers to, of any type.
    Pointees,
}

/// One name of value calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueCall {
    /// The name.
    pub name: &'static str,
    /// How much it records.
    pub amount: ValueAmount,
    /// The record has the type of the value, because values of several types are recorded there.
    pub is_generic: bool,
}

/// All value calls.
pub const VALUES: [ValueCall; 8] = [
    ValueCall { name: "v", amount: ValueAmount::Eight, is_generic: false },
    ValueCall { name: "vw", amount: ValueAmount::ThirtyTwo, is_generic: false },
    ValueCall { name: "vt", amount: ValueAmount::Targets, is_generic: false },
    ValueCall { name: "vr", amount: ValueAmount::Pointees, is_generic: false },
    ValueCall { name: "vg", amount: ValueAmount::Eight, is_generic: true },
    ValueCall { name: "vwg", amount: ValueAmount::ThirtyTwo, is_generic: true },
    ValueCall { name: "vtg", amount: ValueAmount::Targets, is_generic: true },
    ValueCall { name: "vrg", amount: ValueAmount::Pointees, is_generic: true },
];

/// One name of the calls in `main` that name the map. A macro of that name takes the hash from the compiler's environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashCall {
    /// The name.
    pub name: &'static str,
    /// Only entries of functions are recorded.
    pub entries_only: bool,
    /// Values are recorded. Then the hash is a const argument.
    pub has_values: bool,
}

/// All calls that name the map.
pub const HASHES: [HashCall; 4] = [
    HashCall { name: "m", entries_only: false, has_values: false },
    HashCall { name: "me", entries_only: true, has_values: false },
    HashCall { name: "mv", entries_only: false, has_values: true },
    HashCall { name: "mev", entries_only: true, has_values: true },
];

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeSet;
    use std::format;
    use std::vec::Vec;

    #[test]
    fn each_call_has_a_name_of_its_own() {
        let others = [BEGIN_TASK, RESUME_TASK, START_AT, STOP_AT, WATCH];
        let names: Vec<_> =
            RECORDINGS.iter().map(|call| call.name).chain(VALUES.iter().map(|call| call.name)).collect();
        let names: Vec<_> =
            names.into_iter().chain(HASHES.iter().map(|call| call.name)).chain(others).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }

    #[test]
    fn an_item_names_the_recorder() {
        for (item, name) in [(GIVE_RECORDER, GIVEN), (RECORD_OUTPUT, PRINTED)] {
            assert!(item.ends_with(&format!("extern crate xhist_rt as {name};")), "{item}");
        }
    }

    #[test]
    fn an_argument_has_file_line_and_word() {
        for (file, line, number, literal) in
            [(1, 42, 1, "0x1_002a_0201"), (0xABC, 65_535, 0, ""), (0xFFFF, 7, 0, "0xffff_0007_0000_0000")]
        {
            let statement = Statement { file, line };
            let argument = StatementNumber::new(statement, number);
            assert_eq!(argument.statement(), statement);
            let word = match argument.width {
                WordWidth::Short => Some(Word::Short((argument.value as u16).to_le_bytes())),
                WordWidth::Long if argument.value as u32 == 0 => None,
                WordWidth::Long => Some(Word::Long((argument.value as u32).to_le_bytes())),
            };
            assert_eq!(word, Word::new(statement, number));
            let text = format!("{argument}");
            assert_eq!(u64::from_str_radix(&text.replace('_', "")[2..], 16), Ok(argument.value));
            assert!(literal.is_empty() || literal == text, "{text}");
        }
    }
}
