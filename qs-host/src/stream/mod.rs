//! Decodes a stream: receives frames, decodes their records and applies what records change.

mod content_layouts;
pub mod decoded;
pub mod decoder;
pub mod element;
pub mod field_reader;
mod fixed_layout;
pub mod plan;
pub mod receiver;
mod version_changes;
