//! The protocol as its users see it: the wire format, rings and the pages that are made from its tables. Each module is one
//! question.

mod c_records;
mod packed;
mod records;
mod records_page;
mod roundtrip;
mod wire_format;
mod words;
