//! The record layer: which ids there are, what stands in each, and the records that are xhist's own.

mod answers;
pub mod chunk;
pub mod element;
mod emit;
mod field;
mod numbers;
pub mod packed;
mod table;
mod target_info;
pub mod trace;
pub mod words;
mod xhist;

pub use answers::{PeekData, Query, QueryData};
pub use emit::emit;
pub use field::{Fields, Fun, Kind, Obj, Sig, Sizes, up_to_zero};
pub use numbers::Numbers;
pub use table::*;
pub use target_info::{BuildTime, TargetInfo};
pub use xhist::{EventKind, FILES, RECORD_BASE, Statement, XhistRecord, ids};
