//! TCP in both directions: to a target that listens, and for several targets that connect.

use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};

use super::{Connection, Feed, Keeping, Link, LinkError, address, cannot_listen, client};

/// How long to wait for a host to answer.
const ANSWER: Duration = Duration::from_secs(3);
/// How long a write waits for a target that takes nothing.
const TAKE: Duration = Duration::from_secs(1);
/// Keep-alive: a target silent for `SILENCE` is probed, then every `AGAIN`. On Linux, a target that vanished is lost within half a
/// minute.
const SILENCE: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_secs(2);
/// Targets that may be connected at once.
const MOST: usize = 64;

/// `tcp://host:port`.
///
/// # Errors
/// A wrong name.
pub fn client(name: &str) -> Result<Link, LinkError> {
    let address = address(name, "tcp://")?.to_owned();
    Ok(Link::new(name, Keeping::Newest, move |feed| client::keep(&feed, || ends(connect(&address)?))))
}

/// `tcp-listen://address:port`. Port 0 lets the system choose; a note names the port.
///
/// # Errors
/// A wrong name, or an address that cannot be listened at.
pub fn server(name: &str) -> Result<Link, LinkError> {
    let address = address(name, "tcp-listen://")?;
    let listener = TcpListener::bind(address).map_err(|error| cannot_listen(address, error))?;
    let listening = listener.local_addr().map_err(|error| cannot_listen(address, error))?;
    Ok(Link::new(name, Keeping::Newest, move |feed| {
        feed.note(format!("listening on {listening}"));
        let connected = OpenConnections::default();
        loop {
            // For example too many open files; that may pass.
            let Ok((stream, peer)) = listener.accept() else {
                std::thread::sleep(Duration::from_millis(100));
                continue;
            };
            if !connected.make_room(&feed) {
                feed.note(format!("{MOST} targets are connected; {peer} was sent away"));
                continue;
            }
            let Ok(same) = stream.try_clone() else { continue };
            let Ok(Connection { peer, from, to }) = ends(stream) else { continue };
            // Reported here, not in the thread: in the order in which targets connected.
            let slot = feed.opened(peer, to);
            connected.lock().insert(slot, same);
            let (feed, connected) = (feed.clone(), connected.clone());
            std::thread::spawn(move || {
                let why = client::read_until_lost(&feed, slot, from);
                // Before another connection can get the slot.
                connected.lock().remove(&slot);
                feed.closed(slot, why);
            });
        }
    }))
}

/// The open connections of a server, by slot.
#[derive(Clone, Default)]
struct OpenConnections(Arc<Mutex<BTreeMap<usize, TcpStream>>>);

impl OpenConnections {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, TcpStream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for one more connection, if needed by closing a useless one. Returns whether there is room.
    fn make_room(&self, feed: &Feed) -> bool {
        if self.lock().len() < MOST {
            return true;
        }
        let Some(slot) = feed.weakest() else { return false };
        let Some(stream) = self.lock().remove(&slot) else { return false };
        let peer = stream.peer_addr().map_or_else(|_| "a connection".to_owned(), |peer| peer.to_string());
        feed.note(format!("{peer} was silent for longest, and gives its place to another"));
        // The thread of the connection sees the end.
        let _ = stream.shutdown(Shutdown::Both);
        true
    }
}

fn connect(address: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "no such host");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, ANSWER) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn ends(stream: TcpStream) -> io::Result<Connection> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(TAKE))?;
    SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(SILENCE).with_interval(AGAIN))?;
    let peer = stream.peer_addr()?.to_string();
    Ok(Connection { peer, from: Box::new(stream.try_clone()?), to: Box::new(stream) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_target_is_probed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        for stream in [connect(&address).unwrap(), listener.accept().unwrap().0] {
            let same = stream.try_clone().unwrap();
            ends(stream).unwrap();
            let socket = SockRef::from(&same);
            assert!(socket.keepalive().unwrap());
            assert_eq!(
                (socket.tcp_keepalive_time().unwrap(), socket.tcp_keepalive_interval().unwrap()),
                (SILENCE, AGAIN)
            );
        }
    }
}
