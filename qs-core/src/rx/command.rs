//! Commands: their ids and names, and what stands in each.

use super::receiver::{Packet, fault};
use crate::record::trace::Opcodes;
use crate::record::{Fun, Kind, Obj, Sig, Sizes};

/// Ids of packets.
#[allow(missing_docs, reason = "named as QS names them")]
pub mod id {
    pub const INFO: u8 = 0;
    pub const COMMAND: u8 = 1;
    pub const RESET: u8 = 2;
    pub const TICK: u8 = 3;
    pub const PEEK: u8 = 4;
    pub const POKE: u8 = 5;
    pub const FILL: u8 = 6;
    pub const TEST_SETUP: u8 = 7;
    pub const TEST_TEARDOWN: u8 = 8;
    pub const TEST_PROBE: u8 = 9;
    pub const GLOBAL_FILTER: u8 = 10;
    pub const LOCAL_FILTER: u8 = 11;
    pub const AO_FILTER: u8 = 12;
    pub const CURRENT_OBJECT: u8 = 13;
    pub const TEST_CONTINUE: u8 = 14;
    pub const QUERY_CURRENT: u8 = 15;
    pub const EVENT: u8 = 16;
}

/// Names of packets, by id.
pub static COMMANDS: [&str; 17] = [
    "QS_RX_INFO",
    "QS_RX_COMMAND",
    "QS_RX_RESET",
    "QS_RX_TICK",
    "QS_RX_PEEK",
    "QS_RX_POKE",
    "QS_RX_FILL",
    "QS_RX_TEST_SETUP",
    "QS_RX_TEST_TEARDOWN",
    "QS_RX_TEST_PROBE",
    "QS_RX_GLB_FILTER",
    "QS_RX_LOC_FILTER",
    "QS_RX_AO_FILTER",
    "QS_RX_CURR_OBJ",
    "QS_RX_TEST_CONTINUE",
    "QS_RX_QUERY_CURR",
    "QS_RX_EVENT",
];

/// Name of a packet.
pub fn name(id: u8) -> Option<&'static str> {
    COMMANDS.get(usize::from(id)).copied()
}

/// Bytes of the mask of profile events.
const OPCODE_BYTES: u8 = 32;

/// A packet, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are named as QS names them")]
pub enum Command<'a> {
    /// Asks which target this is.
    Info,
    /// A command of the application.
    User { command: u8, params: [u32; 3] },
    /// Asks for a reset.
    Reset,
    /// A clock tick of this rate.
    Tick { rate: u8 },
    /// Asks for memory: `count` items of `size` bytes, `offset` bytes behind the current object.
    Peek { offset: u16, size: u8, count: u8 },
    /// Writes items of `size` bytes, `offset` bytes behind the current object.
    Poke { offset: u16, size: u8, data: &'a [u8] },
    /// The same with `count` times the same item.
    Fill { offset: u16, size: u8, count: u8, item: u32 },
    /// A test begins.
    TestSetup,
    /// A test ends.
    TestTeardown,
    /// The next use of a function's test probe shall get this.
    TestProbe { data: u32, fun: Fun },
    /// The bytes of the global filter.
    GlobalFilter([u8; 16]),
    /// Which profile events are on: a global filter with 32 bytes, not 16. Not in QS; QP refuses it.
    Opcodes(Opcodes),
    /// The bytes of the local filter.
    LocalFilter([u8; 16]),
    /// Adds the id of an active object to the local filter, or removes it.
    AoFilter { kind: u8, obj: Obj },
    /// Makes an object the current one of its kind.
    CurrentObject { kind: u8, obj: Obj },
    /// The test goes on.
    TestContinue,
    /// Asks for the current object of this kind.
    Query { kind: u8 },
    /// An event with its parameters, for the active object of this priority; 0 publishes it, 253 to 255 are for the
    /// current object.
    Event { prio: u8, sig: Sig, params: &'a [u8] },
}

/// The bytes of a packet that are still to be read.
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

    /// A number that is all of it or, at the packet's end, left out.
    fn optional(&mut self) -> Option<u32> {
        if self.0.is_empty() { Some(0) } else { self.number(4).map(|number| number as u32) }
    }

    fn address(&mut self, sizes: &Sizes, kind: Kind) -> Option<usize> {
        self.number(sizes.of(kind)?).map(|address| address as usize)
    }

    fn mask<const LEN: usize>(&mut self, id: u8) -> Result<[u8; LEN], u8> {
        match self.u8() {
            Some(len) if usize::from(len) == LEN => {
                self.take(LEN).and_then(|bytes| bytes.try_into().ok()).ok_or(fault::INCOMPLETE)
            }
            Some(_) => Err(id),
            None => Err(fault::INCOMPLETE),
        }
    }
}

impl<'a> Command<'a> {
    /// Reads a packet of a target with these sizes. What stands behind its last field is passed over.
    ///
    /// # Errors
    /// What an error answer tells: the id of the packet, or a [`fault`].
    pub fn parse(packet: &Packet<'a>, sizes: &Sizes) -> Result<Command<'a>, u8> {
        let mut rest = Rest(packet.payload);
        let incomplete = fault::INCOMPLETE;
        Ok(match packet.id {
            id::INFO => Command::Info,
            id::COMMAND => {
                let command = rest.u8().ok_or(incomplete)?;
                let mut param = || rest.optional().ok_or(incomplete);
                Command::User { command, params: [param()?, param()?, param()?] }
            }
            id::RESET => Command::Reset,
            id::TICK => Command::Tick { rate: rest.u8().ok_or(incomplete)? },
            id::PEEK => {
                let (offset, size) = Command::place(&mut rest, packet.id)?;
                Command::Peek { offset, size, count: rest.u8().ok_or(incomplete)? }
            }
            id::POKE => {
                let (offset, size) = Command::place(&mut rest, packet.id)?;
                let count = rest.u8().filter(|count| *count > 0).ok_or(packet.id)?;
                let data = rest.take(usize::from(count) * usize::from(size)).ok_or(packet.id)?;
                Command::Poke { offset, size, data }
            }
            id::FILL => {
                let (offset, size) = Command::place(&mut rest, packet.id)?;
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
                if kind > 6 {
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

    /// Offset and size of items in memory.
    fn place(rest: &mut Rest<'_>, id: u8) -> Result<(u16, u8), u8> {
        let offset = rest.number(2).ok_or(fault::INCOMPLETE)? as u16;
        let size = rest.u8().filter(|size| matches!(size, 1 | 2 | 4)).ok_or(id)?;
        Ok((offset, size))
    }
}
