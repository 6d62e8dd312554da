//! The connection to a target: its own link, or the front-end port of a session that reads the link.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::error::{Missing, SendError};
use crate::interrupt;
use crate::live::link::{self, LinkEvent, Queue, is_link, open_link};
use crate::live::session::Host;
use qs_host::front_end::{BINARY, PORT, packet};
use qs_host::{Decoder, Listener, Request, TargetDescription, TargetSymbols};
use xhist_history::notes::Notes;

const SCHEME: &str = "qspy://";
const INTERRUPTED: &str = "interrupted";

/// A connection to a target.
pub struct Wire {
    queue: Queue,
    decoder: Decoder,
    to: Option<Sink>,
    is_port: bool,
    /// Whether packets are accepted: a session has to confirm that, a target always accepts them.
    is_attached: bool,
    is_lost: bool,
    /// Set when the user interrupts the program.
    stop: Arc<AtomicBool>,
}

enum Sink {
    Target(Host),
    Session { to: Box<dyn io::Write + Send>, seq: u8 },
}

impl Sink {
    fn packet(&mut self, id: u8, payload: &[u8]) -> io::Result<()> {
        match self {
            Sink::Target(host) => host.send(&Request { id, payload: payload.to_vec() }),
            Sink::Session { to, seq } => {
                let packet = [&[*seq, id], payload].concat();
                *seq = seq.wrapping_add(1);
                to.write_all(&packet)
            }
        }
    }
}

impl Wire {
    /// Opens the link, without waiting for the other end.
    ///
    /// # Errors
    /// A name that is not a link, or a link that cannot be opened.
    pub fn open(name: &str, target: TargetDescription) -> Result<Wire, SendError> {
        let is_port = name.starts_with(SCHEME);
        let link = match name.strip_prefix(SCHEME) {
            Some(host) if host.contains(':') => link::front_end(host)?,
            Some(host) => link::front_end(&format!("{host}:{PORT}"))?,
            None if is_link(name.as_ref()) => open_link(name.as_ref())?,
            None => return Err(SendError::NotALink { name: name.to_owned(), scheme: SCHEME }),
        };
        let queue = Queue::default();
        queue.start(link);
        Ok(Wire {
            queue,
            decoder: Decoder::new(TargetSymbols::new(target)),
            to: None,
            is_port,
            is_attached: !is_port,
            is_lost: false,
            // A front-end that leaves without detaching would keep others from attaching.
            stop: interrupt::requested(|| {}),
        })
    }

    /// Waits until the other end accepts packets.
    ///
    /// # Errors
    /// No connection in time, an error of the link, or an interrupt by the user.
    pub fn connect(&mut self, until: Instant, notes: &mut Notes<'_>) -> Result<(), SendError> {
        let mut missing = Missing::Connection;
        while !(self.to.is_some() && self.is_attached) && Instant::now() < until {
            if self.stop.load(Ordering::Relaxed) {
                return Err(SendError::Interrupted);
            }
            match self.queue.next(Duration::from_millis(20)) {
                Some((_, LinkEvent::Opened { to, .. })) if self.is_port => {
                    let mut sink = Sink::Session { to, seq: 0 };
                    sink.packet(packet::ATTACH, &[BINARY])?;
                    self.to = Some(sink);
                    missing = Missing::Answer;
                }
                Some((_, LinkEvent::Bytes(packet))) if self.is_port => {
                    self.is_attached |= matches!(packet[..], [_, packet::ATTACH, ..]);
                }
                Some((_, LinkEvent::Closed(why))) if self.is_port => return Err(SendError::Closed(why)),
                Some((_, LinkEvent::Opened { to, .. })) => self.to = Some(Sink::Target(Host::new(to))),
                Some((_, LinkEvent::Note(text))) => {
                    notes.note(format_args!("{text}"));
                    missing = Missing::Noted(text.trim_end_matches("; waiting for it").to_owned());
                }
                Some((_, LinkEvent::Ended)) => break,
                _ => {}
            }
        }
        match (&self.to, self.is_attached) {
            (Some(_), true) => Ok(()),
            (Some(_), false) => Err(SendError::NoSession(missing)),
            (None, _) => Err(SendError::NoTarget(missing)),
        }
    }

    /// The symbols of the target.
    pub fn known(&self) -> &TargetSymbols {
        &self.decoder.known
    }

    /// Whether the other end is gone.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Sends a packet.
    ///
    /// # Errors
    /// Those of the link.
    pub fn send(&mut self, request: &Request) -> io::Result<()> {
        match &mut self.to {
            Some(sink) => sink.packet(request.id, &request.payload),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Handles the next event of the link. Returns whether there was one in time.
    ///
    /// # Errors
    /// When the other end is gone, or the user interrupts the program.
    pub fn take(&mut self, within: Duration, listener: &mut impl Listener) -> io::Result<bool> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::new(io::ErrorKind::Interrupted, INTERRUPTED));
        }
        match self.queue.next(within) {
            Some((_, LinkEvent::Bytes(bytes))) if self.is_port => self.packet(&bytes, listener),
            Some((_, LinkEvent::Bytes(bytes))) => self.decoder.push(&bytes, listener),
            Some((_, LinkEvent::Closed(why))) => {
                (self.is_lost, self.to) = (true, None);
                return Err(io::Error::new(io::ErrorKind::ConnectionAborted, why));
            }
            Some(_) => {}
            None => return Ok(false),
        }
        Ok(true)
    }

    /// Handles a packet of a session: a record of the target, or the session's own.
    fn packet(&mut self, packet: &[u8], listener: &mut impl Listener) {
        if let [seq, id @ 1..=127, payload @ ..] = packet {
            self.decoder.push_unframed(*seq, *id, payload, listener);
        }
    }
}

impl Drop for Wire {
    /// Lets another front-end attach.
    fn drop(&mut self) {
        if let Some(sink @ Sink::Session { .. }) = &mut self.to {
            let _ = sink.packet(packet::DETACH, &[]);
        }
    }
}
