//! Windows. Handlers run on threads of their own, so there are no signals; and there are no forks.

mod environment;
pub(crate) mod errors;
mod exceptions;
mod files;
pub(crate) mod memory;
mod no_forks;
mod no_signals;
pub(crate) mod pages;
mod process;
pub(crate) mod ring_file;
mod storage;
mod text;
mod threads;
mod time;

pub(crate) use environment::{
    for_each_variable, getenv, has_more_rights_than_its_caller, is_absolute, program_name, working_directory,
};
pub(crate) use errors::{BUSY, keeping_errno, last_error};
pub(crate) use exceptions::catch_faults;
pub(crate) use files::{remember_stderr, rename, write_all, write_to_stderr};
pub(crate) use memory::{map_anonymous, page_size};
pub(crate) use no_forks::{at_fork_in_child, forget_cuts, map_wiped_on_fork, unmap_wiped, unshare};
pub(crate) use no_signals::{
    EXPORT_SIGNAL, context, foreign_handlers, has_signal_stack, is_foreign, on_signal, with_signals_blocked,
};
pub(crate) use pages::map_with_end;
pub(crate) use process::{at_exit, before_main, parent, pid, stay_loaded};
pub(crate) use ring_file::{RingFile, may_be_replaced};
pub(crate) use threads::{call_at_end, has_thread, is_main_thread, on_large_stack, thread_name, tid};
pub(crate) use time::{coarse_nanos, kernel_clock, may_read_counter, nanos, sleep, wall_nanos};
