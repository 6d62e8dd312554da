//! From a dump to the rows of a data set.

mod cells;
mod ending;
mod identity;
mod rows;
mod signature;

pub use cells::{Cell, DumpRows};
pub use identity::content;
pub use rows::{DumpFacts, rows};
