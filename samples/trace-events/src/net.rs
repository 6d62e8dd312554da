//! A network interface with collisions, few buffers, and a queue that other code overwrites.

use xhist_rt::trace_event;

use crate::codes::{BAD_QUEUE, LATE_COLLISION, NO_BUFFER};

const BUFFERS: usize = 4;
/// A later collision violates the Ethernet standard.
const WINDOW: u32 = 512;

#[derive(Default)]
pub struct Net {
    queue: Vec<u32>,
    /// The expected length of the queue.
    queued: usize,
}

impl Net {
    /// Receives a packet of this many bytes.
    pub fn receive(&mut self, len: u32) {
        if self.queue.len() == BUFFERS {
            trace_event!(Sw1, NO_BUFFER; len, BUFFERS);
            return;
        }
        self.queue.push(len);
        self.queued += 1;
    }

    /// Sends a packet; `collided` is the bit of a collision.
    pub fn send(&mut self, len: u32, collided: Option<u32>) -> bool {
        match collided {
            Some(bit) if bit > WINDOW => {
                trace_event!(Hw2, LATE_COLLISION; bit, len);
                false
            }
            Some(_) => false,
            None => true,
        }
    }

    /// Delivers the oldest packet.
    pub fn take(&mut self) -> Option<u32> {
        if self.queue.len() != self.queued {
            trace_event!(Sw3, BAD_QUEUE; self.queue.len(), self.queued; b"rx queue");
            self.queued = self.queue.len();
        }
        self.queued = self.queued.saturating_sub(1);
        if self.queue.is_empty() { None } else { Some(self.queue.remove(0)) }
    }

    /// The bug of this sample.
    pub fn overwrite(&mut self) {
        self.queued += 3;
    }
}
