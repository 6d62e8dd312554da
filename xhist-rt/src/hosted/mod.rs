//! The hosted recorder: one ring per thread, kept in memory or in a file.
//!
//! From the lowest room up: `words` is what a ring holds, `system` the operating system, `thread_state` what a thread knows
//! of its ring, `setup` what the environment asks for, `slots` the rings that there are, `timing` clock and ticker,
//! `acquire` makes rings, `track` is how a thread changes its own, and `threads` how threads and children begin and end.
//! `slow_path` writes rings on top of these, `fast_path` a statement alone. `rings` acts on all rings. The other files are
//! what a program sets up or calls.

#[allow(unsafe_code)]
pub(crate) mod acquire;
#[allow(unsafe_code, reason = "a static in a section of the loader's")]
mod auto;
#[allow(unsafe_code)]
pub(crate) mod executed;
#[allow(unsafe_code, reason = "two exported names, for C and for debuggers")]
mod export;
#[allow(unsafe_code)]
pub(crate) mod fast_path;
mod init;
#[allow(unsafe_code)]
mod link;
mod panic;
mod rings;
pub(crate) mod setup;
pub(crate) mod slots;
pub(crate) mod slow_path;
pub(crate) mod system;
mod task;
#[allow(unsafe_code)]
pub(crate) mod thread_state;
#[allow(unsafe_code)]
pub(crate) mod threads;
pub(crate) mod timing;
pub(crate) mod track;
#[allow(unsafe_code)]
pub(crate) mod words;

pub(crate) use crate::hosted::fast_path::{entry, own, record, reference, target};
pub(crate) use crate::hosted::slow_path::{append_record, at};
pub(crate) use crate::hosted::task::RecordedTask as Task;
pub(crate) use crate::inert::newest;
pub use crate::inert::{RING_SIZE, export, export_earlier, interrupt, last};
pub(crate) use crate::value::types::add_build;
pub use export::{xhist_logdev, xhist_write};
pub(crate) use init::set_map_hash;
pub use init::{Init, init};
pub use link::{get_block, get_byte};
pub use rings::clear::clear;
pub(crate) use slots::{set_entries_only, set_values};

pub(crate) use rings::trigger::{apply_filters, start_at, stop_at};
pub use rings::trigger::{start, stop, stop_after, stop_on_record};
pub(crate) use setup::config::longest_record;
pub use threads::flush;
pub(crate) use timing::stamp::set_time;
