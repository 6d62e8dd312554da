//! Passes on the output of cargo and the tests byte for byte, and reads the results of tests from it.
//!
//! A stream that is a terminal stays one: the child writes to a pseudoterminal of the same size. If both streams have the same
//! destination they share one channel, so the order of their bytes is kept.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, IsTerminal as _, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};

use crate::output::results::{Parser, Results};

/// A process that outlives cargo may hold a channel open: after this time without a byte, reading ends.
const SILENCE: Duration = Duration::from_millis(300);

/// The channels of one cargo.
pub(crate) struct Relay {
    results: Arc<Mutex<Results>>,
    passed: Arc<AtomicU64>,
    ended: Receiver<()>,
    channels: usize,
}

/// One channel: the child writes to `inner`; `outer` is read and passed on to `to`.
struct Channel {
    outer: File,
    inner: OwnedFd,
    to: File,
}

impl Relay {
    /// Makes this cargo print through channels, which go nowhere if it is silent. `None`: the system has no channel left, and
    /// cargo prints directly.
    pub(crate) fn of(cargo: &mut Command, is_silent: bool) -> Option<Relay> {
        if is_silent {
            let nowhere = OpenOptions::new().write(true).open("/dev/null").ok()?;
            let channel = Channel::to(nowhere.as_fd())?;
            cargo.stdout(Stdio::from(channel.inner.try_clone().ok()?));
            cargo.stderr(Stdio::from(channel.inner.try_clone().ok()?));
            return Some(Relay::start(vec![channel]));
        }
        let (stdout, stderr) = (std::io::stdout(), std::io::stderr());
        let same = is_same(stdout.as_fd(), stderr.as_fd());
        let first = Channel::to(stdout.as_fd())?;
        let (first_end, shared) = (first.inner.try_clone().ok()?, first.inner.try_clone().ok()?);
        let mut channels = vec![first];
        if same {
            cargo.stderr(Stdio::from(shared));
        } else {
            let second = Channel::to(stderr.as_fd())?;
            cargo.stderr(Stdio::from(second.inner.try_clone().ok()?));
            channels.push(second);
        }
        cargo.stdout(Stdio::from(first_end));
        Some(Relay::start(channels))
    }

    fn start(channels: Vec<Channel>) -> Relay {
        let (sender, ended) = channel();
        let relay =
            Relay { results: Arc::default(), passed: Arc::default(), ended, channels: channels.len() };
        for channel in channels {
            channel.start(&relay, sender.clone());
        }
        relay
    }

    /// Waits until all output was passed on, and returns the results. Cargo has ended, and its `Command` is dropped: that
    /// would hold the channels open.
    pub(crate) fn finish(self) -> Results {
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
        self.results.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Channel {
    fn to(stream: BorrowedFd<'_>) -> Option<Channel> {
        let to = File::from(stream.try_clone_to_owned().ok()?);
        if !to.is_terminal() {
            let (outer, inner) = std::io::pipe().ok()?;
            return Some(Channel { outer: File::from(OwnedFd::from(outer)), inner: inner.into(), to });
        }
        let outer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).ok()?;
        rustix::io::fcntl_setfd(&outer, rustix::io::FdFlags::CLOEXEC).ok()?;
        grantpt(&outer).ok()?;
        unlockpt(&outer).ok()?;
        let name = ptsname(&outer, Vec::new()).ok()?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(OFlags::NOCTTY.bits().cast_signed());
        let inner = options.open(name.to_str().ok()?).ok()?;
        // The outer terminal translates line ends.
        let mut modes = tcgetattr(&inner).ok()?;
        modes.make_raw();
        tcsetattr(&inner, OptionalActions::Now, &modes).ok()?;
        if let Ok(size) = tcgetwinsize(&to) {
            let _ = tcsetwinsize(&outer, size);
        }
        Some(Channel { outer: File::from(outer), inner: inner.into(), to })
    }

    fn start(self, relay: &Relay, ended: Sender<()>) {
        let (results, passed) = (Arc::clone(&relay.results), Arc::clone(&relay.passed));
        let Channel { mut outer, inner, mut to } = self;
        // Only the child holds it open: the channel ends with the child.
        drop(inner);
        std::thread::spawn(move || {
            let mut parser = Parser::default();
            let mut buffer = vec![0; 64 * 1024];
            loop {
                match outer.read(&mut buffer) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    // Reading a pseudoterminal fails when no process has it open.
                    Ok(0) | Err(_) => break,
                    Ok(len) => {
                        if !write(&mut to, &buffer[..len]) {
                            break;
                        }
                        passed.fetch_add(len as u64, Ordering::Relaxed);
                        let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                        parser.take(&buffer[..len], &mut results);
                    }
                }
                follow_size(&to, &outer);
            }
            // A process that writes later gets an error, as without the relay.
            drop(outer);
            let _ = ended.send(());
        });
    }
}

/// Writes all bytes; false if the reader is gone.
fn write(to: &mut File, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return false,
            Ok(len) => bytes = &bytes[len..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Another process that shares the stream made it non-blocking.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let _ = poll(&mut [PollFd::new(to, PollFlags::OUT)], None);
            }
            Err(_) => return false,
        }
    }
    true
}

/// Copies the size of the terminal, which may change.
fn follow_size(terminal: &File, inner: &File) {
    if let (Ok(size), Ok(known)) = (tcgetwinsize(terminal), tcgetwinsize(inner))
        && (size.ws_row, size.ws_col) != (known.ws_row, known.ws_col)
    {
        let _ = tcsetwinsize(inner, size);
    }
}

fn is_same(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> bool {
    let identity = |stream: BorrowedFd<'_>| {
        let meta = File::from(stream.try_clone_to_owned().ok()?).metadata().ok()?;
        Some((meta.dev(), meta.ino(), meta.rdev()))
    };
    identity(one).is_some_and(|one| identity(other) == Some(one))
}
