//! The receive channel, from the host to the target: takes frames, executes commands, sends answers.
//!
//! `receiver` finds packets in noise, `command` parses one, `execute` executes it on a [`Port`]. Each works without the
//! others. The only memory is the receiver's buffer.

mod command;
mod execute;
mod ids;
mod probes;
mod receiver;

pub use command::Command;
pub use execute::{Callbacks, Executor, Port, To};
pub use ids::{COMMANDS, id, name};
pub use probes::Probes;
pub use receiver::{Packet, Received, Receiver, fault};
