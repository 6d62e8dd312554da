//! The line of a value site: a name whose value is recorded where it is bound or assigned.

use super::error::MapError;
use super::json::{Object, Text};
use core::fmt;

/// A place where a value is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueLine<'a> {
    /// File id of the first 65,535 lines of its file.
    pub file: u16,
    /// Line of the name in the file, from 1.
    pub line: u32,
    /// Column of the name in characters, from 1.
    pub col: u32,
    /// The name, as it is in the source.
    pub name: Text<'a>,
    /// How it is bound: `let`, `param`, `for`, `match`, `closure`, `if`, `while` or `assign`.
    pub kind: Text<'a>,
    /// Path of the surrounding function.
    pub function: Text<'a>,
    /// The target of a reference is recorded too.
    pub text: bool,
    /// The value may have several types, so each record carries its type.
    pub generic: bool,
}

impl<'a> ValueLine<'a> {
    #[inline]
    pub(super) fn read(object: &Object<'a>) -> Result<ValueLine<'a>, MapError> {
        let text = |name| object.text(name).ok_or(MapError::Field(name));
        let number = |name| object.number(name).ok_or(MapError::Field(name));
        Ok(ValueLine {
            file: u16::try_from(number("value")?).map_err(|_| MapError::Field("value"))?,
            line: number("line")?,
            col: number("col")?,
            name: text("name")?,
            kind: text("kind")?,
            function: text("fn")?,
            text: object.is_true("text"),
            generic: object.is_true("generic"),
        })
    }
}

impl fmt::Display for ValueLine<'_> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ValueLine { file, line, col, name, kind, function, text, generic } = self;
        write!(f, r#"{{"value":{file},"line":{line},"col":{col},"name":"{name}","kind":"{kind}""#)?;
        write!(f, r#","fn":"{function}""#)?;
        for (name, is_set) in [("text", text), ("generic", generic)] {
            if *is_set {
                write!(f, r#","{name}":true"#)?;
            }
        }
        f.write_str("}")
    }
}
