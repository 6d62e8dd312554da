//! What acts on all rings of the process: triggers, clearing, and a file that is named late.

pub(crate) mod clear;
pub(crate) mod late_file;
pub(crate) mod trigger;
