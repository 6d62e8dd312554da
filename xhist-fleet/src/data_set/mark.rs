//! The file that marks a directory as a data set, and names the version of its schema.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::FleetError;
use crate::schema;

/// Its name.
pub const FILE: &str = "xhist-fleet.json";
/// Its name while it is written.
const TEMPORARY: &str = "_xhist-fleet.json";

#[derive(Deserialize, Serialize)]
struct Mark {
    /// Version of the schema.
    schema: u32,
    /// Version of the program that made the data set.
    tool: String,
}

/// Checks that a directory is a data set of this version.
pub fn check(dir: &Path) -> Result<(), FleetError> {
    let text = fs::read_to_string(dir.join(FILE)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => FleetError::NoDataSet(dir.to_owned()),
        _ => FleetError::Read(dir.join(FILE), error),
    })?;
    let mark: Mark =
        serde_json::from_str(&text).map_err(|error| FleetError::Read(dir.join(FILE), error.into()))?;
    if mark.schema > schema::VERSION {
        return Err(FleetError::Newer(dir.to_owned(), mark.schema));
    }
    Ok(())
}

/// Marks a directory.
pub fn write(dir: &Path) -> io::Result<()> {
    let mark = Mark { schema: schema::VERSION, tool: env!("CARGO_PKG_VERSION").to_owned() };
    let temporary = dir.join(TEMPORARY);
    let mut file = File::create(&temporary)?;
    writeln!(file, "{}", serde_json::to_string(&mark)?)?;
    file.sync_all()?;
    fs::rename(temporary, dir.join(FILE))
}
