//! A network interface: collisions, few buffers, and a queue that somebody else writes over.

use xhist_rt::trace_event;

use crate::codes::{BAD_QUEUE, LATE_COLLISION, NO_BUFFER};

const BUFFERS: usize = 4;
/// A collision later than this is none of those that happen.
const WINDOW: u32 = 512;

#[derive(Default)]
pub struct Net {
    queue: Vec<u32>,
    /// What the queue's length should be.
    queued: usize,
}

impl Net {
    /// Takes a packet of so many bytes.
    pub fn receive(&mut self, len: u32) {
        if self.queue.len() == BUFFERS {
            trace_event!(Sw1, NO_BUFFER; len, BUFFERS);
            return;
        }
        self.queue.push(len);
        self.queued += 1;
    }

    /// Sends a packet; `collided` is the bit at which somebody else did too.
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

    /// Hands the oldest packet on.
    pub fn take(&mut self) -> Option<u32> {
        if self.queue.len() != self.queued {
            trace_event!(Sw3, BAD_QUEUE; self.queue.len(), self.queued; b"rx queue");
            self.queued = self.queue.len();
        }
        self.queued = self.queued.saturating_sub(1);
        if self.queue.is_empty() { None } else { Some(self.queue.remove(0)) }
    }

    /// The fault that this sample is about.
    pub fn overwrite(&mut self) {
        self.queued += 3;
    }
}
