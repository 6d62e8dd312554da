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
mod foreign;
mod fork;
mod init;
mod late_file;
mod layout;
#[allow(unsafe_code)]
mod link;
mod message;
#[allow(unsafe_code)]
mod mirror;
mod names;
mod panic;
#[allow(unsafe_code, reason = "system calls of a thread that the C library does not know")]
mod raw;
#[allow(unsafe_code)]
mod ring_file;
mod settings;
#[allow(unsafe_code)]
mod signals;
#[allow(unsafe_code)]
mod slots;
#[allow(unsafe_code)]
mod spare;
#[allow(unsafe_code, reason = "calls a function that the program gave")]
mod stamp;
#[allow(unsafe_code)]
mod sys;
#[allow(unsafe_code)]
mod syscall;
mod thread;
#[allow(unsafe_code)]
mod threads;
#[allow(unsafe_code, reason = "words of other threads")]
mod ticker;
mod trigger;

pub(crate) use crate::hot::{append_record, at, entry, record};
pub use export::{xhist_logdev, xhist_write};
pub(crate) use foreign::look_at_one;
pub(crate) use fork::{is_unseen_child, leave_parent, words_left_behind};
pub use init::{Init, init};
pub use link::{flush, get_block, get_byte};
pub(crate) use signals::{
    LANES, Lanes, Recorder as Signals, Words, frontier, set_recorder as set_signals, turn_on_lane,
};
pub(crate) use slots::{lane, memory_for_handlers, set_entries_only, set_map_hash};
pub(crate) use stamp::{by_count, by_counter, now, set_time};
pub(crate) use sys::while_signals_wait;
pub(crate) use threads::{
    count_lost, count_lost_words, first, first_record, leave_scratch, longest_record, scratch,
    track_in_handler,
};
pub(crate) use ticker::on_turn;
pub(crate) use trigger::{
    Pace, heed_filters, is_record_awaited, is_running, is_stopped, on_record, pace, spend, start_at, stop_at,
};
pub use trigger::{start, stop, stop_after, stop_on_record};
