//! Trace events in the style of QNX, as two application records. Source: QNX Neutrino, "Trace Event Logging".
//!
//! | id | record | elements behind the time stamp | how a stock QSPY shows it |
//! |---|---|---|---|
//! | 118 | exception event | `0xF5 code u32, 0x01 severity u8`, arguments, buffer | `0000123456 USER+018 0x00010005 6 17  FD FE` |
//! | 119 | profile event | `0xD0 opcode u8`, `0xF5 data u32` unless that is 0, arguments, buffer | `0000123456 USER+019 33 0x00000007 17` |
//!
//! An argument is an element of a number: `0x05` u32, `0x04` i32, `0x0E` u64 or `0x0D` i64. A buffer is one block of memory
//! (`0x09`), or several for a long buffer. An event that did not fit ends with the text `...`. Opcodes are values of
//! enumeration 5, so a host with its dictionary shows their names.

use byteorder::{ByteOrder as _, LittleEndian};

use super::element::{self, Data, HEX};
use super::field::Fields;

/// Id of exception events.
pub const EXCEPTION: u8 = 118;
/// Id of profile events.
pub const PROFILE: u8 = 119;
/// Maximum number of arguments of a profile event. An exception event has one less, because QNX counts its code.
pub const MAX_ARGS: usize = 7;
/// The enumeration whose values are opcodes.
pub const OPCODES: u8 = 5;

const FORMAT_CODE: u8 = Data::Uint(4).format(HEX);
const FORMAT_SEVERITY: u8 = Data::Uint(1).format(0);
const FORMAT_OPCODE: u8 = Data::Enum(OPCODES).format(0);
/// The format of an element of a buffer: a length of a byte and as many bytes.
pub const BLOCK: u8 = Data::Memory.format(0);
/// The end of a record that was cut.
const CUT: &[u8] = &[Data::Text.format(0), b'.', b'.', b'.', 0];

/// Severity of an event, and whether hardware or software causes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Severity {
    /// Hardware information, testing use.
    Hw0,
    /// Expected hardware error.
    Hw1,
    /// Unexpected recoverable hardware fault.
    Hw2,
    /// Unexpected non-recoverable hardware fault.
    Hw3,
    /// Software information, testing use.
    Sw0,
    /// Expected software error.
    Sw1,
    /// Unexpected recoverable software fault.
    Sw2,
    /// Unexpected non-recoverable software fault.
    Sw3,
}

/// Severities by number, with names and meanings.
pub const SEVERITIES: [(Severity, &str, &str); 8] = [
    (Severity::Hw0, "HW0", "hardware information, testing use"),
    (Severity::Hw1, "HW1", "expected hardware error"),
    (Severity::Hw2, "HW2", "unexpected recoverable hardware fault"),
    (Severity::Hw3, "HW3", "unexpected non-recoverable hardware fault"),
    (Severity::Sw0, "SW0", "software information, testing use"),
    (Severity::Sw1, "SW1", "expected software error"),
    (Severity::Sw2, "SW2", "unexpected recoverable software fault"),
    (Severity::Sw3, "SW3", "unexpected non-recoverable software fault"),
];

impl Severity {
    /// The severity with this number.
    pub const fn from_number(number: u8) -> Option<Severity> {
        if number < 8 { Some(SEVERITIES[number as usize].0) } else { None }
    }

    /// `HW0` to `SW3`.
    pub const fn name(self) -> &'static str {
        SEVERITIES[self as usize].1
    }

    /// The meaning, as text.
    pub const fn meaning(self) -> &'static str {
        SEVERITIES[self as usize].2
    }

    /// The level, from 0 (information) to 3 (non-recoverable).
    pub const fn level(self) -> u8 {
        self as u8 % 4
    }

    /// Whether hardware causes the event.
    pub const fn is_hardware(self) -> bool {
        (self as u8) < 4
    }
}

/// Code of an exception event: a major code, which names the owner, and a minor code of that owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(pub u32);

/// Major code of this project's own events.
pub const XHIST: u32 = 1;
/// Lowest major code that is computed from a name.
pub const NAMED: u32 = 0x80_0000;

impl Code {
    /// A ring was overwritten before its reader took it. The argument is the number of bytes.
    pub const RING_OVERRUN: Code = Code::new(XHIST, 1);
    /// There was no memory for a ring. The argument is the number of requested bytes.
    pub const ALLOCATION_FAILED: Code = Code::new(XHIST, 2);
    /// A write to the link failed. The argument is the error number of the system.
    pub const LINK_LOST: Code = Code::new(XHIST, 3);
    /// A line of a log, whose text is the buffer: an error.
    pub const LOG_ERROR: Code = Code::new(XHIST, 4);
    /// A warning.
    pub const LOG_WARN: Code = Code::new(XHIST, 5);
    /// Information.
    pub const LOG_INFO: Code = Code::new(XHIST, 6);
    /// For those who look for mistakes.
    pub const LOG_DEBUG: Code = Code::new(XHIST, 7);
    /// The finest.
    pub const LOG_TRACE: Code = Code::new(XHIST, 8);
    /// What the program wrote to its standard output, as text in the buffer.
    pub const STDOUT: Code = Code::new(XHIST, 9);
    /// What it wrote to its standard error.
    pub const STDERR: Code = Code::new(XHIST, 10);
    /// A line of the crate `defmt`, as bytes in the buffer that only its program can turn into text.
    pub const DEFMT: Code = Code::new(XHIST, 11);

    /// A code of this owner.
    ///
    /// # Panics
    /// If the major code has more than 24 bits. In a constant, this fails at compile time.
    pub const fn new(major: u32, minor: u8) -> Code {
        assert!(major < 1 << 24, "major codes have 24 bits");
        Code(major << 8 | minor as u32)
    }

    /// A major code for an owner without an assigned one, computed from its name. It is in the upper half of the codes,
    /// which is reserved for such owners.
    pub const fn major_of(name: &str) -> u32 {
        // FNV-1a, folded to the free bits.
        let (bytes, mut hash, mut at) = (name.as_bytes(), 0x811C_9DC5u32, 0);
        while at < bytes.len() {
            hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
            at += 1;
        }
        NAMED | (hash ^ hash >> 23) & (NAMED - 1)
    }

    /// The major code, 24 bits.
    pub const fn major(self) -> u32 {
        self.0 >> 8
    }

    /// The minor code, 8 bits.
    pub const fn minor(self) -> u8 {
        self.0 as u8
    }
}

/// An argument: any integer of up to eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arg {
    data: Data,
    bits: u64,
}

impl Arg {
    /// A placeholder for an unused argument.
    pub const ZERO: Arg = Arg { data: Data::Uint(4), bits: 0 };

    /// Whether the type is signed.
    pub const fn is_signed(self) -> bool {
        matches!(self.data, Data::Int(_))
    }

    /// Size in bytes: 4 or 8.
    pub const fn size(self) -> u8 {
        match self.data {
            Data::Int(size) | Data::Uint(size) => size,
            _ => 4,
        }
    }

    /// The value of an unsigned argument, or the bits of a signed one.
    pub const fn bits(self) -> u64 {
        self.bits
    }

    /// The value of a signed argument.
    pub const fn signed(self) -> i64 {
        match self.data {
            Data::Int(4) => self.bits as u32 as i32 as i64,
            _ => self.bits as i64,
        }
    }

    #[inline(always)]
    fn put(self, to: &mut impl Fields) {
        let (format, [a, b, c, d, e, f, g, h]) = (self.data.format(0), self.bits.to_le_bytes());
        match self.size() {
            4 => to.whole_element(&[format, a, b, c, d]),
            _ => to.whole_element(&[format, a, b, c, d, e, f, g, h]),
        }
    }
}

macro_rules! args {
    ($($from:ty as $to:ty, $bits:ty, $data:expr;)*) => {$(
        impl From<$from> for Arg {
            #[inline(always)]
            fn from(value: $from) -> Arg {
                Arg { data: $data, bits: (value as $to as $bits).into() }
            }
        }
    )*};
}

args! {
    bool as u32, u32, Data::Uint(4);
    u8 as u32, u32, Data::Uint(4);
    u16 as u32, u32, Data::Uint(4);
    u32 as u32, u32, Data::Uint(4);
    i8 as i32, u32, Data::Int(4);
    i16 as i32, u32, Data::Int(4);
    i32 as i32, u32, Data::Int(4);
    char as u32, u32, Data::Uint(4);
    u64 as u64, u64, Data::Uint(8);
    i64 as i64, u64, Data::Int(8);
}

impl From<usize> for Arg {
    /// With the width of this machine.
    #[inline(always)]
    fn from(value: usize) -> Arg {
        if size_of::<usize>() > 4 { Arg::from(value as u64) } else { Arg::from(value as u32) }
    }
}

impl From<isize> for Arg {
    /// With the width of this machine.
    #[inline(always)]
    fn from(value: isize) -> Arg {
        if size_of::<isize>() > 4 { Arg::from(value as i64) } else { Arg::from(value as i32) }
    }
}

impl<T> From<*const T> for Arg {
    /// The address as a number.
    #[inline(always)]
    fn from(value: *const T) -> Arg {
        Arg::from(value as usize)
    }
}

impl<T> From<*mut T> for Arg {
    /// The address as a number.
    #[inline(always)]
    fn from(value: *mut T) -> Arg {
        Arg::from(value as usize)
    }
}

/// Class of an event, and its identification in the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Something unexpected, or an error.
    Exception {
        /// Severity.
        severity: Severity,
        /// Code of the event.
        code: Code,
    },
    /// Normal operation.
    Profile {
        /// Opcode. Hosts switch each opcode on and off.
        opcode: u8,
        /// A number. QNX keeps 20 bits of it, this record all 32.
        data: u32,
    },
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// Class and identification.
    pub class: Class,
    /// Arguments, at most [`MAX_ARGS`].
    pub args: &'a [Arg],
    /// The buffer, if the event has one.
    pub buffer: Option<&'a [u8]>,
}

impl Event<'_> {
    /// Id of the event's record.
    #[inline(always)]
    pub const fn id(&self) -> u8 {
        match self.class {
            Class::Exception { .. } => EXCEPTION,
            Class::Profile { .. } => PROFILE,
        }
    }

    /// Writes the elements behind the time stamp.
    #[inline(always)]
    pub fn put(&self, to: &mut impl Fields) {
        match self.class {
            Class::Exception { severity, code } => {
                to.whole_element(&exception_head(severity, code));
            }
            Class::Profile { opcode, data } => {
                to.whole_element(&[FORMAT_OPCODE, opcode]);
                if data != 0 {
                    element::x32(to, 0, data);
                }
            }
        }
        self.args.iter().take(MAX_ARGS).for_each(|arg| arg.put(to));
        if let Some(buffer) = self.buffer {
            element::mem(to, 0, buffer);
        }
    }
}

/// The elements with which an exception event begins.
pub const fn exception_head(severity: Severity, code: Code) -> [u8; 7] {
    let [a, b, c, d] = code.0.to_le_bytes();
    [FORMAT_CODE, a, b, c, d, FORMAT_SEVERITY, severity as u8]
}

/// An event that was read from its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedEvent<'a> {
    /// Class and identification.
    pub class: Class,
    args: [Arg; MAX_ARGS],
    len: usize,
    /// The elements of the buffer.
    blocks: Option<&'a [u8]>,
    /// The event did not fit in its record: arguments or the end of the buffer are missing.
    pub is_cut: bool,
}

impl<'a> ParsedEvent<'a> {
    /// Reads the elements behind the time stamp. `None` if they are another application's record with the same id.
    pub fn parse(id: u8, elements: &'a [u8]) -> Option<ParsedEvent<'a>> {
        let (class, mut rest) = match (id, elements) {
            (EXCEPTION, [FORMAT_CODE, a, b, c, d, FORMAT_SEVERITY, severity, rest @ ..]) => {
                let code = Code(LittleEndian::read_u32(&[*a, *b, *c, *d]));
                (Class::Exception { severity: Severity::from_number(*severity)?, code }, rest)
            }
            (PROFILE, [FORMAT_OPCODE, opcode, FORMAT_CODE, a, b, c, d, rest @ ..]) => {
                let data = LittleEndian::read_u32(&[*a, *b, *c, *d]);
                (Class::Profile { opcode: *opcode, data }, rest)
            }
            (PROFILE, [FORMAT_OPCODE, opcode, rest @ ..]) => {
                (Class::Profile { opcode: *opcode, data: 0 }, rest)
            }
            _ => return None,
        };
        let (mut args, mut len) = ([Arg::ZERO; MAX_ARGS], 0);
        while let Some((arg, behind)) = argument(rest) {
            *args.get_mut(len)? = arg;
            (len, rest) = (len + 1, behind);
        }
        // A buffer may end with the same bytes.
        let mut behind = rest;
        while let Some((_, next)) = block(behind) {
            behind = next;
        }
        let is_cut = behind == CUT;
        if !is_cut && !behind.is_empty() {
            return None;
        }
        let blocks = &rest[..rest.len() - behind.len()];
        Some(ParsedEvent { class, args, len, blocks: (!blocks.is_empty()).then_some(blocks), is_cut })
    }

    /// The arguments.
    pub fn args(&self) -> &[Arg] {
        &self.args[..self.len]
    }

    /// The blocks of the buffer, if the event has one.
    pub fn buffer(&self) -> Option<impl Iterator<Item = &'a [u8]> + use<'a>> {
        let mut rest = self.blocks?;
        Some(core::iter::from_fn(move || {
            let (bytes, behind) = block(rest)?;
            rest = behind;
            Some(bytes)
        }))
    }
}

/// The block of memory at the start of elements, and the elements behind it.
fn block(elements: &[u8]) -> Option<(&[u8], &[u8])> {
    match elements {
        [BLOCK, len, rest @ ..] => rest.split_at_checked((*len).into()),
        _ => None,
    }
}

/// The argument at the start of elements, and the elements behind it.
fn argument(elements: &[u8]) -> Option<(Arg, &[u8])> {
    let (format, rest) = elements.split_first()?;
    let data = match *format {
        0x04 | 0x05 | 0x0D | 0x0E => Data::of(*format),
        _ => return None,
    };
    let size = Arg { data, bits: 0 }.size();
    let (bytes, behind) = rest.split_at_checked(size.into())?;
    let bits = bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    Some((Arg { data, bits }, behind))
}

/// Which profile events are on: one bit for each of the 256 opcodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Opcodes(pub [u32; 8]);

impl Opcodes {
    /// No opcode.
    pub const NONE: Opcodes = Opcodes([0; 8]);
    /// All opcodes.
    pub const ALL: Opcodes = Opcodes([u32::MAX; 8]);

    /// Whether this opcode is on.
    #[inline(always)]
    pub const fn has(&self, opcode: u8) -> bool {
        self.0[opcode as usize / 32] >> (opcode % 32) & 1 != 0
    }

    /// The set with this opcode switched on or off.
    #[must_use]
    pub const fn with(mut self, opcode: u8, is_on: bool) -> Opcodes {
        let bit = 1 << (opcode % 32);
        match is_on {
            true => self.0[opcode as usize / 32] |= bit,
            false => self.0[opcode as usize / 32] &= !bit,
        }
        self
    }

    /// The bytes that a host sends. Opcode 0 is the lowest bit of the first byte.
    pub const fn to_bytes(self) -> [u8; 32] {
        let (mut bytes, mut at) = ([0; 32], 0);
        while at < 32 {
            bytes[at] = (self.0[at / 4] >> (at % 4 * 8)) as u8;
            at += 1;
        }
        bytes
    }

    /// The reverse of [`Opcodes::to_bytes`].
    pub const fn from_bytes(bytes: [u8; 32]) -> Opcodes {
        let (mut words, mut at) = ([0; 8], 0);
        while at < 32 {
            words[at / 4] |= (bytes[at] as u32) << (at % 4 * 8);
            at += 1;
        }
        Opcodes(words)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    struct Bytes(Vec<u8>);

    impl Fields for Bytes {
        fn number(&mut self, _kind: super::super::Kind, _value: u64) {}

        fn bytes(&mut self, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }
    }

    fn elements(event: &Event<'_>) -> Vec<u8> {
        let mut bytes = Bytes(Vec::new());
        event.put(&mut bytes);
        bytes.0
    }

    fn any_arg() -> impl Strategy<Value = Arg> {
        prop_oneof![
            any::<u32>().prop_map(Arg::from),
            any::<i32>().prop_map(Arg::from),
            any::<u64>().prop_map(Arg::from),
            any::<i64>().prop_map(Arg::from),
        ]
    }

    fn any_class() -> impl Strategy<Value = Class> {
        prop_oneof![
            (0..8u8, any::<u32>()).prop_map(|(severity, code)| Class::Exception {
                severity: Severity::from_number(severity).unwrap(),
                code: Code(code)
            }),
            (any::<u8>(), any::<u32>()).prop_map(|(opcode, data)| Class::Profile { opcode, data }),
        ]
    }

    proptest! {
        #[test]
        fn every_shape_comes_back(
            class in any_class(),
            args in proptest::collection::vec(any_arg(), 0..=MAX_ARGS),
            buffer in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..700)),
        ) {
            let event = Event { class, args: &args, buffer: buffer.as_deref() };
            let elements = elements(&event);
            let parsed = ParsedEvent::parse(event.id(), &elements).expect("an event");
            prop_assert_eq!(parsed.class, class);
            prop_assert_eq!(parsed.args(), &args[..]);
            prop_assert!(!parsed.is_cut);
            let bytes = parsed.buffer().map(|blocks| blocks.flatten().copied().collect::<Vec<u8>>());
            prop_assert_eq!(bytes, buffer);
        }

        #[test]
        fn any_bytes_are_read(id in 118..=119u8, bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = ParsedEvent::parse(id, &bytes);
        }
    }

    #[test]
    fn a_cut_event_says_so() {
        let class = Class::Profile { opcode: 7, data: 0 };
        let mut bytes = elements(&Event { class, args: &[Arg::from(-5)], buffer: None });
        bytes.extend_from_slice(CUT);
        let parsed = ParsedEvent::parse(PROFILE, &bytes).expect("an event");
        assert!(parsed.is_cut && parsed.buffer().is_none());
        assert_eq!(parsed.args()[0].signed(), -5);
    }

    #[test]
    fn a_buffer_that_ends_as_a_cut_event_does_is_whole() {
        let class = Class::Profile { opcode: 7, data: 0 };
        for buffer in [CUT, b"before \x08...\0"] {
            let mut bytes = elements(&Event { class, args: &[], buffer: Some(buffer) });
            for is_cut in [false, true] {
                let parsed = ParsedEvent::parse(PROFILE, &bytes).expect("an event");
                assert_eq!(parsed.is_cut, is_cut);
                assert!(parsed.buffer().expect("a buffer").eq([buffer]));
                bytes.extend_from_slice(CUT);
            }
        }
    }

    #[test]
    fn pointers_of_both_kinds_are_arguments() {
        let mut value = 5;
        let place = &raw mut value;
        assert_eq!(Arg::from(place), Arg::from(place.cast_const()));
        assert_eq!(Arg::from(place).bits(), place.addr() as u64);
    }

    #[test]
    fn codes_and_masks_are_as_documented() {
        let code = Code::new(0x12_3456, 0x78);
        assert_eq!((code.0, code.major(), code.minor()), (0x1234_5678, 0x12_3456, 0x78));
        assert_ne!(Code::major_of("uart"), Code::major_of("usb"));
        assert!(Code::major_of("uart") >= NAMED && Code::major_of("uart") < 1 << 24);
        let mask = Opcodes::NONE.with(0, true).with(255, true).with(40, true).with(0, false);
        assert!(mask.has(255) && mask.has(40) && !mask.has(0));
        assert_eq!(Opcodes::from_bytes(mask.to_bytes()), mask);
        assert_eq!(mask.to_bytes()[5], 1);
        assert!(Opcodes::ALL.has(17) && SEVERITIES.iter().enumerate().all(|(at, row)| row.0 as usize == at));
    }
    #[test]
    fn a_severity_is_a_level_of_hardware_or_of_software() {
        for number in 0..8 {
            let severity = Severity::from_number(number).expect("a severity");
            let name =
                std::format!("{}{}", if severity.is_hardware() { "HW" } else { "SW" }, severity.level());
            assert_eq!((severity as u8, severity.name()), (number, name.as_str()));
        }
        assert_eq!(Severity::from_number(8), None);
    }
}
