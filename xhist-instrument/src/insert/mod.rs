//! Inserts calls of the recorder into a text: their text, and their places.

pub(crate) mod shape;
pub(crate) mod splice;
