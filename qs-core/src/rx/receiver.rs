//! Packets among the bytes of a link, and the faults that a target tells of.

use crate::frame::{ESCAPE, ESCAPE_XOR, FLAG};

/// What an error answer tells, besides the id of a packet.
pub mod fault {
    /// The checksum is wrong; [`DISCARDED`] follows.
    pub const CHECKSUM: u8 = 0x41;
    /// The sequence number is not the next one; the packet is taken all the same.
    pub const SEQUENCE: u8 = 0x42;
    /// No packet has this id.
    pub const UNKNOWN: u8 = 0x43;
    /// The packet ends too early.
    pub const INCOMPLETE: u8 = 0x47;
    /// A frame was thrown away.
    pub const DISCARDED: u8 = 0x50;
}

/// A good packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Its id.
    pub id: u8,
    /// What stands between the id and the checksum.
    pub payload: &'a [u8],
}

/// What came in by the end of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// Faults to tell, in this order; 0 for none.
    pub faults: [u8; 4],
    /// The packet, when it is to be carried out.
    pub packet: Option<Packet<'a>>,
}

/// Takes bytes of a link, with packets of up to `LEN` bytes in it: id, payload and checksum.
#[derive(Clone, Debug)]
pub struct Receiver<const LEN: usize> {
    bytes: [u8; LEN],
    /// Bytes of this frame, which may be more than there is room for.
    len: usize,
    sum: u8,
    escaped: bool,
    /// Sequence number of the packet before.
    seq: u8,
    /// Sequence number of this packet.
    found: u8,
}

impl<const LEN: usize> Default for Receiver<LEN> {
    fn default() -> Self {
        Receiver::new()
    }
}

impl<const LEN: usize> Receiver<LEN> {
    /// As after a reset: the first packet has number 1.
    pub const fn new() -> Receiver<LEN> {
        const { assert!(LEN > 2, "there must be room for a packet") };
        Receiver { bytes: [0; LEN], len: 0, sum: 0, escaped: false, seq: 0, found: 0 }
    }

    /// Takes one byte; at the end of a frame, what came in.
    pub fn byte(&mut self, byte: u8) -> Option<Received<'_>> {
        match byte {
            _ if self.escaped => {
                self.escaped = false;
                self.add(byte ^ ESCAPE_XOR);
            }
            ESCAPE => self.escaped = true,
            FLAG => return Some(self.end()),
            _ => self.add(byte),
        }
        None
    }

    fn add(&mut self, byte: u8) {
        self.sum = self.sum.wrapping_add(byte);
        match self.len.checked_sub(1) {
            None => self.found = byte,
            Some(at) => {
                if let Some(place) = self.bytes.get_mut(at) {
                    *place = byte;
                }
            }
        }
        self.len = self.len.saturating_add(1);
    }

    fn end(&mut self) -> Received<'_> {
        let (len, sum) = (self.len, self.sum);
        (self.len, self.sum) = (0, 0);
        let mut faults = [0; 4];
        let mut count = 0;
        let mut tell = |fault| {
            faults[count] = fault;
            count += 1;
        };
        if len > 0 {
            if self.found != self.seq.wrapping_add(1) {
                tell(fault::SEQUENCE);
            }
            self.seq = self.found;
        }
        // A frame of two bytes has its checksum where the id should be.
        let is_unknown = len > 1 && usize::from(self.bytes[0]) >= super::COMMANDS.len();
        if is_unknown {
            tell(fault::UNKNOWN);
        }
        if sum != 0xFF {
            tell(fault::CHECKSUM);
            tell(fault::DISCARDED);
            return Received { faults, packet: None };
        }
        let packet = self.bytes.get(..len.saturating_sub(1)).and_then(|bytes| {
            let [id, payload @ .., _checksum] = bytes else { return None };
            Some(Packet { id: *id, payload })
        });
        if packet.is_none() && !is_unknown {
            tell(fault::DISCARDED);
        }
        Received { faults, packet: packet.filter(|_| !is_unknown) }
    }
}
