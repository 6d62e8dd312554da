//! The Debug Adapter Protocol over a recording: an editor steps through a history, forward and back.
//!
//! `requests` has one row for each request. A [`DapSession`] answers messages, whatever brings them; `serve` brings them over
//! standard input and output or a socket.

mod body;
mod breakpoints;
mod condition;
mod dispatch;
mod handles;
mod index;
mod inspect;
mod launch;
mod loading;
mod look;
mod message;
mod moves;
mod patience;
mod points;
mod requests;
mod serve;
mod session;
mod sources;
mod stops;
mod travel;
mod wire;
mod words;

#[cfg(test)]
mod tests;

pub use launch::{LaunchArgs, OneOrMore};
pub use loading::{LoadEnd, Loading, Opener};
pub use serve::{converse, listen, serve};
