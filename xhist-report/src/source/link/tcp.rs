//! TCP, both ways: to a target that listens, or for targets that call, several at once.

use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};

use super::{Ends, Feed, Keeping, Link, address, client};

/// A host that does not answer in this time is not there.
const ANSWER: Duration = Duration::from_secs(3);
/// A target that takes nothing for so long does not listen.
const TAKE: Duration = Duration::from_secs(1);
/// A target that says nothing for so long is asked whether it is there, and again so often. The system gives up after some times: on
/// Linux a target that vanished is lost within half a minute.
const SILENCE: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_secs(2);
/// Targets that may be connected at once.
const MOST: usize = 64;

/// `tcp://host:port`.
///
/// # Errors
/// What is wrong with the name, in a sentence.
pub fn client(name: &str) -> Result<Link, String> {
    let address = address(name, "tcp://")?.to_owned();
    Ok(Link::new(name, Keeping::Newest, move |feed| client::keep(&feed, || ends(connect(&address)?))))
}

/// `tcp-listen://address:port`; port 0 lets the system choose, which is told.
///
/// # Errors
/// What is wrong with the name or why nobody can listen there, in a sentence.
pub fn server(name: &str) -> Result<Link, String> {
    let address = address(name, "tcp-listen://")?;
    let listener =
        TcpListener::bind(address).map_err(|error| format!("cannot listen on {address}: {error}"))?;
    let listening = listener.local_addr().map_err(|error| format!("{name}: {error}"))?;
    Ok(Link::new(name, Keeping::Newest, move |feed| {
        feed.note(format!("listening on {listening}"));
        let connected = Connected::default();
        loop {
            // Out of descriptors, for one; that may pass.
            let Ok((stream, peer)) = listener.accept() else {
                std::thread::sleep(Duration::from_millis(100));
                continue;
            };
            if !connected.make_room(&feed) {
                feed.note(format!("{MOST} targets are connected; {peer} was sent away"));
                continue;
            }
            let Ok(same) = stream.try_clone() else { continue };
            let Ok(Ends { peer, from, to }) = ends(stream) else { continue };
            // Here, so that targets are told in the order in which they came.
            let slot = feed.opened(peer, to);
            connected.lock().insert(slot, same);
            let (feed, connected) = (feed.clone(), connected.clone());
            std::thread::spawn(move || {
                let why = client::read_until_lost(&feed, slot, from);
                // Before its number can be another's.
                connected.lock().remove(&slot);
                feed.closed(slot, why);
            });
        }
    }))
}

/// The connections of a server that are open, by their numbers.
#[derive(Clone, Default)]
struct Connected(Arc<Mutex<BTreeMap<usize, TcpStream>>>);

impl Connected {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, TcpStream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is room for one more, if need be in the place of one that is of no use.
    fn make_room(&self, feed: &Feed) -> bool {
        if self.lock().len() < MOST {
            return true;
        }
        let Some(slot) = feed.weakest() else { return false };
        let Some(stream) = self.lock().remove(&slot) else { return false };
        let peer = stream.peer_addr().map_or_else(|_| "a connection".to_owned(), |peer| peer.to_string());
        feed.note(format!("{peer} was silent for longest, and gives its place to another"));
        // Its thread sees the end.
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

fn ends(stream: TcpStream) -> io::Result<Ends> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(TAKE))?;
    SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(SILENCE).with_interval(AGAIN))?;
    let peer = stream.peer_addr()?.to_string();
    Ok(Ends { peer, from: Box::new(stream.try_clone()?), to: Box::new(stream) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_target_is_asked_whether_it_is_there() {
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
