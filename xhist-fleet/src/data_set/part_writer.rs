//! Writes the rows of one table and partition to a Parquet file.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Int64Builder, RecordBatch, StringBuilder, TimestampMicrosecondBuilder,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::metadata::KeyValue;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::parquet::schema::types::ColumnPath;

use crate::dump::Cell;
use crate::error::FleetError;
use crate::schema::{Kind, TableRow, VERSION};

/// Rows that are encoded together.
const BATCH: usize = 8192;
/// Rows of a row group. Engines read row groups in parallel.
const ROW_GROUP: usize = 262_144;
/// Times of microseconds in UTC.
const UTC: &str = "UTC";

/// The columns of a table in its files.
pub fn arrow_schema(row: &TableRow) -> SchemaRef {
    let field =
        |column: &crate::schema::Column| Field::new(column.name, arrow_type(column.kind), column.nullable);
    Arc::new(Schema::new(row.columns.iter().map(field).collect::<Vec<_>>()))
}

/// The type of a column in memory.
pub fn arrow_type(kind: Kind) -> DataType {
    match kind {
        Kind::Text => DataType::Utf8,
        Kind::Int => DataType::Int64,
        Kind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
        Kind::Day => DataType::Date32,
    }
}

/// A column of the batch that grows.
enum ColumnBuilder {
    Text(StringBuilder),
    Int(Int64Builder),
    Time(TimestampMicrosecondBuilder),
}

impl ColumnBuilder {
    fn new(kind: Kind) -> ColumnBuilder {
        match kind {
            Kind::Text | Kind::Day => ColumnBuilder::Text(StringBuilder::new()),
            Kind::Int => ColumnBuilder::Int(Int64Builder::new()),
            Kind::Time => ColumnBuilder::Time(TimestampMicrosecondBuilder::new().with_timezone(UTC)),
        }
    }

    fn push(&mut self, cell: &Cell) {
        let number = match cell {
            Cell::Int(number) => Some(*number),
            Cell::Null | Cell::Text(_) => None,
        };
        match (self, cell) {
            (ColumnBuilder::Text(texts), Cell::Text(text)) => texts.append_value(text),
            (ColumnBuilder::Text(texts), _) => texts.append_null(),
            (ColumnBuilder::Int(numbers), _) => numbers.append_option(number),
            (ColumnBuilder::Time(times), _) => times.append_option(number),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            ColumnBuilder::Text(texts) => Arc::new(texts.finish()),
            ColumnBuilder::Int(numbers) => Arc::new(numbers.finish()),
            ColumnBuilder::Time(times) => Arc::new(times.finish()),
        }
    }
}

/// A Parquet file that grows.
pub struct PartWriter {
    path: PathBuf,
    writer: ArrowWriter<File>,
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    rows: usize,
}

impl PartWriter {
    /// Makes the file.
    pub fn create(path: PathBuf, row: &TableRow) -> Result<PartWriter, FleetError> {
        let at = |error| FleetError::Write(path.clone(), error);
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(at)?;
        }
        let file = File::create_new(&path).map_err(at)?;
        let schema = arrow_schema(row);
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3).unwrap_or_default()))
            .set_max_row_group_row_count(Some(ROW_GROUP))
            .set_bloom_filter_enabled(false)
            .set_column_bloom_filter_enabled(ColumnPath::from("signature"), true)
            .set_key_value_metadata(Some(vec![
                KeyValue::new("xhist.schema".to_owned(), VERSION.to_string()),
                KeyValue::new("xhist.table".to_owned(), row.name.to_owned()),
            ]))
            .build();
        let options = datafusion::parquet::arrow::arrow_writer::ArrowWriterOptions::new()
            .with_properties(properties)
            // Engines take the types of Parquet; those of Arrow would only be another opinion.
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(file, Arc::clone(&schema), options)
            .map_err(|error| FleetError::Parquet(path.clone(), error))?;
        let columns = row.columns.iter().map(|column| ColumnBuilder::new(column.kind)).collect();
        Ok(PartWriter { path, writer, schema, columns, rows: 0 })
    }

    /// Adds a row.
    pub fn push(&mut self, row: &[Cell]) -> Result<(), FleetError> {
        self.columns.iter_mut().zip(row).for_each(|(column, cell)| column.push(cell));
        self.rows += 1;
        if self.rows >= BATCH { self.encode() } else { Ok(()) }
    }

    fn encode(&mut self) -> Result<(), FleetError> {
        if self.rows == 0 {
            return Ok(());
        }
        self.rows = 0;
        let columns = self.columns.iter_mut().map(ColumnBuilder::finish).collect();
        let written = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(Into::into)
            .and_then(|batch| self.writer.write(&batch));
        written.map_err(|error| FleetError::Parquet(self.path.clone(), error))
    }

    /// Bytes that it holds in memory.
    pub fn memory(&self) -> usize {
        self.writer.memory_size()
    }

    /// Ends the file, and waits until it is on the disk.
    pub fn finish(mut self) -> Result<PathBuf, FleetError> {
        self.encode()?;
        let file = self.writer.into_inner().map_err(|error| FleetError::Parquet(self.path.clone(), error))?;
        file.sync_all().map_err(|error| FleetError::Write(self.path.clone(), error))?;
        Ok(self.path)
    }
}
