//! The import graph of a crate, read from its sources: which file uses which other one.

mod arrows;
mod modules;

pub use arrows::Arrows;
pub use modules::{Features, Modules};
pub(crate) use modules::{attributes, is_left_out};

/// The crates, each in builds that together have all its files.
pub const BUILDS: &[(&str, Features)] = &[
    ("qs-core", &[]),
    ("xhist-rt", &[("trace", true), ("std", true)]),
    ("xhist-rt", &[("trace", true), ("std", false)]),
    ("xhist-rt", &[("trace", false)]),
    ("xhist-instrument", &[]),
    ("qs-host", &[]),
    ("xhist-history", &[]),
    ("xhist-report", &[]),
    ("cargo-xhist", &[]),
    ("xhist-fleet", &[]),
];
