//! The origin of a value: from a name at a step back to where the value was made, statement by statement.
//!
//! Which statements ran and which call was in which is recorded; what a statement does is read in its source text. Values are
//! recorded with `--values` only. What is known from the text alone has no value here.

mod changes;
mod closures;
mod follow;
mod frames;
mod quest;
mod result;
mod returns;
mod search;
mod sources;
mod start;
mod std_methods;
mod syntax;
mod value_text;

pub use result::{HopKind, Operand, OriginEnd, OriginHop, ValueOrigin};
pub use start::{assertion_sides, origin_of};
