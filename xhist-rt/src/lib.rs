#![doc = include_str!("../README.md")]
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![deny(unsafe_code)]

mod bits;
mod filters;
mod hooks;
pub mod qs;
mod shared;
pub mod trace;
#[cfg(all(feature = "trace", feature = "std"))]
#[doc(hidden)]
pub use hooks::unoptimised;
#[doc(hidden)]
pub use hooks::{
    Task, a, ae, at, c, ce, e, hash_from_hex, m, me, mev, mv, p, pe, r, s, start_at, stop_at, t,
};
#[doc(hidden)]
pub use hooks::{v, vg, vt, vtg, vw, vwg, watch};

#[cfg(all(feature = "trace", feature = "std"))]
#[allow(unsafe_code)]
mod executed;
#[cfg(all(feature = "trace", feature = "std"))]
#[allow(unsafe_code)]
mod fast_path;
#[cfg(feature = "trace")]
mod record_size;
#[cfg(feature = "trace")]
mod ring_size;
#[cfg(all(feature = "trace", feature = "std"))]
#[allow(unsafe_code)]
mod slow_path;
#[cfg(feature = "trace")]
mod sync;
#[cfg(all(feature = "trace", feature = "std"))]
mod task;
#[cfg(all(feature = "trace", feature = "std"))]
#[allow(unsafe_code)]
mod thread_state;
#[cfg(feature = "trace")]
#[doc(hidden)]
#[allow(unsafe_code)]
pub mod value;
#[cfg(all(feature = "trace", feature = "std"))]
#[allow(unsafe_code)]
mod words;

#[cfg(not(all(feature = "trace", feature = "std")))]
mod no_task;

#[cfg(all(feature = "trace", feature = "std"))]
mod hosted;
#[cfg(all(feature = "trace", feature = "std"))]
use hosted as recorder;
#[cfg(all(feature = "trace", feature = "std"))]
pub use hosted::{Init, clear, init, stop_after, stop_on_record, xhist_logdev, xhist_write};

#[cfg(all(feature = "trace", not(feature = "std")))]
#[allow(unsafe_code)]
mod bare;
#[cfg(all(feature = "trace", not(feature = "std")))]
use bare as recorder;
#[cfg(all(feature = "trace", not(feature = "std")))]
pub use bare::{RING_SIZE, export, export_earlier, interrupt, last};

#[cfg(not(feature = "trace"))]
mod off;
#[cfg(not(feature = "trace"))]
use off as recorder;

// Features only add: each name exists in every build, and is inert in those that have no use for it.
#[cfg(not(all(feature = "trace", not(feature = "std"))))]
mod not_bare;
#[cfg(not(all(feature = "trace", feature = "std")))]
mod not_hosted;
#[cfg(not(all(feature = "trace", not(feature = "std"))))]
pub use not_bare::{RING_SIZE, export, export_earlier, interrupt, last};
#[cfg(not(all(feature = "trace", feature = "std")))]
pub use not_hosted::{Init, clear, init, stop_after, stop_on_record, xhist_logdev, xhist_write};
pub use recorder::{flush, get_block, get_byte, start, stop};

#[cfg(all(feature = "std", not(unix)))]
compile_error!(
    "the `std` feature of xhist-rt needs a Unix system; without it the bare-metal ring works anywhere"
);
