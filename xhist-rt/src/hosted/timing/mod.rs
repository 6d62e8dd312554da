//! When threads roll over, and which time they stamp then.

pub(crate) mod pace;
#[allow(unsafe_code, reason = "calls a function that the program gave")]
pub(crate) mod stamp;
#[allow(unsafe_code, reason = "reads and writes words of other threads")]
pub(crate) mod ticker;
