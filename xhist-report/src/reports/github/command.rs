//! A workflow command: `::error file=src/lib.rs,line=7,title=...::message`.

use std::fmt;
use std::io::{self, Write};

/// How GitHub marks the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnotationLevel {
    /// What failed.
    Error,
    /// What is suspicious.
    Warning,
}

/// An annotation of a line.
#[derive(Clone, Debug)]
pub struct WorkflowCommand {
    /// How it is marked.
    pub level: AnnotationLevel,
    /// Path and line; without them GitHub shows it on the page of the run.
    pub file: Option<(String, u32)>,
    /// Its title.
    pub title: String,
    /// Its text, of any number of lines.
    pub message: String,
}

/// Longest message; the log of a step has it whole in one line.
const LONGEST: usize = 4_000;

impl WorkflowCommand {
    /// Writes the command in a line of its own.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let level = match self.level {
            AnnotationLevel::Error => "error",
            AnnotationLevel::Warning => "warning",
        };
        write!(out, "::{level} ")?;
        if let Some((path, line)) = &self.file {
            write!(out, "file={},line={line},", Property(path))?;
        }
        let message: String = self.message.chars().take(LONGEST).collect();
        writeln!(out, "title={}::{}", Property(&self.title), Data(&message))
    }
}

/// Text behind `::`.
struct Data<'t>(&'t str);

impl fmt::Display for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
        f.write_str(&text)
    }
}

/// The value of a property.
struct Property<'t>(&'t str);

impl fmt::Display for Property<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Data(self.0).to_string().replace(':', "%3A").replace(',', "%2C"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_end_a_command_or_a_property() {
        let command = WorkflowCommand {
            level: AnnotationLevel::Error,
            file: Some(("a,b:c.rs".to_owned(), 7)),
            title: "100%\n::error::x".to_owned(),
            message: "one\r\ntwo::three, 5%".to_owned(),
        };
        let mut out = Vec::new();
        command.write(&mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "::error file=a%2Cb%3Ac.rs,line=7,title=100%25%0A%3A%3Aerror%3A%3Ax::one%0D%0Atwo::three, 5%25\n"
        );
    }
}
