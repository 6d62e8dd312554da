//! An open connection: the bytes from the other end, and the way to send to it.

use std::io::{self, Read, Write};
use std::time::Duration;

/// Bytes that are read at a time.
pub(super) const PIECE: usize = 16 << 10;

/// How long a write to a serial line waits for a device that takes nothing.
pub(super) const TAKE: Duration = Duration::from_secs(1);

/// An open connection.
pub(super) struct Connection {
    pub peer: String,
    pub from: Box<dyn Read + Send>,
    pub to: Box<dyn Write + Send>,
}

/// The other end of a connection that cannot be sent to.
pub(super) struct NullWriter;

impl Write for NullWriter {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "nothing can be sent this way"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether reading can go on after this error.
pub(super) fn is_a_pause(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}
