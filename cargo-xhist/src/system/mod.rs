//! What is of an operating system. The rest of this crate is the same on each.
//!
//! `unix` and `windows` have the same names. The other files serve both; those on texts and numbers are
//! tested everywhere.

mod arrived;
mod exceptions;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub(crate) mod place;

pub(crate) use self::exceptions::{code_of as exception_code, is_exception};
#[cfg(unix)]
pub(crate) use self::unix::*;
#[cfg(windows)]
pub(crate) use self::windows::*;
