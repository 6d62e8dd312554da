//! Which dumps a data set has.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::Path;

use datafusion::arrow::array::StringArray;
use datafusion::arrow::array::cast::AsArray;
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::error::FleetError;
use crate::schema::Table;

/// Identities of all dumps: those with a history, and those that have only losses.
///
/// # Errors
/// A file cannot be read.
pub fn known_dumps(dir: &Path) -> Result<HashSet<u128>, FleetError> {
    let mut known = HashSet::new();
    for table in [Table::Rings, Table::Losses] {
        add_below(&dir.join(table.row().name), &mut known)?;
    }
    Ok(known)
}

fn add_below(dir: &Path, known: &mut HashSet<u128>) -> Result<(), FleetError> {
    if !dir.is_dir() {
        return Ok(());
    }
    let at = |error| FleetError::Read(dir.to_owned(), error);
    for entry in fs::read_dir(dir).map_err(at)? {
        let path = entry.map_err(at)?.path();
        if path.is_dir() {
            add_below(&path, known)?;
        } else if path.extension().is_some_and(|extension| extension == "parquet") {
            add_file(&path, known)?;
        }
    }
    Ok(())
}

/// Adds the first column of a file.
fn add_file(path: &Path, known: &mut HashSet<u128>) -> Result<(), FleetError> {
    let file = File::open(path).map_err(|error| FleetError::Read(path.to_owned(), error))?;
    let at = |error| FleetError::Parquet(path.to_owned(), error);
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(at)?;
    let column = reader.schema().index_of("ring").map_err(|error| at(error.into()))?;
    let first = ProjectionMask::roots(reader.parquet_schema(), [column]);
    for batch in reader.with_projection(first).build().map_err(at)? {
        let batch = batch.map_err(|error| at(error.into()))?;
        let texts: Option<&StringArray> = batch.column(0).as_string_opt();
        let texts = texts.into_iter().flat_map(|texts| texts.iter().flatten());
        known.extend(texts.filter_map(|text| u128::from_str_radix(text, 16).ok()));
    }
    Ok(())
}
