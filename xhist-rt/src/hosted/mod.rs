//! The hosted recorder: one ring per thread, found through a table, kept in memory or in a file.
//!
//! The hot path is [`crate::hot`]'s. `threads` owns the rings, `settings` and `config` are what the environment asks for,
//! `file` is where the rings are kept; `sys`, `ring_file` and `cut` are the operating system. `export`, `init` and `panic`
//! are what a program may set up on top.

#[allow(unsafe_code, reason = "a static in a section of the loader's")]
mod auto;
mod between;
mod clock;
mod config;
#[allow(unsafe_code)]
mod cut;
#[allow(unsafe_code, reason = "two exported names, for C and for debuggers")]
mod export;
mod file;
mod init;
#[allow(unsafe_code)]
mod late_file;
mod layout;
#[allow(unsafe_code)]
mod link;
mod message;
#[allow(unsafe_code)]
#[allow(dead_code, reason = "rings of words are not written yet")]
mod mirror;
mod names;
mod panic;
#[allow(unsafe_code, reason = "system calls of a thread that the C library does not know")]
mod raw;
#[allow(unsafe_code)]
mod ring_file;
mod settings;
#[allow(unsafe_code)]
#[allow(dead_code, reason = "words are not written yet")]
mod signals;
#[allow(unsafe_code)]
mod sys;
mod thread;
#[allow(unsafe_code)]
mod threads;
#[allow(unsafe_code, reason = "words of other threads")]
#[cfg_attr(not(test), allow(dead_code, reason = "the recorder of words registers its threads"))]
mod ticker;
mod trigger;

pub(crate) use crate::hot::{append_record, at, record};
pub use export::{xhist_logdev, xhist_write};
pub use init::{Init, init};
pub use link::{flush, get_block, get_byte};
pub(crate) use threads::{
    first, first_record, is_unseen_child, leave_parent, longest_record, set_map_hash, set_time, statement,
};
pub(crate) use trigger::{count, heed_filters, is_plain, is_stopped, on_record, start_at, stop_at};
pub use trigger::{start, stop, stop_after, stop_on_record};
