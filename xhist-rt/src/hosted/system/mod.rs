//! The operating system as the recorder uses it. No file here knows the layout of a ring, and only files here name a system.
//!
//! [`sys`] is what a new system must supply: `unix` has it for Linux, macOS and FreeBSD, `windows` for Windows, a file a concern.
//! The other files are the same on each of them. docs/design/porting.md says what is lost without each part.

#[allow(unsafe_code, reason = "the unwinder and the loader call functions in C")]
#[cfg_attr(target_os = "linux", path = "unix/backtrace.rs")]
#[cfg_attr(not(target_os = "linux"), path = "no_backtrace.rs")]
pub(crate) mod backtrace;
mod callbacks;
#[allow(unsafe_code, reason = "instructions that read the counter")]
pub(crate) mod counter;
#[allow(unsafe_code, reason = "the same names as where there is one")]
#[cfg_attr(
    all(
        target_os = "linux",
        target_pointer_width = "64",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ),
    path = "unix/helper.rs"
)]
#[cfg_attr(
    not(all(
        target_os = "linux",
        target_pointer_width = "64",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )),
    path = "no_helper.rs"
)]
pub(crate) mod helper;
pub(crate) mod helper_types;
#[allow(unsafe_code)]
pub(crate) mod lanes;
#[allow(unsafe_code)]
pub(crate) mod mapped;
pub(crate) mod message;
#[allow(unsafe_code)]
pub(crate) mod mirror;
pub(crate) mod refusal;
pub(crate) mod sandbox;
#[allow(unsafe_code)]
pub(crate) mod scratch;
pub(crate) mod shared_state;
#[cfg_attr(unix, path = "unix/mod.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
#[allow(unsafe_code, reason = "calls of the system")]
pub(crate) mod sys;
#[allow(unsafe_code)]
pub(crate) mod written;

pub(crate) use callbacks::{Callbacks, set_callbacks};
