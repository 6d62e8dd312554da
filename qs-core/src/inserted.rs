//! The calls that `xhist-instrument` inserts into sources: their names, and the texts around them. The recorder has a
//! function of each name, the rewriter writes the calls and removes them, and reports show sources without them.

/// The name of the recorder crate, as it appears in every call.
pub const CRATE: &str = "xhist_rt::";
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

/// One name of recording calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordingCall {
    /// The name.
    pub name: &'static str,
    /// What it precedes.
    pub form: CallForm,
    /// This call checks for room; the others do not.
    pub checks: bool,
}

/// All recording calls.
pub const RECORDINGS: [RecordingCall; 8] = [
    RecordingCall { name: "s", form: CallForm::Plain, checks: false },
    RecordingCall { name: "c", form: CallForm::Carried, checks: false },
    RecordingCall { name: "a", form: CallForm::Block, checks: false },
    RecordingCall { name: "p", form: CallForm::Parens, checks: false },
    RecordingCall { name: "e", form: CallForm::Plain, checks: true },
    RecordingCall { name: "ce", form: CallForm::Carried, checks: true },
    RecordingCall { name: "ae", form: CallForm::Block, checks: true },
    RecordingCall { name: "pe", form: CallForm::Parens, checks: true },
];

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
    /// 32 bytes, and the targets of texts and of slices of numbers.
    Targets,
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
pub const VALUES: [ValueCall; 6] = [
    ValueCall { name: "v", amount: ValueAmount::Eight, is_generic: false },
    ValueCall { name: "vw", amount: ValueAmount::ThirtyTwo, is_generic: false },
    ValueCall { name: "vt", amount: ValueAmount::Targets, is_generic: false },
    ValueCall { name: "vg", amount: ValueAmount::Eight, is_generic: true },
    ValueCall { name: "vwg", amount: ValueAmount::ThirtyTwo, is_generic: true },
    ValueCall { name: "vtg", amount: ValueAmount::Targets, is_generic: true },
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
}
