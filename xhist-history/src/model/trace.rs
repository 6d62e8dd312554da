//! A trace event as recorded, and as described in words.

pub use qs_core::record::trace::{Arg, Class as TraceClass, Code, Severity};

use crate::model::defmt::{DefmtLevel, DefmtTable};

/// A trace event, as recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// What happened.
    pub class: TraceClass,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// Its buffer, if it has one.
    pub buffer: Option<Vec<u8>>,
    /// It did not fit into its record: arguments or the end of the buffer are missing.
    pub is_cut: bool,
    /// The time stamp of its record, as wide as the target has them.
    pub stamp: u64,
    /// The name that the target sent for its opcode.
    pub opcode_name: Option<String>,
    /// The crate that wrote it as a line, if it is known.
    pub from_crate: Option<String>,
}

impl Trace {
    /// An event of this class, without anything else.
    pub fn of(class: TraceClass) -> Trace {
        let args = Vec::new();
        Trace { class, args, buffer: None, is_cut: false, stamp: 0, opcode_name: None, from_crate: None }
    }

    /// The same, but a line of `defmt` is in words if the program of this table has it. One of `println!` is information.
    #[must_use]
    pub fn in_words(self, table: &DefmtTable) -> Trace {
        let is_defmt = matches!(self.class, TraceClass::Exception { code: Code::DEFMT, .. });
        let bytes = self.buffer.as_deref().filter(|_| is_defmt && !table.is_empty());
        let line = bytes.and_then(|bytes| table.line(bytes, self.is_cut));
        let Some(line) = line else { return self };
        let (code, severity) = match line.level {
            Some(DefmtLevel::Error) => (Code::LOG_ERROR, Severity::Sw2),
            Some(DefmtLevel::Warn) => (Code::LOG_WARN, Severity::Sw1),
            Some(DefmtLevel::Info) | None => (Code::LOG_INFO, Severity::Sw0),
            Some(DefmtLevel::Debug) => (Code::LOG_DEBUG, Severity::Sw0),
            Some(DefmtLevel::Trace) => (Code::LOG_TRACE, Severity::Sw0),
        };
        let class = TraceClass::Exception { severity, code };
        let (buffer, from_crate) = (Some(line.text.into_bytes()), Some(line.from_crate));
        Trace { class, args: Vec::new(), buffer, is_cut: false, from_crate, ..self }
    }

    /// Whether it is a line of a log.
    pub fn is_log_line(&self) -> bool {
        let lines =
            [Code::LOG_ERROR, Code::LOG_WARN, Code::LOG_INFO, Code::LOG_DEBUG, Code::LOG_TRACE, Code::DEFMT];
        matches!(self.class, TraceClass::Exception { code, .. } if lines.contains(&code))
    }

    /// Whether it is a text that the program printed.
    pub fn is_output(&self) -> bool {
        matches!(self.class, TraceClass::Exception { code: Code::STDOUT | Code::STDERR, .. })
    }

    /// Whether it is a fault that the program does not survive.
    pub fn is_fault(&self) -> bool {
        matches!(self.class, TraceClass::Exception { severity, .. } if severity.level() == 3)
    }
}

/// The description of a trace event, printable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DescribedTrace {
    /// `HW1`, `profile`.
    pub class: &'static str,
    /// What its severity means, in words.
    pub meaning: Option<&'static str>,
    /// Name of its owner.
    pub owner: Option<String>,
    /// Its own name.
    pub name: Option<String>,
    /// The text of its format, or its arguments and its buffer.
    pub text: String,
    /// All of it behind the class: `uart(0x800123) parity_error(0x05): port 3, status 0x0014`.
    pub subject: String,
}

impl DescribedTrace {
    /// The level of a line of a log: `warn`.
    pub fn level(&self) -> &str {
        let name = self.name.as_deref().unwrap_or_default();
        name.strip_prefix("log_").unwrap_or(name)
    }

    /// A line of a log behind its level: `warn net: no answer`.
    pub fn logged(&self) -> String {
        format!("{} {}", self.level(), self.text)
    }

    /// A text that the program printed, behind its stream: `stdout: 3 of 4`.
    pub fn printed(&self) -> String {
        format!("{}: {}", self.name.as_deref().unwrap_or_default(), self.text)
    }
}
