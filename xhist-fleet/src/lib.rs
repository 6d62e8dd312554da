#![doc = include_str!("../README.md")]
//!
//! ## Inside
//!
//! `sources` lists dumps, `dump` makes rows of each, `data_set` writes them, and `add` is the loop between them. `engine`
//! runs SQL on the result; [`cli`] and `overview` print its answers. [`schema`] has every table and column.

#![deny(unsafe_code)]

mod add;
pub mod cli;
mod data_set;
mod dump;
mod engine;
mod error;
mod overview;
mod partition;
pub mod schema;
mod sources;
mod table;
