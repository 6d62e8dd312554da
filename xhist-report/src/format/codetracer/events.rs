//! The lines of a CodeTracer trace, as far as they are written: the JSON of the crate `codetracer_trace_types`.

use serde::Serialize;

/// A line of the trace. Paths, names and types come before what uses their numbers.
#[derive(Debug, Serialize)]
pub enum TraceLine<'t> {
    /// A file; the first one has the number 0.
    Path(&'t str),
    /// A name of variables.
    VariableName(&'t str),
    /// A type of values.
    Type(TypeLine<'t>),
    /// A function.
    Function(FunctionLine<'t>),
    /// A statement.
    Step(StepLine),
    /// The statement before is the entry of a call.
    Call(CallLine),
    /// The innermost call ends.
    Return(ReturnLine),
    /// A value of a variable at the newest statement.
    Value(ValueLine<'t>),
    /// Something else happened at the newest statement.
    Event(EventLine<'t>),
}

/// A type.
#[derive(Debug, Serialize)]
pub struct TypeLine<'t> {
    /// Number of its kind, [`RAW`] or [`NONE`].
    pub kind: u8,
    /// Its name.
    pub lang_type: &'t str,
    /// Nothing more is known.
    pub specific_info: SpecificInfo,
}

/// What else is known of a type.
#[derive(Debug, Serialize)]
#[serde(tag = "kind")]
pub enum SpecificInfo {
    /// Nothing.
    None,
}

/// The kind of a type whose values are texts.
pub const RAW: u8 = 16;
/// The kind of the type of no value.
pub const NONE: u8 = 30;

/// A function.
#[derive(Debug, Serialize)]
pub struct FunctionLine<'t> {
    /// Number of its file.
    pub path_id: usize,
    /// The line that it starts in.
    pub line: u32,
    /// Its name.
    pub name: &'t str,
}

/// A statement.
#[derive(Debug, Serialize)]
pub struct StepLine {
    /// Number of its file.
    pub path_id: usize,
    /// Its line.
    pub line: u32,
}

/// A call.
#[derive(Debug, Serialize)]
pub struct CallLine {
    /// Number of its function.
    pub function_id: usize,
    /// Parameters are values of its first statement.
    pub args: [(); 0],
}

/// The end of a call.
#[derive(Debug, Serialize)]
pub struct ReturnLine {
    /// Not recorded.
    pub return_value: ShownText<'static>,
}

/// A value of a variable.
#[derive(Debug, Serialize)]
pub struct ValueLine<'t> {
    /// Number of its name.
    pub variable_id: usize,
    /// The value.
    pub value: ShownText<'t>,
}

/// A value as text, or no value.
#[derive(Debug, Serialize)]
#[serde(tag = "kind")]
pub enum ShownText<'t> {
    /// As the other formats show it.
    Raw {
        /// The text.
        r: &'t str,
        /// Number of its type.
        type_id: usize,
    },
    /// No value.
    None {
        /// Number of the type of no value.
        type_id: usize,
    },
}

/// Something else.
#[derive(Debug, Serialize)]
pub struct EventLine<'t> {
    /// [`WRITE`] or [`ERROR`].
    pub kind: u8,
    /// A short name.
    pub metadata: &'t str,
    /// A line.
    pub content: &'t str,
}

/// The kind of events that are output.
pub const WRITE: u8 = 0;
/// The kind of events that are failures.
pub const ERROR: u8 = 11;

/// What a folder says of its trace.
#[derive(Debug, Serialize)]
pub struct TraceMetadata<'t> {
    /// Where the program was built.
    pub workdir: &'t str,
    /// Its name.
    pub program: &'t str,
    /// Not recorded.
    pub args: [&'t str; 0],
}
