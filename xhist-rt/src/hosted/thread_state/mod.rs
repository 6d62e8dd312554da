//! What a thread knows of its ring: cursor, limit, track and signal handlers, and how the thread finds them.
//!
//! `x86_64`, `x86_64_windows`, `aarch64` and `portable` each find the [`ThreadState`] of the calling thread. A statement reads and
//! writes it directly, see `crate::hosted::fast_path`; all other code uses [`ThisThread`] and [`TrackPtr`].

mod access;
#[cfg_attr(all(target_arch = "x86_64", target_os = "linux", not(feature = "portable")), path = "x86_64.rs")]
#[cfg_attr(all(target_arch = "aarch64", target_os = "linux", not(feature = "portable")), path = "aarch64.rs")]
#[cfg_attr(
    all(target_arch = "x86_64", target_os = "windows", not(feature = "portable")),
    path = "x86_64_windows.rs"
)]
#[cfg_attr(
    any(
        feature = "portable",
        not(any(
            all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"),
            all(target_arch = "x86_64", target_os = "windows")
        ))
    ),
    path = "portable.rs"
)]
mod cpu;
mod state;
#[cfg(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_os = "linux",
    not(feature = "portable")
))]
mod storage;

pub(crate) use access::{ThisThread, TrackPtr, is_off};
pub(crate) use cpu::tls;
pub(crate) use state::{Handlers, Panic, Pending, Printing, SCRATCH, TAKEN, ThreadState, Track};
