//! The target: its version and sizes, and the names that it sent or that a dictionary file has.

pub mod dictionary;
pub mod dictionary_file;
pub mod signals;
pub mod target;
pub mod target_symbols;
