//! Passes on the output of cargo and the tests byte for byte, and reads the results of tests from it.
//!
//! A stream that is a terminal stays one: the child writes to a pseudoterminal of the same size. If both streams have the same
//! destination they share one channel, so the order of their bytes is kept.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::output::hidden::{Hidden, Language};
use crate::output::results::{Parser, Results};
use crate::system::{self, Inner, Outer};

/// A process that outlives cargo may hold a channel open: after this time without a byte, reading ends.
const SILENCE: Duration = Duration::from_millis(300);

/// What cargo said on each stream of a build that may be repeated. Streams with one destination have it in the first.
#[derive(Debug, Default)]
pub(crate) struct Held([Vec<u8>; 2]);

impl Held {
    /// Prints it: the build is not repeated.
    pub(crate) fn print(&self) {
        let Held([stdout, stderr]) = self;
        let _ = std::io::stdout().write_all(stdout);
        let _ = std::io::stderr().write_all(stderr);
    }
}

/// The channels of one cargo.
pub(crate) struct Relay {
    results: Arc<Mutex<Results>>,
    held: Arc<Mutex<Held>>,
    passed: Arc<AtomicU64>,
    ended: Receiver<()>,
    channels: usize,
}

/// One channel: the child writes to `inner`; `outer` is read and passed on to `to`.
struct Channel {
    outer: File,
    inner: Inner,
    to: Outer,
}

impl Relay {
    /// Makes this cargo print through channels, which go nowhere if it is silent. `None`: the system has no channel left, and cargo
    /// prints directly.
    pub(crate) fn of(cargo: &mut Command, is_silent: bool, language: Language) -> Option<Relay> {
        if is_silent {
            let channel = Channel::to(system::nowhere()?)?;
            cargo.stdout(Stdio::from(channel.inner.try_clone().ok()?));
            cargo.stderr(Stdio::from(channel.inner.try_clone().ok()?));
            return Some(Relay::start(vec![channel], language));
        }
        let (stdout, stderr, same) = system::own_streams()?;
        let first = Channel::to(stdout)?;
        let (first_end, shared) = (first.inner.try_clone().ok()?, first.inner.try_clone().ok()?);
        let mut channels = vec![first];
        if same {
            cargo.stderr(Stdio::from(shared));
        } else {
            let second = Channel::to(stderr)?;
            cargo.stderr(Stdio::from(second.inner.try_clone().ok()?));
            channels.push(second);
        }
        cargo.stdout(Stdio::from(first_end));
        Some(Relay::start(channels, language))
    }

    fn start(channels: Vec<Channel>, language: Language) -> Relay {
        let (sender, ended) = channel();
        let relay = Relay {
            results: Arc::default(),
            held: Arc::default(),
            passed: Arc::default(),
            ended,
            channels: channels.len(),
        };
        for (number, channel) in channels.into_iter().enumerate() {
            channel.start(&relay, (number, language), sender.clone());
        }
        relay
    }

    /// Waits until all output was passed on, and returns the results, and what cargo said of a build that is repeated. Cargo has
    /// ended, and its `Command` is dropped: that would hold the channels open.
    pub(crate) fn finish(self) -> (Results, Held) {
        let mut left = self.channels;
        let mut before = self.passed.load(Ordering::Relaxed);
        while left > 0 {
            match self.ended.recv_timeout(SILENCE) {
                Ok(()) => left -= 1,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let now = self.passed.load(Ordering::Relaxed);
                    if now == before {
                        break;
                    }
                    before = now;
                }
            }
        }
        let held = std::mem::take(&mut *self.held.lock().unwrap_or_else(PoisonError::into_inner));
        (self.results.lock().unwrap_or_else(PoisonError::into_inner).clone(), held)
    }
}

impl Channel {
    fn to(to: Outer) -> Option<Channel> {
        let (outer, inner) = system::channel(&to)?;
        Some(Channel { outer, inner, to })
    }

    fn start(self, relay: &Relay, (number, language): (usize, Language), ended: Sender<()>) {
        let (results, passed) = (Arc::clone(&relay.results), Arc::clone(&relay.passed));
        let held = Arc::clone(&relay.held);
        let Channel { mut outer, inner, mut to } = self;
        // Only the child holds it open: the channel ends with the child.
        drop(inner);
        std::thread::spawn(move || {
            let (mut parser, mut hidden) = (Parser::default(), Hidden::new(language));
            let mut buffer = vec![0; 64 * 1024];
            loop {
                match outer.read(&mut buffer) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    // Reading a pseudoterminal fails when no process has it open.
                    Ok(0) | Err(_) => break,
                    Ok(len) => {
                        if !write(&mut to, &hidden.take(&buffer[..len])) {
                            break;
                        }
                        passed.fetch_add(len as u64, Ordering::Relaxed);
                        let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                        parser.take(&buffer[..len], &mut results);
                    }
                }
                system::follow_size(&to, &outer);
            }
            held.lock().unwrap_or_else(PoisonError::into_inner).0[number] = hidden.finish();
            // A process that writes later gets an error, as without the relay.
            drop(outer);
            let _ = ended.send(());
        });
    }
}

/// Writes all bytes; false if the reader is gone.
fn write(to: &mut Outer, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return false,
            Ok(len) => bytes = &bytes[len..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => system::wait_for_room(to),
            Err(_) => return false,
        }
    }
    true
}
