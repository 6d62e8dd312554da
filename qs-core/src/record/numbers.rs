//! Numbers of statements: short words of a ring have only a number, and a table from the map resolves it.

use super::Statement;
use super::value::RecordedValue;
use super::words::Named;

impl Statement {
    /// File id of an unresolved statement, whose line is its number. No program has this many files.
    pub const NUMBERED: u16 = u16::MAX;

    /// An unresolved statement: only its number is known.
    pub const fn numbered(number: u16) -> Statement {
        Statement { file: Statement::NUMBERED, line: number }
    }

    /// The number of an unresolved statement.
    pub const fn number(self) -> Option<u16> {
        match self.file {
            Statement::NUMBERED => Some(self.line),
            _ => None,
        }
    }
}

/// The statements of a program, by number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers<'a> {
    table: &'a [Option<Statement>],
}

impl<'a> Numbers<'a> {
    /// A table with statement number `n` at index `n`. Index 0 and unused numbers are `None`.
    pub const fn new(table: &'a [Option<Statement>]) -> Numbers<'a> {
        Numbers { table }
    }

    /// Resolves a statement to file and line, if the table has its number.
    pub fn resolve(self, statement: Statement) -> Statement {
        let known = statement.number().and_then(|number| *self.table.get(usize::from(number))?);
        known.unwrap_or(statement)
    }

    /// The statement that a word names.
    ///
    /// # Errors
    /// The word is a value and not a statement.
    pub fn statement(self, named: Named) -> Result<Statement, RecordedValue> {
        match named {
            // Numbers of short words are below SHORT_END.
            Named::Number(number) => Ok(self.resolve(Statement::numbered(number as u16))),
            Named::Statement(statement) => Ok(statement),
            Named::Value(value) => Err(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::words::{LONG_END, SHORT_END};

    #[test]
    fn a_number_is_resolved_if_the_table_has_it() {
        assert!(SHORT_END <= u32::from(u16::MAX) && Statement::from_word(LONG_END - 1).number().is_none());
        let known = Statement { file: 3, line: 9 };
        let table = [None, Some(known), None];
        let numbers = Numbers::new(&table);
        assert_eq!(numbers.statement(Named::Number(1)), Ok(known));
        assert_eq!(numbers.statement(Named::Statement(known)), Ok(known));
        for number in [0, 2, 3, SHORT_END - 1] {
            let statement = numbers.statement(Named::Number(number)).unwrap();
            assert_eq!(statement.number().map(u32::from), Some(number));
        }
    }
}
