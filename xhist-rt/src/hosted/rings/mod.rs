//! The rings of the process: which thread has which ring, forked children, and triggers, which act on
//! all rings.

pub(crate) mod clear;
pub(crate) mod fork;
pub(crate) mod late_file;
#[allow(unsafe_code)]
pub(crate) mod threads;
pub(crate) mod trigger;
