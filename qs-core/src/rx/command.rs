//! Parses commands of a host. Numbers are little-endian.

use super::ids::id;
use super::receiver::{Packet, fault};
use crate::record::trace::Opcodes;
use crate::record::{Fun, Kind, Obj, Sig, Sizes};

/// Kind that means state machine and active object together. The largest kind.
pub(super) const BOTH: u8 = 6;

/// Bytes of [`Command::Opcodes`].
const OPCODE_BYTES: u8 = 32;

/// A parsed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are named as QS names them")]
pub enum Command<'a> {
    /// Asks which target this is.
    Info,
    /// A command of the application. Missing parameters are 0.
    User { command: u8, params: [u32; 3] },
    /// Asks for a reset.
    Reset,
    /// A clock tick of this rate.
    Tick { rate: u8 },
    /// Asks for memory: `count` items of `size` bytes, `offset` bytes behind the current object.
    Peek { offset: u16, size: u8, count: u8 },
    /// Writes items of `size` bytes, `offset` bytes behind the current object.
    Poke { offset: u16, size: u8, data: &'a [u8] },
    /// Writes the same item `count` times.
    Fill { offset: u16, size: u8, count: u8, item: u32 },
    /// A test begins.
    TestSetup,
    /// A test ends.
    TestTeardown,
    /// Sets the value for the next use of a function's test probe.
    TestProbe { data: u32, fun: Fun },
    /// The bytes of the global filter.
    GlobalFilter([u8; 16]),
    /// Which profile events are on: a global filter with 32 bytes instead of 16. Not in QS; QP refuses it.
    Opcodes(Opcodes),
    /// The bytes of the local filter.
    LocalFilter([u8; 16]),
    /// Adds the id of an active object to the local filter, or removes it.
    AoFilter { kind: u8, obj: Obj },
    /// Makes an object the current one of its kind.
    CurrentObject { kind: u8, obj: Obj },
    /// The test continues.
    TestContinue,
    /// Asks for the current object of this kind.
    Query { kind: u8 },
    /// An event with its parameters, for the active object with this priority. 0 publishes it; 253 to 255 address the
    /// current object.
    Event { prio: u8, sig: Sig, params: &'a [u8] },
}

/// The bytes of a packet that are not parsed yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self, len: u8) -> Option<u64> {
        let bytes = self.take(len.into())?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn u8(&mut self) -> Option<u8> {
        self.number(1).map(|byte| byte as u8)
    }

    /// A number of 4 bytes; 0 at the end of the packet.
    fn u32_or_zero(&mut self) -> Option<u32> {
        if self.0.is_empty() { Some(0) } else { self.number(4).map(|number| number as u32) }
    }

    /// An object or a function, as wide as the target has them.
    fn address(&mut self, sizes: &Sizes, kind: Kind) -> Option<usize> {
        self.number(sizes.of(kind)?).map(|address| address as usize)
    }

    /// A filter: a length and that number of bytes. Another length is refused with the id of the packet.
    fn mask<const LEN: usize>(&mut self, id: u8) -> Result<[u8; LEN], u8> {
        match self.u8() {
            Some(len) if usize::from(len) == LEN => {
                self.take(LEN).and_then(|bytes| bytes.try_into().ok()).ok_or(fault::INCOMPLETE)
            }
            Some(_) => Err(id),
            None => Err(fault::INCOMPLETE),
        }
    }

    /// Offset and size of items in memory. Other sizes than 1, 2 and 4 are refused with the id of the packet.
    fn items(&mut self, id: u8) -> Result<(u16, u8), u8> {
        let offset = self.number(2).ok_or(fault::INCOMPLETE)? as u16;
        let size = self.u8().filter(|size| matches!(size, 1 | 2 | 4)).ok_or(id)?;
        Ok((offset, size))
    }
}

impl<'a> Command<'a> {
    /// Parses a packet for a target with these sizes. Ignores bytes behind the last field.
    ///
    /// # Errors
    /// The code for the error answer: the id of the packet, or a [`fault`].
    pub fn parse(packet: &Packet<'a>, sizes: &Sizes) -> Result<Command<'a>, u8> {
        let mut rest = Rest(packet.payload);
        let incomplete = fault::INCOMPLETE;
        Ok(match packet.id {
            id::INFO => Command::Info,
            id::COMMAND => {
                let command = rest.u8().ok_or(incomplete)?;
                let mut param = || rest.u32_or_zero().ok_or(incomplete);
                Command::User { command, params: [param()?, param()?, param()?] }
            }
            id::RESET => Command::Reset,
            id::TICK => Command::Tick { rate: rest.u8().ok_or(incomplete)? },
            id::PEEK => {
                let (offset, size) = rest.items(packet.id)?;
                Command::Peek { offset, size, count: rest.u8().ok_or(incomplete)? }
            }
            id::POKE => {
                let (offset, size) = rest.items(packet.id)?;
                let count = rest.u8().filter(|count| *count > 0).ok_or(packet.id)?;
                let data = rest.take(usize::from(count) * usize::from(size)).ok_or(packet.id)?;
                Command::Poke { offset, size, data }
            }
            id::FILL => {
                let (offset, size) = rest.items(packet.id)?;
                let count = rest.u8().filter(|count| *count > 0).ok_or(packet.id)?;
                let item = rest.number(size).ok_or(incomplete)? as u32;
                Command::Fill { offset, size, count, item }
            }
            id::TEST_SETUP => Command::TestSetup,
            id::TEST_TEARDOWN => Command::TestTeardown,
            id::TEST_PROBE => {
                let data = rest.number(4).ok_or(packet.id)? as u32;
                let fun = Fun(rest.address(sizes, Kind::Fun).ok_or(packet.id)?);
                Command::TestProbe { data, fun }
            }
            id::GLOBAL_FILTER => match rest.0 {
                [OPCODE_BYTES, ..] => Command::Opcodes(Opcodes::from_bytes(rest.mask(packet.id)?)),
                _ => Command::GlobalFilter(rest.mask(packet.id)?),
            },
            id::LOCAL_FILTER => Command::LocalFilter(rest.mask(packet.id)?),
            id::AO_FILTER | id::CURRENT_OBJECT => {
                let kind = rest.u8().ok_or(incomplete)?;
                if kind > BOTH {
                    return Err(packet.id);
                }
                let obj = Obj(rest.address(sizes, Kind::Obj).ok_or(incomplete)?);
                match packet.id {
                    id::AO_FILTER => Command::AoFilter { kind, obj },
                    _ => Command::CurrentObject { kind, obj },
                }
            }
            id::TEST_CONTINUE => Command::TestContinue,
            id::QUERY_CURRENT => Command::Query { kind: rest.u8().ok_or(incomplete)? },
            id::EVENT => {
                let prio = rest.u8().ok_or(incomplete)?;
                let sig = Sig(rest.number(sizes.sig).ok_or(incomplete)? as u32);
                let len = rest.number(2).ok_or(incomplete)? as usize;
                Command::Event { prio, sig, params: rest.take(len).ok_or(incomplete)? }
            }
            _ => return Err(fault::UNKNOWN),
        })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    fn parse(id: u8, payload: &[u8]) -> Result<Command<'_>, u8> {
        Command::parse(&Packet { id, payload }, &Sizes::DEFAULT)
    }

    #[test]
    fn the_length_of_a_global_filter_decides_whether_it_is_one_of_opcodes() {
        let mask: Vec<u8> = (1..=32).collect();
        let packet = |len: u8, bytes: usize| [&[len], &mask[..bytes]].concat();
        let filter = <[u8; 16]>::try_from(&mask[..16]).expect("16 bytes");
        assert_eq!(parse(id::GLOBAL_FILTER, &packet(16, 16)), Ok(Command::GlobalFilter(filter)));
        let opcodes = Opcodes::from_bytes(mask.as_slice().try_into().expect("32 bytes"));
        assert_eq!(parse(id::GLOBAL_FILTER, &packet(32, 32)), Ok(Command::Opcodes(opcodes)));
        for (len, bytes, error) in
            [(32, 31, fault::INCOMPLETE), (16, 15, fault::INCOMPLETE), (8, 8, id::GLOBAL_FILTER)]
        {
            assert_eq!(parse(id::GLOBAL_FILTER, &packet(len, bytes)), Err(error), "{len} {bytes}");
        }
        assert_eq!(parse(id::GLOBAL_FILTER, &[]), Err(fault::INCOMPLETE));
    }

    /// Each command with a packet of it, the error of a packet that is cut, and how many of its bytes may be missing.
    #[test]
    fn a_packet_is_its_command_and_a_cut_one_is_refused() {
        let incomplete = fault::INCOMPLETE;
        let (obj, fun) = (Obj(0x0403_0201), Fun(0x0403_0201));
        let mask = [9; 16];
        let local = [&[16][..], &mask].concat();
        let commands: [(u8, &[u8], Command<'_>, &[u8]); 17] = [
            (id::INFO, &[], Command::Info, &[]),
            (id::COMMAND, &[7], Command::User { command: 7, params: [0; 3] }, &[incomplete]),
            (
                id::COMMAND,
                &[7, 1, 2, 3, 4, 5, 0, 0, 0],
                Command::User { command: 7, params: [0x0403_0201, 5, 0] },
                &[incomplete],
            ),
            (id::RESET, &[], Command::Reset, &[]),
            (id::TICK, &[2], Command::Tick { rate: 2 }, &[incomplete]),
            (
                id::PEEK,
                &[1, 2, 4, 3],
                Command::Peek { offset: 0x0201, size: 4, count: 3 },
                &[incomplete, incomplete, id::PEEK, incomplete],
            ),
            (
                id::POKE,
                &[1, 2, 2, 2, 5, 6, 7, 8],
                Command::Poke { offset: 0x0201, size: 2, data: &[5, 6, 7, 8] },
                &[incomplete, incomplete, id::POKE],
            ),
            (
                id::FILL,
                &[1, 2, 2, 9, 5, 6],
                Command::Fill { offset: 0x0201, size: 2, count: 9, item: 0x0605 },
                &[incomplete, incomplete, id::FILL, id::FILL, incomplete],
            ),
            (id::TEST_SETUP, &[], Command::TestSetup, &[]),
            (id::TEST_TEARDOWN, &[], Command::TestTeardown, &[]),
            (
                id::TEST_PROBE,
                &[8, 0, 0, 1, 1, 2, 3, 4],
                Command::TestProbe { data: 0x0100_0008, fun },
                &[id::TEST_PROBE],
            ),
            (id::LOCAL_FILTER, &local, Command::LocalFilter(mask), &[incomplete]),
            (id::AO_FILTER, &[6, 1, 2, 3, 4], Command::AoFilter { kind: 6, obj }, &[incomplete]),
            (id::CURRENT_OBJECT, &[0, 1, 2, 3, 4], Command::CurrentObject { kind: 0, obj }, &[incomplete]),
            (id::TEST_CONTINUE, &[], Command::TestContinue, &[]),
            (id::QUERY_CURRENT, &[3], Command::Query { kind: 3 }, &[incomplete]),
            (
                id::EVENT,
                &[255, 1, 2, 2, 0, 8, 9],
                Command::Event { prio: 255, sig: Sig(0x0201), params: &[8, 9] },
                &[incomplete],
            ),
        ];
        for (id, packet, command, errors) in commands {
            assert_eq!(parse(id, packet), Ok(command));
            assert_eq!(
                parse(id, &[packet, &[1; 4][..4 * usize::from(id != id::COMMAND)]].concat()),
                Ok(command)
            );
            for len in 0..packet.len() {
                // Without its parameters, a command of the application is whole.
                if id == id::COMMAND && matches!(len, 1 | 5) {
                    continue;
                }
                let error = errors[len.min(errors.len() - 1)];
                assert_eq!(parse(id, &packet[..len]), Err(error), "{command:?} of {len} bytes");
            }
        }
        assert_eq!(parse(id::EVENT + 1, &[0; 9]), Err(fault::UNKNOWN));
    }

    #[test]
    fn what_no_target_can_do_is_refused_with_the_id_of_the_packet() {
        for (id, packet) in [
            (id::PEEK, &[0, 0, 0, 1][..]),
            (id::PEEK, &[0, 0, 3, 1]),
            (id::PEEK, &[0, 0, 8, 1]),
            (id::POKE, &[0, 0, 1, 0]),
            (id::FILL, &[0, 0, 1, 0, 5]),
            (id::AO_FILTER, &[BOTH + 1, 0, 0, 0, 0]),
            (id::CURRENT_OBJECT, &[BOTH + 1, 0, 0, 0, 0]),
            (id::LOCAL_FILTER, &[15; 16]),
        ] {
            assert_eq!(parse(id, packet), Err(id), "{packet:?}");
        }
    }
}
