//! Unix: Linux, macOS, FreeBSD. What only one of them has is marked where it is.

mod cut;
mod environment;
pub(crate) mod errors;
mod files;
mod fork;
mod masks;
pub(crate) mod memory;
mod messages;
pub(crate) mod pages;
mod process;
pub(crate) mod ring_file;
mod signals;
mod spawn;
mod syscall;
mod threads;
mod time;
mod weak;
mod writes;

pub(crate) use cut::forget_all as forget_cuts;
pub(crate) use environment::{
    for_each_variable, getenv, has_more_rights_than_its_caller, is_absolute, program_name, working_directory,
};
pub(crate) use errors::{BUSY, keeping_errno, last_error};
pub(crate) use files::{rename, write_all};
pub(crate) use fork::{at_fork_in_child, map_wiped_on_fork, unmap_wiped};
pub(crate) use masks::{EXPORT_SIGNAL, on_signal, with_signals_blocked};
pub(crate) use memory::{map_anonymous, map_with_end, page_size, unshare};
pub(crate) use messages::{remember_stderr, write_to_stderr};
pub(crate) use process::{at_exit, before_main, parent, pid, stay_loaded};
pub(crate) use ring_file::{RingFile, may_be_replaced};
pub(crate) use signals::{catch_faults, context, foreign_handlers, is_foreign};
pub(crate) use threads::{
    call_at_end, has_signal_stack, has_thread, is_main_thread, on_large_stack, thread_name, tid,
};
pub(crate) use time::{coarse_nanos, kernel_clock, may_read_counter, nanos, sleep, wall_nanos};
