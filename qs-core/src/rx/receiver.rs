//! Unframes the packets that a host sends to a target, and detects faults in them.

use super::ids::COMMANDS;
use crate::frame::{ESCAPE, ESCAPE_XOR, FLAG};

/// Codes of an error answer, besides the id of a packet.
pub mod fault {
    /// The checksum is wrong; [`DISCARDED`] follows.
    pub const CHECKSUM: u8 = 0x41;
    /// The sequence number is not the expected one. The packet is executed anyway.
    pub const SEQUENCE: u8 = 0x42;
    /// No packet has this id.
    pub const UNKNOWN: u8 = 0x43;
    /// The packet ends too early.
    pub const INCOMPLETE: u8 = 0x47;
    /// A frame was discarded.
    pub const DISCARDED: u8 = 0x50;
}

/// A valid packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The id of the command.
    pub id: u8,
    /// The bytes between id and checksum.
    pub payload: &'a [u8],
}

/// The result at the end of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// Faults to report, in this order. 0 = no fault.
    pub faults: [u8; 4],
    /// The packet to execute, if there is one.
    pub packet: Option<Packet<'a>>,
}

/// Takes the bytes of a link one by one. A packet has up to `LEN` bytes: id, payload and checksum.
#[derive(Clone, Debug)]
pub struct Receiver<const LEN: usize> {
    bytes: [u8; LEN],
    /// Bytes of this frame so far, which may be more than `LEN`.
    len: usize,
    sum: u8,
    escaped: bool,
    /// Sequence number of the previous packet.
    previous_seq: u8,
    /// Sequence number of this packet.
    seq: u8,
}

impl<const LEN: usize> Default for Receiver<LEN> {
    fn default() -> Self {
        Receiver::new()
    }
}

impl<const LEN: usize> Receiver<LEN> {
    /// The state after a reset: the first packet has number 1.
    pub const fn new() -> Receiver<LEN> {
        const { assert!(LEN > 2, "there must be room for a packet") };
        Receiver { bytes: [0; LEN], len: 0, sum: 0, escaped: false, previous_seq: 0, seq: 0 }
    }

    /// Takes one byte. Returns the result at the end of a frame.
    pub fn byte(&mut self, byte: u8) -> Option<Received<'_>> {
        match byte {
            _ if self.escaped => {
                self.escaped = false;
                self.add(byte ^ ESCAPE_XOR);
            }
            ESCAPE => self.escaped = true,
            FLAG => return Some(self.end_frame()),
            _ => self.add(byte),
        }
        None
    }

    fn add(&mut self, byte: u8) {
        self.sum = self.sum.wrapping_add(byte);
        match self.len.checked_sub(1) {
            None => self.seq = byte,
            Some(at) => {
                if let Some(place) = self.bytes.get_mut(at) {
                    *place = byte;
                }
            }
        }
        self.len = self.len.saturating_add(1);
    }

    fn end_frame(&mut self) -> Received<'_> {
        let (len, sum) = (self.len, self.sum);
        (self.len, self.sum) = (0, 0);
        let mut faults = [0; 4];
        let mut count = 0;
        let mut report = |fault| {
            faults[count] = fault;
            count += 1;
        };
        if len > 0 {
            if self.seq != self.previous_seq.wrapping_add(1) {
                report(fault::SEQUENCE);
            }
            self.previous_seq = self.seq;
        }
        // A frame of two bytes has its checksum where the id should be.
        let is_unknown = len > 1 && usize::from(self.bytes[0]) >= COMMANDS.len();
        if is_unknown {
            report(fault::UNKNOWN);
        }
        if sum != 0xFF {
            report(fault::CHECKSUM);
            report(fault::DISCARDED);
            return Received { faults, packet: None };
        }
        let packet = self.bytes.get(..len.saturating_sub(1)).and_then(|bytes| {
            let [id, payload @ .., _checksum] = bytes else { return None };
            Some(Packet { id: *id, payload })
        });
        if packet.is_none() && !is_unknown {
            report(fault::DISCARDED);
        }
        Received { faults, packet: packet.filter(|_| !is_unknown) }
    }
}
