//! Recorded values as reports show them: names from the map, types and text from the program's file. And what else that file is
//! read for: the lines of a panic's frames, and the names of interrupts.
//!
//! The file is looked for when the first value is shown. Without it, or where it is of another build, a value is shown as
//! bytes.

mod find;
mod frames;
mod interrupts;
mod reader;
pub mod types;

pub use frames::{PanicFrames, frames};
pub use interrupts::{name_interrupts, name_interrupts_by_program};
pub use reader::ValueReader;
