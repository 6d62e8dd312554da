//! The senders of datagrams to one socket, each with its connection. When there are too many, the weakest one is forgotten, or the
//! one that has been silent for longest.

use std::net::SocketAddr;

/// Most senders.
const MOST: usize = 32;

/// The peers with their connections; the one that sent last is first.
#[derive(Debug, Default)]
pub struct Peers(Vec<(SocketAddr, usize)>);

impl Peers {
    /// The connection of a known peer.
    pub fn find(&mut self, peer: SocketAddr) -> Option<usize> {
        let place = self.0.iter().position(|(known, _)| *known == peer)?;
        self.0[..=place].rotate_right(1);
        Some(self.0[0].1)
    }

    /// Makes room for one more peer. Returns the connection that it closes for that: `weakest`, if that is a peer's.
    pub fn make_room(&mut self, weakest: impl FnOnce() -> Option<usize>) -> Option<usize> {
        if self.0.len() < MOST {
            return None;
        }
        let weakest = weakest().and_then(|slot| self.0.iter().position(|(_, known)| *known == slot));
        Some(self.0.remove(weakest.unwrap_or(self.0.len() - 1)).1)
    }

    /// Adds a peer.
    pub fn add(&mut self, peer: SocketAddr, slot: usize) {
        self.0.insert(0, (peer, slot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peer_silent_for_longest_is_forgotten() {
        let peer = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let mut peers = Peers::default();
        for port in 0..MOST as u16 {
            assert_eq!((peers.find(peer(port)), peers.make_room(|| Some(9))), (None, None));
            peers.add(peer(port), port.into());
        }
        assert_eq!(peers.find(peer(0)), Some(0));
        assert_eq!(peers.make_room(|| None), Some(1));
        peers.add(peer(99), 1);
        assert_eq!((peers.find(peer(1)), peers.find(peer(99))), (None, Some(1)));
        assert_eq!(peers.make_room(|| Some(7)), Some(7));
        assert_eq!(peers.find(peer(7)), None);
    }
}
