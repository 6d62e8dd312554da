//! Rows of a query as plain values.

use datafusion::arrow::array::{Array, Float64Array, Int64Array};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

use crate::engine::Engine;
use crate::error::FleetError;

/// The rows of a query.
pub struct Rows {
    batches: Vec<datafusion::arrow::array::RecordBatch>,
    len: usize,
}

impl Rows {
    /// Runs a query.
    ///
    /// # Errors
    /// It fails.
    pub fn of(engine: &Engine, sql: &str) -> Result<Rows, FleetError> {
        let batches = engine.query(sql)?.batches;
        let len = batches.iter().map(|batch| batch.num_rows()).sum();
        Ok(Rows { batches, len })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The column of a row, and the place of the row in it.
    fn cell(&self, row: usize, column: usize) -> Option<(&dyn Array, usize)> {
        let mut left = row;
        for batch in &self.batches {
            if left < batch.num_rows() {
                return Some((batch.columns().get(column)?.as_ref(), left));
            }
            left -= batch.num_rows();
        }
        None
    }

    /// A number; 0 if it is missing.
    pub fn int(&self, row: usize, column: usize) -> i64 {
        let Some((array, at)) = self.cell(row, column) else { return 0 };
        match array.as_any().downcast_ref::<Int64Array>() {
            Some(numbers) if numbers.is_valid(at) => numbers.value(at),
            Some(_) => 0,
            // Window functions count in other types.
            None => self.text(row, column).parse().unwrap_or(0),
        }
    }

    /// A number with a point; 0 if it is missing.
    pub fn float(&self, row: usize, column: usize) -> f64 {
        let Some((array, at)) = self.cell(row, column) else { return 0.0 };
        let numbers = array.as_any().downcast_ref::<Float64Array>();
        numbers.filter(|numbers| numbers.is_valid(at)).map_or(0.0, |numbers| numbers.value(at))
    }

    /// A value as text; empty if it is missing.
    pub fn text(&self, row: usize, column: usize) -> String {
        let Some((array, at)) = self.cell(row, column) else { return String::new() };
        let options = FormatOptions::default();
        let shown = ArrayFormatter::try_new(array, &options).map(|formatter| formatter.value(at).to_string());
        shown.unwrap_or_default()
    }
}
