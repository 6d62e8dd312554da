#![doc = include_str!("../README.md")]
//!
//! ## Inside
//!
//! [`source`] opens bytes, [`ring`] finds the rings in them, [`events`] decodes those. [`reading`] is the loop between a source of events
//! and a [`report`]. [`recording_builder`] is the report that makes a [`recording`]. [`answer`] folds the end of a thread
//! to rows, and [`page`] is a recording for a browser.

#![deny(unsafe_code)]

pub mod answer;
pub mod calls;
pub mod context;
pub mod defmt;
mod dumps;
pub mod events;
pub mod map;
pub mod model;
pub mod notes;
mod options;
pub mod origin;
pub mod pack;
pub mod page;
pub mod reading;
pub mod recording;
pub mod recording_builder;
pub mod report;
pub mod ring;
pub mod runs;
pub mod selection;
pub mod source;
pub mod tasks;
pub mod text;
pub mod tokens;
pub mod trace;
pub mod typed;
pub mod values;

pub use dumps::{Dump, DumpReader, RanStatement, read_recording};
pub use notes::ExitCode;
pub use options::{EntryChoice, MapPlaces, ProgramPlaces, ReadOptions, StartProgress};
