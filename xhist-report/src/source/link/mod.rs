//! Live links: bytes as they come, from what may go away and come back. Each is read by threads of its own, which put what
//! happens into one bounded [`Queue`]. It must not know what is in the bytes.

mod client;
mod file;
mod keyboard;
mod peers;
mod queue;
#[cfg(unix)]
mod serial;
mod serial_name;
mod tcp;
mod udp;

use std::io::{self, Read, Write};

pub use client::END;
pub use file::{pieces, stdin, stream};
pub use keyboard::{Raw, keyboard};
pub use queue::{Event, Feed, Id, Queue};
pub use tcp::{client as tcp, server as tcp_listen};
pub use udp::{front_end, is_gone, packets, stream as udp};

/// Bytes that are taken at a time.
const PIECE: usize = 16 << 10;

/// A link, opened as far as it can be without its other end.
pub struct Link {
    /// How the user named it.
    pub name: String,
    /// How its bytes are kept until they are taken.
    pub keeping: Keeping,
    /// Reads it for ever, or to its end.
    pub run: Box<dyn FnOnce(Feed) + Send>,
}

impl Link {
    fn new(name: &str, keeping: Keeping, run: impl FnOnce(Feed) + Send + 'static) -> Link {
        Link { name: name.to_owned(), keeping, run: Box::new(run) }
    }
}

/// What happens to bytes that nobody takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// The sender does not wait: what there is no room for is dropped and counted.
    Newest,
    /// As that, and pieces stay apart: each is a packet.
    Packets,
    /// The sender waits.
    All,
}

/// Both ends of a connection.
struct Ends {
    peer: String,
    from: Box<dyn Read + Send>,
    to: Box<dyn Write + Send>,
}

/// An end that nothing can be said to.
struct Deaf;

impl Write for Deaf {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "nothing can be sent this way"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A serial line, where the system has them.
///
/// # Errors
/// What is wrong with the name, in a sentence.
pub fn serial(name: &str) -> Result<Link, String> {
    let line = serial_name::parse(name)?;
    #[cfg(unix)]
    return serial::link(name, line);
    #[cfg(not(unix))]
    {
        let _ = line;
        Err(format!("{name}: serial lines are not supported on this system; bridge it to tcp://"))
    }
}

/// What stands behind `scheme://`.
fn address<'a>(name: &'a str, scheme: &str) -> Result<&'a str, String> {
    let address = name.strip_prefix(scheme).unwrap_or(name);
    let has_port = address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    match has_port {
        true => Ok(address),
        false => Err(format!("{name}: a host and a port are wanted, as in {scheme}localhost:6601")),
    }
}

/// Whether reading may go on after this.
fn is_a_pause(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}
