#![doc = include_str!("../README.md")]
//!
//! ## Inside
//!
//! [`source`] opens bytes, [`ring`] finds the rings in them, [`events`] decodes those with the names of the [`program`].
//! [`reading`] is the loop between a source of events and a report of them. One of these reports makes a [`recording`].
//! [`answer`] folds the end of a thread to rows, and [`page`] is a recording for a browser.

#![deny(unsafe_code)]

pub mod answer;
pub mod calls;
pub mod events;
pub mod model;
pub mod notes;
pub mod options;
pub mod origin;
pub mod page;
pub mod program;
pub mod reading;
pub mod recording;
pub mod ring;
pub mod runs;
pub mod source;
pub mod tasks;

pub use notes::ExitCode;
pub use options::{EntryChoice, MapPlaces, ProgramPlaces, ReadOptions, StartProgress};
pub use reading::dumps::{Dump, DumpReader, RanStatement, read_recording};
