//! Prints the rows of a query.

use std::io::Write;

use clap::ValueEnum;
use datafusion::arrow::csv::WriterBuilder;
use datafusion::arrow::json::LineDelimitedWriter;
use datafusion::arrow::util::pretty::pretty_format_batches_with_schema;

use super::session::Engine;
use crate::error::FleetError;

/// How rows are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum QueryFormat {
    /// A table for people; the rows are held in memory
    #[default]
    Table,
    /// Comma-separated values with a header
    Csv,
    /// A JSON object in each line
    Json,
}

/// Prints the rows of a query as they come.
///
/// # Errors
/// The query fails, or the output cannot be written.
pub fn print(engine: &Engine, sql: &str, format: QueryFormat, out: &mut dyn Write) -> Result<(), FleetError> {
    if format == QueryFormat::Table {
        let answer = engine.query(sql)?;
        let text = pretty_format_batches_with_schema(answer.schema, &answer.batches)
            .map_err(|error| FleetError::from(datafusion::error::DataFusionError::from(error)))?;
        return writeln!(out, "{text}").map_err(FleetError::System);
    }
    let mut has_header = format == QueryFormat::Csv;
    engine.stream(sql, &mut |schema, batch| {
        let written = match (format, batch) {
            (QueryFormat::Json, None) => Ok(()),
            (QueryFormat::Json, Some(batch)) => LineDelimitedWriter::new(&mut *out).write(batch),
            (_, batch) => {
                let mut writer = WriterBuilder::new().with_header(has_header).build(&mut *out);
                has_header = false;
                match batch {
                    Some(batch) => writer.write(batch),
                    None => writer.write(&datafusion::arrow::array::RecordBatch::new_empty(schema.clone())),
                }
            }
        };
        written.map_err(|error| FleetError::from(datafusion::error::DataFusionError::from(error)))
    })
}
