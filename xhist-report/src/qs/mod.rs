//! The stream of a QS target: bytes to records, and records to QSPY's lines, Matlab rows and sequence diagrams. No files, no
//! terminal: those are in `qspy`, and in whatever else listens to a [`Decoder`].

mod colour;
mod decoded;
mod decoder;
mod dic_file;
mod dictionary;
mod element;
mod fields;
mod known;
mod matlab;
mod old;
mod plain;
mod plan;
mod put;
mod receive;
mod request;
mod sequence;
mod signals;
mod special;
mod take;
mod target;
mod text;

pub use colour::{Palette, push as push_coloured};
pub use decoded::{Decoded, Shape};
pub use decoder::{CUT_FIRST, CUT_LAST, Decoder, Event, Listener};
pub use dic_file::{Wrong, read as read_dictionaries, write as write_dictionaries};
pub use fields::tell as tell_fields;
pub use known::Known;
pub use matlab::push_row as push_matlab_row;
pub use receive::{Fault, Jump, Raw, Received, Receiver, Trouble};
pub use request::Request;
pub use sequence::Sequence;
pub use target::Target;
pub use text::{Class, Lines, Text};
