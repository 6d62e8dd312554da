//! The record layer: which ids there are, and the records that are xhist's own.

mod id;
pub mod packed;
mod xhist;

pub use id::{Group, RECORDS, RecordInfo, USER_BASE, info};
pub use xhist::{EventKind, RECORD_BASE, Statement, XhistRecord, ids};
