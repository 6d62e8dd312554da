//! The answer to a failure: the last statements of a thread up to its panic or signal, with functions and source text, and loops,
//! calls and packages folded.

mod activations;
mod code;
mod content;
mod holes;
mod rounds;
mod tail;
#[cfg(test)]
mod tests;
mod view;

pub use code::{Code, ListedStatement};
pub use holes::{PanicRows, PlaceOfPanic, add as add_holes};
pub use tail::{Ending, Replay, SecondPanic, Tail, ThreadEnd};
pub use view::{Hole, Row, RowKind, Wanted};
