//! What is of an operating system. The rest of this crate is the same on each.
//!
//! `unix` and `windows` have the same names. The other files are plain functions on texts and numbers, tested everywhere.

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
