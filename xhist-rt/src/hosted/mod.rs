//! The hosted recorder: one ring per thread, kept in memory or in a file.
//!
//! From the lowest room up: `system` is the operating system, `setup` what the environment asks for, `timing` clock
//! and ticker. `crate::slow_path` writes rings on top of these. `rings` owns the rings. The files here are what a
//! program sets up or calls. `upcalls` is what lower rooms ask of higher ones.

#[allow(unsafe_code, reason = "a static in a section of the loader's")]
mod auto;
#[allow(unsafe_code, reason = "two exported names, for C and for debuggers")]
mod export;
mod init;
#[allow(unsafe_code)]
mod link;
mod panic;
mod recorder;
mod rings;
pub(crate) mod setup;
#[allow(unsafe_code)]
mod spawn;
#[allow(unsafe_code)]
mod syscall;
pub(crate) mod system;
pub(crate) mod timing;
pub(crate) mod upcalls;

pub(crate) use crate::fast_path::{entry, own, record, target};
pub use crate::slow_path::flush;
pub(crate) use crate::slow_path::{append_record, at};
pub(crate) use crate::task::RecordedTask as Task;
pub(crate) use crate::value::types::add_build;
pub use export::{xhist_logdev, xhist_write};
pub(crate) use init::set_map_hash;
pub use init::{Init, init};
pub use link::{get_block, get_byte};
pub use rings::clear::clear;
pub(crate) use rings::slots::{set_entries_only, set_values};

pub(crate) use rings::trigger::{apply_filters, start_at, stop_at};
pub use rings::trigger::{start, stop, stop_after, stop_on_record};
pub(crate) use setup::config::longest_record;

pub(crate) use timing::stamp::set_time;
