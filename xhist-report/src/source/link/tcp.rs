//! TCP, both ways: to a target that listens, or for targets that call, several at once.

use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};

use super::{Ends, Keeping, Link, address, client};

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
        let connected = Arc::new(AtomicUsize::new(0));
        loop {
            let stream = match listener.accept() {
                Ok((stream, _)) if connected.load(Ordering::Relaxed) < MOST => stream,
                Ok((_, peer)) => {
                    feed.note(format!("{MOST} targets are connected; {peer} was sent away"));
                    continue;
                }
                Err(_) => {
                    // Out of descriptors, for one; that may pass.
                    std::thread::sleep(Duration::from_millis(100));
                    continue;
                }
            };
            let Ok(Ends { peer, from, to }) = ends(stream) else { continue };
            let (feed, connected) = (feed.clone(), Arc::clone(&connected));
            connected.fetch_add(1, Ordering::Relaxed);
            // Here, so that targets are told in the order in which they came.
            let slot = feed.opened(peer, to);
            std::thread::spawn(move || {
                client::read_on(&feed, slot, from);
                connected.fetch_sub(1, Ordering::Relaxed);
            });
        }
    }))
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
