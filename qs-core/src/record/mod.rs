//! Records: their ids, their contents, and xhist's own records.

mod answers;
pub mod chunk;
mod digit;
pub mod element;
mod emit;
mod field;
mod numbers;
mod operand;
pub mod packed;
mod panic;
mod table;
mod target_info;
mod task;
pub mod trace;
pub mod value;
pub mod words;
mod xhist;

pub use answers::{PeekData, Query, QueryData};
pub use emit::{Record, emit};
pub use field::{Fields, Fun, Kind, Obj, Sig, Sizes, up_to_zero};
pub use numbers::Numbers;
pub use panic::{MOST_FRAMES, MOST_PANIC, PanicSite};
pub use table::predefined::*;
pub use table::{
    Field, Group, Layout, Piece, Predefined, RECORDS, RecordInfo, USER_BASE, info, pieces, predefined,
};
pub use target_info::{BuildTime, TargetInfo};
pub use task::{TaskMark, TaskStep};
pub use xhist::{EventKind, FILES, RECORD_BASE, Statement, XhistRecord, ids};

/// Whether a source file may have this id. Tasks and values use the others.
pub fn may_be_file(id: u16) -> bool {
    !TaskMark::FILES.contains(&id) && !value::FILES.contains(&id)
}
