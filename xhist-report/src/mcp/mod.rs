//! `mcp`: a server of the Model Context Protocol on standard input and output, for agents. Its tools are commands of this
//! program, which it starts; it reads no history itself.

mod cargo_args;
mod child;
mod places;
mod protocol;
mod requests;
mod serve;
mod tools;

pub use child::Program;
pub use requests::Requests;
pub use serve::serve;

/// Bytes of an answer at most.
const ANSWER: usize = 8 << 10;
