//! A link that has both directions: takes the stream to it, and its bytes to the receive channel.

use qs_core::rx::Callbacks;

use super::receive::Channel;
use crate::recorder;

/// Bytes that are moved at a time.
const PIECE: usize = 32;

/// Moves bytes between the program and its host, over any link that takes and gives bytes without waiting: a channel of RTT,
/// a UART, a socket. Commands have up to `LEN` bytes. The code that serves the link owns it, and calls [`Pump::turn`] again
/// and again.
///
/// ```
/// use xhist_rt::qs::{Callbacks, Pump};
///
/// struct Application;
/// impl Callbacks for Application {}
///
/// let mut pump = Pump::<128>::new();
/// let mut sent = Vec::<u8>::new();
/// let write = |bytes: &[u8]| {
///     sent.extend(bytes);
///     bytes.len()
/// };
/// pump.turn(write, |_| 0, &mut Application);
/// ```
#[derive(Clone, Debug)]
pub struct Pump<const LEN: usize> {
    channel: Channel<LEN>,
    /// Bytes of the stream that the link had no room for: those from `from` to `to`.
    block: [u8; PIECE],
    from: usize,
    to: usize,
}

impl<const LEN: usize> Default for Pump<LEN> {
    fn default() -> Self {
        Pump::new()
    }
}

impl<const LEN: usize> Pump<LEN> {
    /// The state after a reset.
    pub const fn new() -> Pump<LEN> {
        Pump { channel: Channel::new(), block: [0; PIECE], from: 0, to: 0 }
    }

    /// Carries out the commands that `read` has bytes of, closes the frame of statements, and gives the stream to `write`
    /// until there is no more or no room. `write` returns how many of its bytes it took, `read` how many it gave; neither
    /// waits. It takes at most `LEN` bytes a turn.
    pub fn turn(
        &mut self,
        mut write: impl FnMut(&[u8]) -> usize,
        mut read: impl FnMut(&mut [u8]) -> usize,
        callbacks: &mut impl Callbacks,
    ) {
        let mut piece = [0; PIECE];
        let mut room = LEN;
        while room > 0 {
            let most = room.min(PIECE);
            let len = read(piece.get_mut(..most).unwrap_or_default()).min(most);
            piece.iter().take(len).for_each(|byte| self.channel.byte(*byte, callbacks));
            room -= len;
            if len < most {
                break;
            }
        }
        recorder::flush();
        loop {
            if self.from == self.to {
                (self.from, self.to) = (0, recorder::get_block(&mut self.block));
            }
            let rest = self.block.get(self.from..self.to).unwrap_or_default();
            if rest.is_empty() {
                return;
            }
            let taken = write(rest).min(rest.len());
            self.from += taken;
            if self.from < self.to {
                return;
            }
        }
    }

    /// The receive channel, for its current objects.
    pub fn channel(&self) -> &Channel<LEN> {
        &self.channel
    }
}
