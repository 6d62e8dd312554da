#![doc = include_str!("../README.md")]
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![deny(unsafe_code)]

mod bits;
mod hooks;
pub mod qs;
mod shared;
pub mod trace;
#[cfg(all(feature = "trace", feature = "std"))]
#[doc(hidden)]
pub use hooks::unoptimised;
pub use hooks::{a, ae, at, c, ce, e, hash_from_hex, m, me, p, pe, s, start_at, stop_at};

#[cfg(all(feature = "trace", feature = "std"))]
#[allow(unsafe_code)]
mod hot;
#[cfg(feature = "trace")]
#[allow(unsafe_code)]
mod ring;
#[cfg(feature = "trace")]
mod size;
#[cfg(feature = "trace")]
mod sync;
#[cfg(all(feature = "trace", feature = "std"))]
#[allow(unsafe_code)]
mod words;

#[cfg(all(feature = "trace", feature = "std"))]
mod hosted;
#[cfg(all(feature = "trace", feature = "std"))]
use hosted as recorder;
#[cfg(all(feature = "trace", feature = "std"))]
pub use hosted::{Init, init, start, stop, stop_after, stop_on_record, xhist_logdev, xhist_write};

#[cfg(all(feature = "trace", not(feature = "std")))]
#[allow(unsafe_code)]
mod bare;
#[cfg(all(feature = "trace", not(feature = "std")))]
use bare as recorder;
#[cfg(all(feature = "trace", feature = "keep", not(feature = "std")))]
pub use bare::export_earlier;
#[cfg(all(feature = "trace", not(feature = "std")))]
pub use bare::{RING_SIZE, export, interrupt, last, start, stop};

#[cfg(not(feature = "trace"))]
mod off;
#[cfg(not(feature = "trace"))]
use off as recorder;
#[cfg(not(feature = "trace"))]
pub use off::*;

#[cfg(all(feature = "std", not(unix)))]
compile_error!(
    "the `std` feature of xhist-rt needs a Unix system; without it the bare-metal ring works anywhere"
);
