//! The answer to a failure: the last statements of a thread up to its panic or signal, with functions and source text, and loops,
//! calls and packages folded.

mod activations;
mod code;
mod row_text;
mod tail;
#[cfg(test)]
mod tests;
mod view;

pub use code::{Code, ListedStatement};
pub use row_text::{Sources, write_after, write_caught, write_end, write_rows};
pub use tail::{Ending, Tail, ThreadEnd};
pub use view::Wanted;
