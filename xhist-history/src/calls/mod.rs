//! The calls that recorded statements imply: which statement entered which function, and when the function was left.
//!
//! A recorder writes statements, not calls. [`Structure`] knows the bodies, loops and branches of the code and the names
//! that each statement calls; [`CallStack`] follows the statements of one thread and keeps its stack of activations.
//! `docs/calls.md` lists the rules and their limits.

mod activation;
mod after_panic;
mod callee;
mod caller;
mod derived;
mod descent;
mod entry;
mod futures;
mod levels;
#[cfg(any(test, feature = "outlines"))]
pub mod outline;
mod panics;
mod parked;
mod reach;
mod reentries;
mod rounds;
mod stack;
mod structure;
mod structures;
mod tree;

pub use activation::{Activation, Exit, FoldedCalls, Left, Moves};
pub use callee::{Call, CallKind};
pub use derived::ThroughDerived;
pub use entry::ThreadEntry;
pub use levels::Handler;
pub use panics::{OpenPanic, SincePanic};
pub use reentries::{EnteredBy, Reentries, Reentry};
pub use stack::CallStack;
pub use structure::{Body, BodyId, StatementId, Structure};
pub use structures::Structures;
pub use tree::{CallNode, CallTree, NodeSubject, NoteKind, TakeRow, TreeRow};

#[cfg(test)]
mod tests;
