//! The ring in memory: a header that can be found by scanning, then frames.
//!
//! [`Header`] is the layout, [`find`] scans an image for headers, [`repair`] reads a damaged one, and [`Reader`] yields the
//! history of one ring from oldest to newest. All of them read plain bytes: of a live ring, a file, a core file, or a dump
//! of a machine with the other byte order.

pub mod executed;
mod find;
mod flags;
mod header;
mod item;
pub mod process_start;
mod raw;
mod reader;
mod repair;
mod repetition;
pub mod spectrum;
mod state;

pub use find::{FoundHeader, find};
pub use flags::Flags;
pub use header::{
    AHEAD, BARE_HEADER_LEN, BYTE_ORDER_MARK, CLEARED_OFFSET, HOSTED_HEADER_LEN, Header, HeaderError,
    LAYOUT_VERSION, MAGIC, MAX_SIZE, MIN_SIZE, MOVED_OFFSET, NAME_LEN, NEWEST_VERSION, OLDEST_VERSION,
    PAGES_OF_WORDS, PAUSES_OFFSET, PID_OFFSET, PROLOGUE_AT, PROLOGUE_OFFSET, SPARE_NUMBER, START_WALL_OFFSET,
    Status, WORDS_HEADER_LEN, data_room, frame_room,
};
pub use item::Item;
pub use raw::check_word;
pub use reader::Reader;
pub use repair::{HeaderDamage, repair};
pub use repetition::{LineRange, Repetition};
pub use state::{Causes, CheckedPosition, Folded, MOVED_UNITS, PAUSES, Pause, Shown, State, Trim, WordsPart};
