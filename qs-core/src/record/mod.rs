//! The record layer: which ids there are, what stands in each, and the records that are xhist's own.

pub mod element;
mod field;
pub mod packed;
mod table;
mod target_info;
mod xhist;

pub use field::{Fields, Fun, Kind, Obj, Sig, Sizes, Value};
pub use table::*;
pub use target_info::{BuildTime, TargetInfo};
pub use xhist::{EventKind, RECORD_BASE, Statement, XhistRecord, ids};
