//! The operating system as the recorder uses it: memory, files, threads, signals and messages. No file here knows the layout of a ring.

#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "the unwinder and the loader call functions in C")]
pub(crate) mod backtrace;
#[allow(unsafe_code)]
pub(crate) mod cut;
#[allow(unsafe_code)]
pub(crate) mod mapped;
pub(crate) mod message;
#[allow(unsafe_code)]
pub(crate) mod mirror;
#[allow(unsafe_code, reason = "system calls of a thread that the C library does not know")]
pub(crate) mod raw;
#[allow(unsafe_code)]
pub(crate) mod ring_file;
pub(crate) mod sandbox;
pub(crate) mod shared_state;
#[allow(unsafe_code)]
pub(crate) mod signals;
#[allow(unsafe_code)]
pub(crate) mod sys;
pub(crate) mod thread;
pub(crate) mod weak;
