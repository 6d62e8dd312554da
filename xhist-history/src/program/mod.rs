//! The program that recorded: its map, the texts of its sources, and its types.

pub mod map;
pub mod text;
pub mod tokens;
pub mod values;
