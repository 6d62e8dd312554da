//! The host side of QS: decodes a stream into records, prints them as QSPY does, and makes requests to a target.
//!
//! `symbols` below `stream` below `text`; `control` and `qspy` are above them. Of the rest of the crate, this room imports `console`,
//! `exit_code` and `model` only (tested).

pub mod control;
mod format_number;
pub mod qspy;
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
pub use symbols::target_symbols::TargetSymbols;
pub use text::fields::fill_record;
pub use text::lines::{LineClass, LineFormatter, LineSink};
pub use text::matlab::push_row as push_matlab_row;
pub use text::palette::{Palette, push as push_coloured};
pub use text::sequence::Sequence;
