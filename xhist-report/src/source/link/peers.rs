//! Those who send datagrams to one socket, each a connection of its own. When there are too many, the weakest one is forgotten, or the
//! one that has been silent for longest. It must not know sockets.

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

    /// Makes room for one more; the connection that is over by that, `weakest` if there is such a one.
    pub fn make_room(&mut self, weakest: impl FnOnce() -> Option<usize>) -> Option<usize> {
        if self.0.len() < MOST {
            return None;
        }
        let weakest = weakest().and_then(|slot| self.0.iter().position(|(_, known)| *known == slot));
        Some(self.0.remove(weakest.unwrap_or(self.0.len() - 1)).1)
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
