//! The slots of the process, one for each thread with a ring: where the rings are, in memory and in a file, what all
//! rings have in common, and what no ring has.

pub(crate) mod foreign;
pub(crate) mod layout;
#[allow(unsafe_code)]
pub(crate) mod spare;
#[allow(unsafe_code)]
pub(crate) mod spectra;
#[allow(unsafe_code)]
mod table;

pub(crate) use table::*;
