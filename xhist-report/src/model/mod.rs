//! What was found, in the words of a user: rings, entries, gaps, files and lines.
//! It must not know bytes, frames or how anything is printed.

mod build;
mod coverage;
mod event;
mod hot;
mod item;
mod names;
mod ring;
mod trace;
mod visible;

pub use build::{Age, Build, Known, KnownMap, Origin, Sources};
pub use coverage::{Covered, coverage};
pub use event::{Entry, Lines, Opening, Repetition, Subject, Totals};
pub use hot::{Hot, hot};
pub use item::{Damaged, FieldValue, Gap, Item, Overtaken, Record, What};
pub use names::{BadLine, Described, Names, Place, Span};
pub use ring::Ring;
pub use trace::{Arg, Code, Severity, ToldTrace, Trace, TraceClass};
pub use visible::{count, is_visible, visible};
