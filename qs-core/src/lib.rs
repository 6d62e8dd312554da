#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

pub mod filter;
pub mod frame;
pub mod inserted;
pub mod listing;
pub mod map;
pub mod record;
pub mod ring;
pub mod rx;
pub mod shown;
