#![doc = include_str!("../README.md")]
//!
//! ## Inside
//!
//! `symbols` below `stream` below `text`; `control` is above them.

#![forbid(unsafe_code)]

pub mod control;
mod format_number;
mod side_file;
mod stream;
mod symbols;
mod text;

pub use control::front_end;
pub use control::request::Request;
pub use side_file::SideFile;
pub use stream::decoded::{DecodedRecord, RecordShape};
pub use stream::decoder::{CUT_FIRST, CUT_LAST, Decoder, Listener, StreamEvent};
pub use stream::receiver::{BadFrame, Fault, RawRecord, Received, Receiver, SequenceJump};
pub use symbols::dictionary_file::{DictionaryError, read as read_dictionaries, write as write_dictionaries};
pub use symbols::target::TargetDescription;
pub use symbols::target_symbols::{OtherBuild, TargetSymbols};
pub use text::fields::{FieldValue, RecordFields};
pub use text::lines::{LineClass, LineFormatter, LineSink};
pub use text::matlab::push_row as push_matlab_row;
pub use text::palette::{Palette, push as push_coloured};
pub use text::sequence::{Sequence, SequenceError};
