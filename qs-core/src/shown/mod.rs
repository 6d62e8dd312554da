//! Text from programs and files as it is shown: safe for a terminal, and as a word for a shell. Paths, names of threads and
//! messages in dumps are not ours, so they may hold anything.

mod quoted;
mod visible;

pub use quoted::{Quoted, QuotedPath};
pub use visible::{Visible, is_visible};
