//! Those who send datagrams to one socket, each a connection of its own. When there are too many, the one that has been silent for
//! longest is forgotten. It must not know sockets.

use std::net::SocketAddr;

/// So many are told apart.
const MOST: usize = 32;

/// The peers, the one heard of last in front, each with its connection.
#[derive(Debug, Default)]
pub struct Peers(Vec<(SocketAddr, usize)>);

impl Peers {
    /// The connection of a peer that is known.
    pub fn find(&mut self, peer: SocketAddr) -> Option<usize> {
        let place = self.0.iter().position(|(known, _)| *known == peer)?;
        self.0[..=place].rotate_right(1);
        Some(self.0[0].1)
    }

    /// Makes room for one more; the connection that is over by that.
    pub fn make_room(&mut self) -> Option<usize> {
        if self.0.len() < MOST { None } else { self.0.pop().map(|(_, slot)| slot) }
    }

    /// Adds one.
    pub fn add(&mut self, peer: SocketAddr, slot: usize) {
        self.0.insert(0, (peer, slot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_silent_one_is_forgotten() {
        let peer = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let mut peers = Peers::default();
        for port in 0..MOST as u16 {
            assert_eq!((peers.find(peer(port)), peers.make_room()), (None, None));
            peers.add(peer(port), port.into());
        }
        assert_eq!(peers.find(peer(0)), Some(0));
        assert_eq!(peers.make_room(), Some(1));
        peers.add(peer(99), 1);
        assert_eq!((peers.find(peer(1)), peers.find(peer(99))), (None, Some(1)));
    }
}
