//! Sends packets to a target, with sequence numbers of their own.

use std::io::{self, Write};

use qs_host::Request;

/// The host of one target.
pub struct Host {
    to: Box<dyn Write + Send>,
    seq: u8,
}

impl Host {
    /// Of a target that has heard nothing yet.
    pub fn new(to: Box<dyn Write + Send>) -> Host {
        Host { to, seq: 0 }
    }

    /// The target has restarted, and expects the first packet.
    pub fn restart(&mut self) {
        self.seq = 0;
    }

    /// Sends a packet.
    ///
    /// # Errors
    /// Those of the link.
    pub fn send(&mut self, request: &Request) -> io::Result<()> {
        self.seq = self.seq.wrapping_add(1);
        self.to.write_all(&request.framed(self.seq))?;
        self.to.flush()
    }
}
