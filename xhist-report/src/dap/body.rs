//! Bodies of responses and events: the part of the protocol that is used here, with the protocol's names.

use serde::Serialize;

/// A source file.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceBody {
    /// Its last name.
    pub name: String,
    /// Where the client finds it, or where it was built.
    pub path: String,
    /// The client asks for the text with this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_reference: Option<i32>,
    /// Where the text comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<&'static str>,
    /// `deemphasize` for dependencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<&'static str>,
}

/// A call on the stack.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameBody {
    /// Its id, until the next stop.
    pub id: i32,
    /// Its function.
    pub name: String,
    /// Its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceBody>,
    /// Its line.
    pub line: i64,
    /// Its column.
    pub column: i64,
    /// Where its statement ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<i64>,
    /// Where its statement ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_column: Option<i64>,
    /// Whether `restartFrame` goes to its entry.
    pub can_restart: bool,
    /// `subtle` for dependencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<&'static str>,
}

/// A group of variables.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScopeBody {
    /// Its title.
    pub name: &'static str,
    /// `arguments` or `locals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<&'static str>,
    /// The client asks for the variables with this number.
    pub variables_reference: i32,
    /// How many there are.
    pub named_variables: usize,
    /// Whether it takes long to get them.
    pub expensive: bool,
}

/// A variable.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VariableBody {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Its type, and where the value was seen.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// What evaluates to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluate_name: Option<String>,
    /// 0: it has no parts.
    pub variables_reference: i32,
    /// How it is shown.
    pub presentation_hint: ReadOnly,
}

/// The mark of a value that cannot be changed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ReadOnly {
    attributes: [&'static str; 1],
}

impl Default for ReadOnly {
    fn default() -> ReadOnly {
        ReadOnly { attributes: ["readOnly"] }
    }
}

/// What became of a breakpoint.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BreakpointBody {
    /// Its id, for the session.
    pub id: i32,
    /// Whether it has a place in the program.
    pub verified: bool,
    /// What the user should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceBody>,
    /// Its line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// Its column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// Why it has no place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

/// The session is stopped at a step.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoppedBody {
    /// A reason of the protocol.
    pub reason: &'static str,
    /// The reason for a reader.
    pub description: String,
    /// More of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The thread whose step it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<i32>,
    /// All threads are where they were then.
    pub all_threads_stopped: bool,
    /// The breakpoints that were hit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hit_breakpoint_ids: Vec<i32>,
}

/// A line in the debug console.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputBody {
    /// `console`, or `important` for what the user should not miss.
    pub category: &'static str,
    /// The text.
    pub output: String,
    /// The file that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceBody>,
    /// The line there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
}
