//! UDP: whoever sends datagrams to this address is a connection. What is said to it goes back to where its datagrams come from.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::Arc;

use super::peers::Peers;
use super::{Ends, Keeping, Link, address, client};

/// Longer than any datagram.
const LONGEST: usize = 64 << 10;

/// `udp://address:port`: datagrams as pieces of a stream.
///
/// # Errors
/// What is wrong with the name or why nobody can listen there, in a sentence.
pub fn stream(name: &str) -> Result<Link, String> {
    open(name, Keeping::Newest)
}

/// The same with datagrams that stay apart.
///
/// # Errors
/// As [`stream`].
pub fn packets(name: &str) -> Result<Link, String> {
    open(name, Keeping::Packets)
}

fn open(name: &str, keeping: Keeping) -> Result<Link, String> {
    let address = address(name, "udp://")?;
    let socket = UdpSocket::bind(address).map_err(|error| format!("cannot listen on {address}: {error}"))?;
    let listening = socket.local_addr().map_err(|error| format!("{name}: {error}"))?;
    let socket = Arc::new(socket);
    Ok(Link::new(name, keeping, move |feed| {
        feed.note(format!("listening on {listening}"));
        let (mut peers, mut datagram) = (Peers::default(), vec![0; LONGEST]);
        loop {
            // An error is of an earlier datagram that went to nobody.
            let Ok((len, from)) = socket.recv_from(&mut datagram) else { continue };
            let slot = peers.find(from).unwrap_or_else(|| {
                if let Some(slot) = peers.make_room(|| feed.weakest()) {
                    feed.closed(slot, "it gives its place to another that came".to_owned());
                }
                let to = Back { socket: Arc::clone(&socket), peer: from };
                let slot = feed.opened(from.to_string(), Box::new(to));
                peers.add(from, slot);
                slot
            });
            feed.bytes(slot, &datagram[..len]);
        }
    }))
}

/// Whether nobody is at this address of this machine any more; of others that cannot be known.
pub fn is_gone(peer: &str) -> bool {
    let peer: Option<SocketAddr> = peer.parse().ok();
    // A socket that is there keeps others from its address.
    peer.is_some_and(|peer| peer.ip().is_loopback() && UdpSocket::bind(peer).is_ok())
}

/// Back to a peer, a datagram at a time.
struct Back {
    socket: Arc<UdpSocket>,
    peer: SocketAddr,
}

impl Write for Back {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.send_to(bytes, self.peer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The front-end port of a session at `host:port`.
///
/// # Errors
/// What is wrong with the name, in a sentence.
pub fn front_end(host: &str) -> Result<Link, String> {
    let host = address(host, "")?.to_owned();
    Ok(Link::new(&host.clone(), Keeping::Packets, move |feed| {
        client::keep(&feed, || {
            let socket = connect(host.as_str())?;
            let back = Connected(socket.try_clone()?);
            Ok(Ends { peer: host.clone(), from: Box::new(Connected(socket)), to: Box::new(back) })
        });
    }))
}

fn connect(host: impl ToSocketAddrs) -> io::Result<UdpSocket> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "no such host");
    let mut addresses: Vec<SocketAddr> = host.to_socket_addrs()?.collect();
    // Sessions listen there, and connecting does not tell who listens: `localhost` may be `::1` first.
    addresses.sort_by_key(SocketAddr::is_ipv6);
    for address in addresses {
        let any: SocketAddr = if address.is_ipv4() { ([0; 4], 0).into() } else { ([0u16; 8], 0).into() };
        match UdpSocket::bind(any).and_then(|socket| socket.connect(address).map(|()| socket)) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// A socket that only speaks with one other.
struct Connected(UdpSocket);

impl Read for Connected {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            // An empty datagram is not the end.
            match self.0.recv(into)? {
                0 => {}
                len => return Ok(len),
            }
        }
    }
}

impl Write for Connected {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_that_was_closed_is_gone() {
        for address in ["127.0.0.1:0", "0.0.0.0:0"] {
            let socket = UdpSocket::bind(address).unwrap();
            let peer = format!("127.0.0.1:{}", socket.local_addr().unwrap().port());
            assert!(!is_gone(&peer));
            drop(socket);
            assert!(is_gone(&peer));
        }
        assert!(!is_gone("192.0.2.1:7701") && !is_gone("keyboard"));
    }

    #[test]
    fn a_session_is_looked_for_where_sessions_listen() {
        let localhost: [SocketAddr; 2] = ["[::1]:7701", "127.0.0.1:7701"].map(|text| text.parse().unwrap());
        assert_eq!(connect(&localhost[..]).unwrap().peer_addr().unwrap(), localhost[1]);
    }
}
