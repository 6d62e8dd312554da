//! Recorded values of a recording.

use super::ids::{CallId, StepId, StringId};

/// A value and the step that it was recorded behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValueAt {
    /// The step.
    pub step: StepId,
    /// The name that was bound or assigned.
    pub name: StringId,
    /// Its type; empty if not known.
    pub type_name: StringId,
    /// The value as text.
    pub text: StringId,
    /// The call whose name it is; `None` if that is not known.
    pub call: Option<CallId>,
    /// Path of the function that has the name; empty if not known.
    pub function: StringId,
    /// The line of the name; 0 if not known.
    pub line: u32,
    /// It is a parameter of its function.
    pub is_parameter: bool,
}
