//! Records and errors as the lines that QSPY prints.

use qs_core::record::info;
use qs_core::rx::COMMANDS;

use crate::format_number as put;
use crate::stream::decoded::{DecodedRecord, RecordShape, is_address, shown};
use crate::stream::element::{self, Element, Value};
use crate::stream::field_reader::{MissingBytes, little_endian};
use crate::stream::plan::{MAX_FIELDS, Op, Plan};
use crate::stream::receiver::{BadFrame, Fault, SequenceJump};
use crate::symbols::target_symbols::{TargetSymbols, push_address};

/// QSPY cuts lines at this length.
const MAX_LINE: usize = 991;
/// The columns of the time, empty.
const NO_TIME: &[u8] = b"           ";
const ERROR: &[u8] = b"   <COMMS> ERROR    ";

/// What a line is about; QSPY colours each class in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineClass {
    /// A record, or an error within a record.
    Ordinary,
    /// An error of transmission, or in a dictionary file.
    Error,
    /// An event outside the stream, such as a connection.
    Info,
    /// A note of a test.
    TestNote,
    /// A note of the user.
    UserNote,
}

/// Formats lines, one after another in the same memory.
#[derive(Clone, Debug, Default)]
pub struct LineFormatter {
    line: Vec<u8>,
}

/// Receives lines.
pub trait LineSink {
    /// Receives a line without its line end.
    fn line(&mut self, class: LineClass, line: &[u8]);
}

impl<F: FnMut(LineClass, &[u8])> LineSink for F {
    fn line(&mut self, class: LineClass, line: &[u8]) {
        self(class, line);
    }
}

impl LineFormatter {
    /// Formats a record: lines of errors in it, then its own line. Returns whether it is as long as its layout.
    #[inline]
    pub fn record(
        &mut self,
        record: &DecodedRecord<'_>,
        known: &TargetSymbols,
        to: &mut impl LineSink,
    ) -> bool {
        match record.shape {
            RecordShape::Empty => {}
            RecordShape::Unknown => {
                self.start(NO_TIME);
                self.add(b"Unknown Rec=");
                put::number(&mut self.line, record.id().into());
                self.add(b",Len=");
                put::number(&mut self.line, record.raw.payload().len() as u64);
                self.give(LineClass::Ordinary, to);
            }
            RecordShape::Fields(plan) if plan.ops.is_empty() => {}
            RecordShape::Fields(plan) => {
                self.shorts(record.shorts, to);
                match record.left {
                    0 => self.fields(plan, record, known),
                    left => self.misfit(left, plan.name),
                }
                self.give(LineClass::Ordinary, to);
            }
            RecordShape::User(_) => {
                self.shorts(record.shorts, to);
                let fits = self.user(record, known, to);
                self.give(LineClass::Ordinary, to);
                return fits;
            }
        }
        record.left == 0
    }

    /// Formats the error of a bad frame.
    pub fn trouble(&mut self, trouble: &BadFrame, known: &TargetSymbols, to: &mut impl LineSink) {
        let BadFrame { fault, last, id, .. } = *trouble;
        self.start(ERROR);
        match fault {
            Fault::Checksum => {
                self.add(b"Bad checksum in Rec=");
                self.name(id, known, 0);
                self.add(b"(?),Seq=");
                put::number(&mut self.line, last.into());
            }
            Fault::TooShort => {
                self.add(b"Record too short at Seq=");
                put::number(&mut self.line, last.into());
                self.add(b"(?),Rec=");
                self.name(id, known, 0);
                if id >= known.target.user_base() {
                    self.add(b"(?)");
                }
            }
            Fault::TooLong { escaped: true } => {
                self.add(b"Record too long at Seq=");
                put::number(&mut self.line, last.into());
                self.add(b"(?),Rec=");
                self.name(id, known, 0);
                self.add(b"(?)");
            }
            Fault::TooLong { escaped: false } => {
                self.add(b"Record too long at Seq=");
                put::right(&mut self.line, last, 3);
                self.add(b",Rec=");
                self.name(id, known, 3);
            }
        }
        self.give(LineClass::Error, to);
    }

    /// Formats the error of a jump of the sequence number.
    pub fn jump(&mut self, jump: &SequenceJump, to: &mut impl LineSink) {
        self.start(ERROR);
        self.add(b"Discontinuity Seq=");
        put::number(&mut self.line, jump.from.into());
        self.add(b"->");
        put::number(&mut self.line, jump.to.into());
        self.give(LineClass::Error, to);
    }

    fn start(&mut self, with: &[u8]) {
        self.line.clear();
        self.add(with);
    }

    fn add(&mut self, text: &[u8]) {
        self.line.extend_from_slice(text);
    }

    #[inline]
    fn give(&mut self, class: LineClass, to: &mut impl LineSink) {
        self.line.truncate(MAX_LINE);
        to.line(class, &self.line);
    }

    /// Appends the name of a record, or the number of an application record.
    fn name(&mut self, id: u8, known: &TargetSymbols, width: usize) {
        match id.checked_sub(known.target.user_base()) {
            Some(number) => {
                self.add(b"USER+");
                put::right(&mut self.line, number, width);
            }
            None => self.add(info(id).map_or("QS_RESERVED", |info| info.name).as_bytes()),
        }
    }

    #[cold]
    fn misfit(&mut self, left: i32, name: &str) {
        self.start(ERROR);
        put::number(&mut self.line, left.unsigned_abs().into());
        self.add(if left > 0 { b" bytes unused in Rec=" } else { b" bytes needed in Rec=" });
        self.add(name.as_bytes());
    }

    #[inline]
    fn shorts(&mut self, shorts: &[MissingBytes], to: &mut impl LineSink) {
        for short in shorts {
            self.short(short, to);
        }
    }

    /// Gives the error of missing bytes at once. Like QSPY, the line of the record continues behind the error's text.
    #[cold]
    fn short(&mut self, short: &MissingBytes, to: &mut impl LineSink) {
        self.start(ERROR);
        match *short {
            MissingBytes::Number { more, len, signed } => {
                put::signed(&mut self.line, more.into());
                self.add(if signed { b" more bytes needed for int" } else { b" more bytes needed for uint" });
                put::number(&mut self.line, 8 * u64::from(len));
                self.add(b"_t ");
            }
            MissingBytes::Text(left) => {
                put::signed(&mut self.line, left.into());
                self.add(b" more bytes needed for string");
            }
            MissingBytes::Memory(left) => {
                put::signed(&mut self.line, left.into());
                self.add(b" more bytes needed for memory-dump");
            }
        }
        self.give(LineClass::Ordinary, to);
    }

    fn fields(&mut self, plan: &Plan, record: &DecodedRecord<'_>, known: &TargetSymbols) {
        self.line.clear();
        for (before, op) in &plan.ops {
            before.push(&mut self.line);
            self.op(op, plan, record, known);
        }
    }

    #[inline(always)]
    fn op(&mut self, op: &Op, plan: &Plan, record: &DecodedRecord<'_>, known: &TargetSymbols) {
        let value = |place: u8| record.values[usize::from(place) % MAX_FIELDS];
        let line = &mut self.line;
        match *op {
            Op::Literal(ref text) => text.push(line),
            Op::Time => {
                put::padded(line, record.time, 10);
                line.push(b' ');
            }
            Op::Number(place) => put::number(line, value(place)),
            Op::Obj(place) => known.push_object(value(place), line),
            Op::Fun(place) => known.push_function(value(place), line),
            Op::Sig(place, object) => known.push_signal(value(place), object.map_or(0, value), line),
            _ => self.other_op(op, plan, record, known),
        }
    }

    /// Rare fields, kept out of the hot function: inlined, their set-up would slow every record.
    #[inline(never)]
    fn other_op(&mut self, op: &Op, plan: &Plan, record: &DecodedRecord<'_>, known: &TargetSymbols) {
        let value = |place: u8| record.values[usize::from(place) % MAX_FIELDS];
        let line = &mut self.line;
        match *op {
            Op::Literal(_) | Op::Time | Op::Number(_) | Op::Obj(_) | Op::Fun(_) | Op::Sig(..) => {}
            Op::Padded(place, width) => put::padded(line, value(place), width.into()),
            Op::Signed(place) => put::signed(line, (value(place) as i32).into()),
            Op::SignedPadded(place, width) => put::signed_padded(line, value(place) as i32, width.into()),
            Op::Masked(place, mask) => put::number(line, value(place) & u64::from(mask)),
            Op::Address(place) => {
                let kind = plan.fields[usize::from(place)].kind;
                debug_assert!(is_address(kind), "only addresses are shown as such");
                push_address(value(place), known.target.sizes.of(kind).unwrap_or(0).into(), line);
            }
            Op::ObjAfter(place, first) => {
                let unknown = |place: u8| known.objects.get(value(place)).is_none();
                let place = if unknown(place) && unknown(first) { first } else { place };
                known.push_object(value(place), line);
            }
            Op::Text => push_text(record, known, line),
            Op::Version => put::number(line, known.target.version.into()),
            Op::Reset(place) => {
                line.extend_from_slice(if value(place) == 0 { b"Trg-Info" } else { b"Trg-RST " });
            }
            Op::Command(place) => push_command(value(place), line),
            Op::Ack(place) => push_ack(value(place), line),
            Op::Items => push_items(record, line),
            Op::Flags(place) => put::hex(line, value(place) & 0xF0, 2),
        }
    }

    #[inline(never)]
    fn user(&mut self, record: &DecodedRecord<'_>, known: &TargetSymbols, to: &mut impl LineSink) -> bool {
        let RecordShape::User(mut take) = record.shape else { return true };
        self.line.clear();
        put::padded(&mut self.line, record.time, 10);
        self.line.push(b' ');
        known.push_user(record.id(), &mut self.line);
        // Like QSPY, a line ends at an empty text: only the error of a later element starts another.
        let mut ended = false;
        while let Some(element) = element::next(&mut take, &known.target) {
            for short in element.short_before.iter().chain(&element.short) {
                self.short(short, to);
                ended = false;
            }
            if !ended {
                ended = !push_element(&element, known, &mut self.line);
            }
        }
        // Below zero: a field was longer than the record.
        take.left() == 0
    }
}

/// Appends the text of a record.
fn push_text(record: &DecodedRecord<'_>, known: &TargetSymbols, line: &mut Vec<u8>) {
    match record.named_object() {
        Some(_) => line.extend_from_slice(&record.object_name(known)),
        None => line.extend_from_slice(record.shown_text()),
    }
}

fn push_command(id: u64, line: &mut Vec<u8>) {
    match COMMANDS.get(id as usize) {
        Some(name) => line.extend_from_slice(name.as_bytes()),
        None => put::number(line, id),
    }
}

fn push_ack(status: u64, line: &mut Vec<u8>) {
    if status & 0x80 == 0 {
        line.extend_from_slice(b"Trg-Ack  ");
        return push_command(status, line);
    }
    line.extend_from_slice(b"Trg-ERR  ");
    match COMMANDS.get(status as usize & 0x7F) {
        Some(name) => line.extend_from_slice(name.as_bytes()),
        None => {
            line.extend_from_slice(b"0x");
            put::hex(line, status & 0x7F, 2);
        }
    }
}

/// Appends memory as items of 1, 2 or 4 bytes, at least one.
fn push_items(record: &DecodedRecord<'_>, line: &mut Vec<u8>) {
    let (Some(size @ (1 | 2 | 4)), Some(count)) = (record.value("size"), record.value("num")) else { return };
    let size = size as usize;
    for index in 0..(count as usize).max(1) {
        if index > 0 {
            line.push(b',');
        }
        put::hex(line, little_endian(record.memory, index * size, size), 2 * size);
    }
    line.push(b'>');
}

/// Appends a blank and the text of an element. Returns whether there is text behind the blank.
fn push_element(element: &Element<'_>, known: &TargetSymbols, line: &mut Vec<u8>) -> bool {
    const HEX: usize = qs_core::record::element::HEX as usize;
    let width = element.width;
    // Behind the text of an error, the blank is already there.
    if element.short.is_none() {
        line.push(b' ');
    }
    let start = line.len();
    match element.value {
        Value::Int(number, 8) => put::right(line, number, wide(width, true)),
        Value::Int(number, _) => put::right(line, number, width),
        Value::Uint(number, 8) if width == HEX => {
            line.extend_from_slice(b"0x");
            put::hex_filled(line, number, 16, b' ');
        }
        Value::Uint(number, len) if width == HEX => {
            line.extend_from_slice(b"0x");
            put::hex(line, number, 2 * usize::from(len));
        }
        Value::Uint(number, 8) => put::right(line, number, wide(width, false)),
        Value::Uint(number, _) => put::right(line, number, width),
        Value::Float(number, negative) => put::exponent(line, number, negative, width),
        Value::Enum(group, value) => known.push_enum(group, value, line),
        Value::Text(text) => line.extend_from_slice(shown(text)),
        Value::NoText | Value::NoMemory => {}
        Value::Memory(bytes) => {
            for byte in bytes {
                line.push(b' ');
                put::hex(line, (*byte).into(), 2);
            }
        }
        Value::Signal(sig, obj) => {
            known.push_signal(sig, obj, line);
            if obj != 0 {
                line.extend_from_slice(b",Obj=");
                known.push_object(obj, line);
            }
        }
        Value::Obj(address) => known.push_object(address, line),
        Value::Fun(address) => known.push_function(address, line),
        Value::Hex(number) => {
            line.extend_from_slice(b"0x");
            put::hex_filled(line, number, width, b'0');
        }
    }
    line.len() > start || matches!(element.value, Value::Memory(_) | Value::NoMemory)
}

/// Columns of a number of eight bytes. QSPY forgets them for one width of signed numbers.
pub fn wide(width: usize, signed: bool) -> usize {
    const FORGOTTEN: usize = 9;
    if signed && width == FORGOTTEN { 0 } else { 2 * width + 2 }
}
