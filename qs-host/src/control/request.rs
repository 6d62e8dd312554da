//! Packets for a target: ids, and payloads of numbers, addresses and signals.

use qs_core::frame::FrameWriter;
use qs_core::rx::id;

use crate::symbols::dictionary::cut;
use crate::symbols::target_symbols::TargetSymbols;

/// From this version on, commands of the application have an enumeration of their own.
const COMMANDS_FROM: u16 = 714;
/// That enumeration.
const COMMANDS: usize = 7;

/// A packet, before it has a sequence number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its id.
    pub id: u8,
    /// The bytes behind the id.
    pub payload: Vec<u8>,
}

/// Encodes numbers in the sizes of the target.
#[derive(Debug, Default)]
struct Payload(Vec<u8>);

impl Payload {
    fn number(mut self, value: u64, len: u8) -> Payload {
        self.0.extend_from_slice(&value.to_le_bytes()[..usize::from(len.min(8))]);
        self
    }

    fn bytes(mut self, bytes: &[u8]) -> Payload {
        self.0.extend_from_slice(bytes);
        self
    }

    fn of(self, id: u8) -> Request {
        Request { id, payload: self.0 }
    }
}

impl Request {
    /// Without anything behind its id.
    pub fn bare(id: u8) -> Request {
        Payload::default().of(id)
    }

    /// With one byte behind it: a tick, a query.
    pub fn byte(id: u8, byte: u8) -> Request {
        Payload::default().number(byte.into(), 1).of(id)
    }

    /// A command of the application.
    pub fn command(command: u8, params: [u32; 3]) -> Request {
        let payload = Payload::default().number(command.into(), 1);
        params.iter().fold(payload, |payload, param| payload.number((*param).into(), 4)).of(id::COMMAND)
    }

    /// About items in memory: peek, poke or fill.
    pub fn memory(id: u8, offset: u16, size: u8, count: u8, data: &[u8]) -> Request {
        let payload = Payload::default().number(offset.into(), 2).number(size.into(), 1);
        payload.number(count.into(), 1).bytes(data).of(id)
    }

    /// A whole filter.
    pub fn filter<const LEN: usize>(id: u8, filter: [u8; LEN]) -> Request {
        Payload::default().number(LEN as u64, 1).bytes(&filter).of(id)
    }

    /// About an object: the current one, or the filter of an active one.
    pub fn object(id: u8, kind: u8, object: u64, known: &TargetSymbols) -> Request {
        Payload::default().number(kind.into(), 1).number(object, known.target.sizes.obj).of(id)
    }

    /// What the next use of a function shall find.
    pub fn probe(data: u32, function: u64, known: &TargetSymbols) -> Request {
        Payload::default().number(data.into(), 4).number(function, known.target.sizes.fun).of(id::TEST_PROBE)
    }

    /// An event.
    pub fn event(prio: u8, signal: u32, params: &[u8], known: &TargetSymbols) -> Request {
        let payload = Payload::default().number(prio.into(), 1).number(signal.into(), known.target.sizes.sig);
        payload.number(params.len() as u64, 2).bytes(params).of(id::EVENT)
    }

    /// The packet as a frame for a link.
    pub fn framed(&self, seq: u8) -> Vec<u8> {
        let mut frame = Vec::with_capacity(2 * self.payload.len() + 8);
        FrameWriter::new(seq, self.id, |byte| frame.push(byte)).bytes(&self.payload).finish();
        frame
    }
}

impl TargetSymbols {
    /// The number of a command by its name.
    pub fn command_named(&self, name: &[u8]) -> Option<u8> {
        let commands = match self.target.version {
            COMMANDS_FROM.. => &self.enums[COMMANDS],
            _ => &self.users,
        };
        commands.key_of(name).and_then(|key| u8::try_from(key).ok())
    }

    /// The number of a signal by its name, as an object knows it.
    pub fn signal_named(&self, name: &[u8], object: u64) -> Option<u32> {
        let named = || self.signals.iter().filter(|(_, _, known)| *known == cut(name));
        let fits = |owner: u64| named().find(|(_, object, _)| *object == owner);
        fits(object).or_else(|| fits(0)).or_else(|| named().next()).map(|(signal, _, _)| signal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TargetDescription;
    use qs_core::frame::{Decoder, Outcome};
    use qs_core::record::Sizes;
    use qs_core::rx::{Command, Packet};

    #[test]
    fn a_target_parses_every_request() {
        let mut known = TargetSymbols::new(TargetDescription::default());
        known.target.sizes.obj = 8;
        known.target.sizes.fun = 8;
        let sizes: Sizes = known.target.sizes;
        let read = |request: &Request| {
            let bytes = request.framed(0x7E);
            let mut decoder = Decoder::new();
            let frame = bytes.iter().find_map(|byte| match decoder.push(*byte) {
                Outcome::Frame(frame) => Some((frame.seq, frame.id, frame.payload.to_vec())),
                _ => None,
            });
            assert_eq!(frame, Some((0x7E, request.id, request.payload.clone())));
            let packet = Packet { id: request.id, payload: &request.payload };
            format!("{:?}", Command::parse(&packet, &sizes).expect("a command"))
        };
        let command = read(&Request::command(3, [1, 2, 0x7E7D]));
        assert_eq!(command, "User { command: 3, params: [1, 2, 32381] }");
        assert_eq!(read(&Request::byte(id::TICK, 1)), "Tick { rate: 1 }");
        assert_eq!(read(&Request::bare(id::TEST_SETUP)), "TestSetup");
        let peek = read(&Request::memory(id::PEEK, 258, 4, 2, &[]));
        assert_eq!(peek, "Peek { offset: 258, size: 4, count: 2 }");
        let event = read(&Request::event(2, 9, &[1, 2], &known));
        assert_eq!(event, "Event { prio: 2, sig: Sig(9), params: [1, 2] }");
        let current = read(&Request::object(id::CURRENT_OBJECT, 5, 0x1_0000_0002, &known));
        assert_eq!(current, "CurrentObject { kind: 5, obj: Obj(4294967298) }");
        assert_eq!(read(&Request::probe(7, 64, &known)), "TestProbe { data: 7, fun: Fun(64) }");
        assert!(read(&Request::filter(id::GLOBAL_FILTER, [7; 16])).starts_with("GlobalFilter"));
    }

    #[test]
    fn names_have_numbers() {
        let mut known = TargetSymbols::new(TargetDescription::default());
        known.target.set_version(734);
        known.enums[COMMANDS].define(2, b"PAUSE");
        known.signals.define(4, 0x10, b"ITS");
        known.signals.define(5, 0, b"ALL");
        // Longer than names are kept.
        known.signals.define(6, 0, &[b'S'; 70]);
        assert_eq!(known.signal_named(&[b'S'; 70], 0), Some(6));
        known.objects.define(0x20, b"Table");
        assert_eq!((known.command_named(b"PAUSE"), known.command_named(b"X")), (Some(2), None));
        assert_eq!((known.signal_named(b"ITS", 0x10), known.signal_named(b"ALL", 0x10)), (Some(4), Some(5)));
        assert_eq!((known.objects.key_of(b"Table"), known.objects.key_of(b"NULL")), (Some(0x20), Some(0)));
    }
}
