//! The way to a target: its own link, or the front-end port of a session that reads it. It must not know what is sent.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::console::Notes;
use crate::front_end::{BINARY, PORT, SILENCE, of};
use crate::interrupt;
use crate::live::Host;
use crate::qs::{Decoder, Known, Listener, Request, Target};
use crate::source::link::{self, Event, Queue};
use crate::source::{is_link, open_link};

const SCHEME: &str = "qspy://";
const INTERRUPTED: &str = "interrupted";

/// A way to a target.
pub struct Wire {
    queue: Queue,
    decoder: Decoder,
    to: Option<Sink>,
    is_port: bool,
    /// The session at the port takes our packets; a target takes them anyway.
    is_attached: bool,
    is_lost: bool,
    /// Somebody wants it to end.
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
    /// Opens it, as far as that needs nobody.
    ///
    /// # Errors
    /// What is wrong with the name, in a sentence.
    pub fn open(name: &str, target: Target) -> Result<Wire, String> {
        let is_port = name.starts_with(SCHEME);
        let link = match name.strip_prefix(SCHEME) {
            Some(host) if host.contains(':') => link::front_end(host),
            Some(host) => link::front_end(&format!("{host}:{PORT}")),
            None if is_link(name.as_ref()) => open_link(name.as_ref()),
            None => Err(format!(
                "{name} is no link that something can be sent to, as tcp://, serial:// or {SCHEME} are"
            )),
        }?;
        let queue = Queue::default();
        queue.start(link);
        Ok(Wire {
            queue,
            decoder: Decoder::new(Known::new(target)),
            to: None,
            is_port,
            is_attached: !is_port,
            is_lost: false,
            // A session whose front-end goes without a word lets no other attach.
            stop: interrupt::requested(|| {}),
        })
    }

    /// Waits for the other end.
    ///
    /// # Errors
    /// That nobody came, in a sentence.
    pub fn connect(&mut self, until: Instant, notes: &mut Notes<'_>) -> Result<(), String> {
        let mut last = "nobody connected".to_owned();
        while !(self.to.is_some() && self.is_attached) && Instant::now() < until {
            if self.stop.load(Ordering::Relaxed) {
                return Err(INTERRUPTED.to_owned());
            }
            match self.queue.next(Duration::from_millis(20)) {
                Some((_, Event::Opened { to, .. })) if self.is_port => {
                    let mut sink = Sink::Session { to, seq: 0 };
                    sink.packet(of::ATTACH, &[BINARY]).map_err(|error| error.to_string())?;
                    self.to = Some(sink);
                    last = format!(
                        "nobody answers at this port, or another front-end holds it until it detaches or has been silent for {} s",
                        SILENCE.as_secs()
                    );
                }
                Some((_, Event::Bytes(packet))) if self.is_port => {
                    self.is_attached |= matches!(packet[..], [_, of::ATTACH, ..]);
                }
                Some((_, Event::Closed(why))) if self.is_port => return Err(why),
                Some((_, Event::Opened { to, .. })) => self.to = Some(Sink::Target(Host::new(to))),
                Some((_, Event::Note(text))) => {
                    notes.note(format_args!("{text}"));
                    last = text.trim_end_matches("; waiting for it").to_owned();
                }
                Some((_, Event::Ended)) => break,
                _ => {}
            }
        }
        match (&self.to, self.is_attached) {
            (Some(_), true) => Ok(()),
            (Some(_), false) => Err(format!("no session within the timeout: {last}")),
            (None, _) => Err(format!("no target within the timeout: {last}")),
        }
    }

    /// All that is known of the target.
    pub fn known(&self) -> &Known {
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

    /// Takes what comes; whether anything came in time.
    ///
    /// # Errors
    /// When the other end is gone, or somebody wants this one to go.
    pub fn take(&mut self, within: Duration, listener: &mut impl Listener) -> io::Result<bool> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::new(io::ErrorKind::Interrupted, INTERRUPTED));
        }
        match self.queue.next(within) {
            Some((_, Event::Bytes(bytes))) if self.is_port => self.packet(&bytes, listener),
            Some((_, Event::Bytes(bytes))) => self.decoder.push(&bytes, listener),
            Some((_, Event::Closed(why))) => {
                (self.is_lost, self.to) = (true, None);
                return Err(io::Error::new(io::ErrorKind::ConnectionAborted, why));
            }
            Some(_) => {}
            None => return Ok(false),
        }
        Ok(true)
    }

    /// A packet of a session: a record of the target, or the session's own.
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
            let _ = sink.packet(of::DETACH, &[]);
        }
    }
}
