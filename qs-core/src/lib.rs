#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
// Large functions that recorders do not call are `#[inline]`: they are compiled where they are called, and not for each recorder.

pub mod filter;
pub mod frame;
pub mod inserted;
pub mod listing;
pub mod map;
pub mod record;
pub mod ring;
pub mod rx;
pub mod shown;
