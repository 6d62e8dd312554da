#![doc = include_str!("../README.md")]
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![cfg_attr(feature = "constant", feature(const_eval_select, core_intrinsics), allow(internal_features))]
#![deny(unsafe_code)]

mod bits;
mod filters;
mod hooks;
mod inert;
pub mod qs;
mod shared;
pub mod trace;

mod pointer;
#[cfg(feature = "trace")]
mod record_size;
#[cfg(feature = "trace")]
mod ring_size;
#[cfg(feature = "trace")]
mod sync;
#[cfg(feature = "trace")]
#[doc(hidden)]
#[allow(unsafe_code)]
pub mod value;

// One of these records.
#[cfg(all(feature = "trace", not(feature = "std")))]
#[allow(unsafe_code)]
mod bare;
#[cfg(all(feature = "trace", feature = "std"))]
mod hosted;

#[cfg(all(feature = "trace", not(feature = "std")))]
use bare as recorder;
#[cfg(all(feature = "trace", feature = "std"))]
use hosted as recorder;
#[cfg(not(feature = "trace"))]
use inert as recorder;

#[cfg(all(not(feature = "trace"), feature = "std"))]
pub use std::{dbg, eprint, eprintln, print, println};

#[doc(hidden)]
pub use hooks::inlined;
#[cfg(not(all(feature = "trace", debug_assertions)))]
#[doc(hidden)]
pub use hooks::inlined::*;
#[cfg(feature = "trace")]
#[doc(hidden)]
pub use hooks::unoptimised;
// Names that are imported explicitly hide those of the glob.
#[cfg(all(feature = "trace", debug_assertions))]
#[doc(hidden)]
pub use hooks::unoptimised::*;
#[doc(hidden)]
pub use hooks::{Task, at, hash_from_hex, long, m, me, mev, mv, r, short, start_at, stop_at, t};
#[doc(hidden)]
pub use hooks::{v, vg, vr, vrg, vt, vtg, vw, vwg, watch};
// Features only add: each name exists in every build, and is inert in those that have no use for it.
pub use recorder::{Init, clear, init, stop_after, stop_on_record, xhist_logdev, xhist_write};
pub use recorder::{RING_SIZE, export, export_earlier, interrupt, last};
pub use recorder::{flush, get_block, get_byte, start, stop};

#[cfg(all(feature = "std", not(any(unix, windows))))]
compile_error!(
    "the `std` feature of xhist-rt needs Unix or Windows; without it the bare-metal ring works anywhere"
);
