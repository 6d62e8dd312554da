//! Recorded values as reports show them: names from the map, types and text from the program's file.
//!
//! The file is looked for when the first value is shown. Without it, or where it is of another build, a value is shown as
//! bytes.

mod find;
mod reader;
pub mod types;

pub use reader::ValueReader;
