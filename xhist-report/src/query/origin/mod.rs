//! The origin of a value as it is printed: a line for each statement that passed it on, and how the way ends.

mod json;
mod text;

pub use json::print as print_json;
pub use text::{OriginLook, WITH_VALUES, print as print_text, print_brief};
