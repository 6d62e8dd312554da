//! A broken rule of order, with the pieces of the history that prove it.

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of the check: `exclusive`, `expect` or `locks`.
    pub check: &'static str,
    /// The rule, as the user wrote it.
    pub rule: String,
    /// What is wrong.
    pub text: String,
    /// Whether the history proves it.
    pub certain: bool,
    /// How often it was found at the same places.
    pub times: u64,
    /// What proves it, the oldest first.
    pub evidence: Vec<Evidence>,
}

/// A piece of the history of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The thread.
    pub thread: String,
    /// Its statements, oldest first.
    pub lines: Vec<EvidenceLine>,
}

/// A statement that proves something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidenceLine {
    /// Number of its entry in the history.
    pub number: u64,
    /// How many statements of the thread are left out before it.
    pub left_out: u64,
    /// Path of its file, printable.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// Its function.
    pub function: String,
    /// Its text, if the source is here.
    pub source: Option<String>,
}
