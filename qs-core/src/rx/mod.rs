//! The receive channel, from the host to the target: frames in, commands carried out, answers sent.
//!
//! `receiver` finds packets among noise, `command` reads one, `execute` carries it out on a [`Port`]. Each may be used alone; none of
//! them needs memory beyond the receiver's buffer.

mod command;
mod execute;
mod probes;
mod receiver;

pub use command::{COMMANDS, Command, id, name};
pub use execute::{Callbacks, Executor, Port, To};
pub use probes::Probes;
pub use receiver::{Packet, Received, Receiver, fault};
