//! Records as text: QSPY's lines in its colours, Matlab rows, sequence diagrams, and fields by name.

pub mod fields;
pub mod lines;
pub mod matlab;
pub mod palette;
pub mod sequence;
