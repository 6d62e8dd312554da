//! Rows of a dump: cells for each table.

use std::sync::Arc;

use crate::schema::{TABLES, Table};

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// Text.
    Text(Arc<str>),
    /// A number, or a time in microseconds.
    Int(i64),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text.into())
    }
}

impl From<&Arc<str>> for Cell {
    fn from(text: &Arc<str>) -> Cell {
        Cell::Text(Arc::clone(text))
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Cell {
        Cell::Int(number)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Cell {
        Cell::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Cell {
        Cell::Int(i64::from(number))
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Cell {
        Cell::from(number as u64)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Null, Into::into)
    }
}

/// The rows of one dump.
#[derive(Clone, Debug, Default)]
pub struct DumpRows {
    /// Its build.
    pub build: String,
    /// Its day, as `2026-11-23`.
    pub day: String,
    cells: [Vec<Cell>; TABLES.len()],
}

impl DumpRows {
    /// Without rows.
    pub fn new(build: String, day: String) -> DumpRows {
        DumpRows { build, day, ..DumpRows::default() }
    }

    /// Adds a row. It has a cell for each column.
    pub fn push<const N: usize>(&mut self, table: Table, row: [Cell; N]) {
        debug_assert_eq!(N, table.row().columns.len(), "{}", table.row().name);
        self.cells[table.index()].extend(row);
    }

    /// The rows of a table.
    pub fn rows(&self, table: Table) -> impl ExactSizeIterator<Item = &[Cell]> {
        self.cells[table.index()].chunks_exact(table.row().columns.len())
    }
}
