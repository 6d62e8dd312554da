//! UDP: each sender of datagrams to an address is a connection. Replies go to the sender's address.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::Arc;

use super::peers::Peers;
use super::{Connection, Keeping, Link, LinkError, address, cannot_listen, client};

/// Longer than any datagram.
const LONGEST: usize = 64 << 10;

/// `udp://address:port`: datagrams as pieces of a stream.
///
/// # Errors
/// A wrong name, or an address that cannot be listened at.
pub fn stream(name: &str) -> Result<Link, LinkError> {
    open(name, Keeping::Newest)
}

/// `udp://address:port`: each datagram as a packet.
///
/// # Errors
/// As [`stream`].
pub fn packets(name: &str) -> Result<Link, LinkError> {
    open(name, Keeping::Packets)
}

fn open(name: &str, keeping: Keeping) -> Result<Link, LinkError> {
    let address = address(name, "udp://")?;
    let socket = UdpSocket::bind(address).map_err(|error| cannot_listen(address, error))?;
    let listening = socket.local_addr().map_err(|error| cannot_listen(address, error))?;
    let socket = Arc::new(socket);
    Ok(Link::new(name, keeping, move |feed| {
        feed.note(format!("listening on {listening}"));
        let (mut peers, mut datagram) = (Peers::default(), vec![0; LONGEST]);
        loop {
            // The error of an earlier datagram that did not reach its receiver.
            let Ok((len, from)) = socket.recv_from(&mut datagram) else { continue };
            let slot = peers.find(from).unwrap_or_else(|| {
                if let Some(slot) = peers.make_room(|| feed.weakest()) {
                    feed.closed(slot, "it gives its place to a new sender".to_owned());
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

/// Whether the socket of an address on this machine is closed. For other machines the answer is no.
pub fn is_gone(peer: &str) -> bool {
    let peer: Option<SocketAddr> = peer.parse().ok();
    // While a socket has the address, no other one can bind it.
    peer.is_some_and(|peer| peer.ip().is_loopback() && UdpSocket::bind(peer).is_ok())
}

/// Sends to a peer, a datagram at a time.
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
/// A wrong name.
pub fn front_end(host: &str) -> Result<Link, LinkError> {
    let host = address(host, "")?.to_owned();
    Ok(Link::new(&host.clone(), Keeping::Packets, move |feed| {
        client::keep(&feed, || {
            let socket = connect(host.as_str())?;
            let back = ConnectedSocket(socket.try_clone()?);
            Ok(Connection { peer: host.clone(), from: Box::new(ConnectedSocket(socket)), to: Box::new(back) })
        });
    }))
}

fn connect(host: impl ToSocketAddrs) -> io::Result<UdpSocket> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "no such host");
    let mut addresses: Vec<SocketAddr> = host.to_socket_addrs()?.collect();
    // Sessions listen at IPv4 addresses. Connecting does not show who listens, and `localhost` may be `::1` first.
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

/// A socket that is connected to one peer.
struct ConnectedSocket(UdpSocket);

impl Read for ConnectedSocket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            // An empty datagram is not the end of the stream.
            match self.0.recv(into)? {
                0 => {}
                len => return Ok(len),
            }
        }
    }
}

impl Write for ConnectedSocket {
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
