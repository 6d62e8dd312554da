//! Live links: connections that may be lost and come back. Threads read each link and push its events into one bounded [`Queue`].

mod client;
mod ends;
mod error;
mod file;
mod keyboard;
mod peers;
mod queue;
mod serial;
mod serial_name;
mod sources;
mod tcp;
mod udp;

use ends::{Connection, NullWriter, PIECE, is_a_pause};

pub use client::END;
pub use error::LinkError;
pub use file::{stdin, stream};
pub use keyboard::{RawTerminal, keyboard};
pub use queue::{ConnectionId, Feed, Keeping, Link, LinkEvent, Queue};
pub use serial::link as serial;
pub use sources::{SOURCES, SourceRow, is_link, open, open_link};
pub use tcp::{client as tcp, server as tcp_listen};
pub use udp::{front_end, is_gone, packets, stream as udp};

fn cannot_listen(address: &str, error: std::io::Error) -> LinkError {
    LinkError::CannotListen { address: address.to_owned(), error }
}

/// The address behind `scheme://`.
fn address<'a>(name: &'a str, scheme: &'static str) -> Result<&'a str, LinkError> {
    let address = name.strip_prefix(scheme).unwrap_or(name);
    let has_port = address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    match has_port {
        true => Ok(address),
        false => Err(LinkError::NoPort { name: name.to_owned(), scheme }),
    }
}
