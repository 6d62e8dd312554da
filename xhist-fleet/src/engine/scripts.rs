//! Files with which other engines open a data set: one script for each engine, and the views by themselves.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use super::views::{VIEWS, sql_name};
use crate::error::FleetError;
use crate::schema::{Kind, PARTITION, TABLES, TableRow};

/// Directory of the scripts.
const DIR: &str = "sql";

/// An engine that is not ours.
struct EngineRow {
    /// Its script.
    file: &'static str,
    /// What the script starts with.
    head: &'static str,
    /// The statement that opens a table.
    table: fn(&TableRow) -> String,
    /// How a view is made.
    view: &'static str,
}

const ENGINES: [EngineRow; 2] = [
    EngineRow {
        file: "duckdb.sql",
        head: "-- Run in the directory of the data set: duckdb -init sql/duckdb.sql\n",
        table: duckdb_table,
        view: "CREATE OR REPLACE VIEW",
    },
    EngineRow {
        file: "spark.sql",
        head: "-- Run in the directory of the data set: spark-sql -i sql/spark.sql\n",
        table: spark_table,
        view: "CREATE OR REPLACE TEMPORARY VIEW",
    },
];

fn duckdb_table(row: &TableRow) -> String {
    let types = PARTITION.map(|(name, kind)| {
        let kind = if kind == Kind::Day { "DATE" } else { "VARCHAR" };
        format!("'{name}': {kind}")
    });
    format!(
        "CREATE OR REPLACE VIEW {} AS SELECT * FROM read_parquet('{}/*/*/*.parquet', union_by_name = true, \
         hive_partitioning = true, hive_types = {{{}}});",
        sql_name(row.name),
        row.name,
        types.join(", ")
    )
}

fn spark_table(row: &TableRow) -> String {
    let kind = |kind| match kind {
        Kind::Text => "STRING",
        Kind::Int => "BIGINT",
        Kind::Time => "TIMESTAMP",
        Kind::Day => "DATE",
    };
    let own = row.columns.iter().map(|column| (column.name, column.kind));
    let columns: Vec<String> =
        own.chain(PARTITION).map(|(name, of)| format!("{name} {}", kind(of))).collect();
    format!(
        "CREATE OR REPLACE TEMPORARY VIEW {} ({}) USING parquet OPTIONS (path '{}');",
        sql_name(row.name),
        columns.join(", "),
        row.name
    )
}

/// Writes the scripts into a data set, unless they are there.
///
/// # Errors
/// A file cannot be written.
pub fn write_views(dir: &Path) -> Result<(), FleetError> {
    let dir = dir.join(DIR);
    let at = |error| FleetError::Write(dir.clone(), error);
    fs::create_dir_all(&dir).map_err(at)?;
    for view in &VIEWS {
        replace(&dir, &format!("{}.sql", view.name), view.sql).map_err(at)?;
    }
    for engine in &ENGINES {
        replace(&dir, engine.file, &script(engine)).map_err(at)?;
    }
    Ok(())
}

fn script(engine: &EngineRow) -> String {
    let mut text = engine.head.to_owned();
    for row in &TABLES {
        let _ = writeln!(text, "\n-- {}\n{}", row.help, (engine.table)(row));
    }
    for view in &VIEWS {
        let _ = writeln!(text, "\n{} {} AS\n{};", engine.view, view.name, view.sql.trim_end());
    }
    text
}

/// Replaces a file at once, if it differs.
fn replace(dir: &Path, name: &str, text: &str) -> io::Result<()> {
    let path = dir.join(name);
    if fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    let temporary = dir.join(format!("_{name}"));
    fs::write(&temporary, text)?;
    fs::rename(temporary, path)
}
