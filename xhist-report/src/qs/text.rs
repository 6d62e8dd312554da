//! Records and errors as the lines that QSPY prints. It must not know where lines go.

use qs_core::record::info;
use qs_core::rx::COMMANDS;

use super::decoded::{Decoded, Shape, is_address, shown};
use super::element::{self, Element, Value};
use super::known::{Known, push_address};
use super::plan::{MAX_FIELDS, Op, Plan};
use super::put;
use super::receive::{Fault, Jump, Trouble};
use super::take::{Short, little_endian};

/// QSPY cuts lines here.
const MAX_LINE: usize = 991;
/// Eleven columns for the time, and nothing in them.
const NO_TIME: &[u8] = b"           ";
const ERROR: &[u8] = b"   <COMMS> ERROR    ";

/// What a line is; QSPY shows each kind in its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A record, or what is wrong within one.
    Ordinary,
    /// An error of transmission, or in a dictionary file.
    Error,
    /// What happens beside the stream.
    Info,
    /// What a test says.
    TestNote,
    /// What a user says.
    UserNote,
}

/// Makes lines, one after another in the same memory.
#[derive(Clone, Debug, Default)]
pub struct Text {
    line: Vec<u8>,
}

/// Where lines go.
pub trait Lines {
    /// Takes a line, without its end.
    fn line(&mut self, class: Class, line: &[u8]);
}

impl<F: FnMut(Class, &[u8])> Lines for F {
    fn line(&mut self, class: Class, line: &[u8]) {
        self(class, line);
    }
}

impl Text {
    /// The lines of a record: what is wrong in it, then its own. Whether it is as long as its layout.
    #[inline]
    pub fn record(&mut self, record: &Decoded<'_>, known: &Known, to: &mut impl Lines) -> bool {
        match record.shape {
            Shape::Empty => {}
            Shape::Unknown => {
                self.start(NO_TIME);
                self.add(b"Unknown Rec=");
                put::number(&mut self.line, record.id().into());
                self.add(b",Len=");
                put::number(&mut self.line, record.raw.payload().len() as u64);
                self.give(Class::Ordinary, to);
            }
            Shape::Fields(plan) if plan.ops.is_empty() => {}
            Shape::Fields(plan) => {
                self.shorts(record.shorts, to);
                match record.left {
                    0 => self.fields(plan, record, known),
                    left => self.misfit(left, plan.name),
                }
                self.give(Class::Ordinary, to);
            }
            Shape::User(_) => {
                self.shorts(record.shorts, to);
                let fits = self.user(record, known, to);
                self.give(Class::Ordinary, to);
                return fits;
            }
        }
        record.left == 0
    }

    /// The line of bytes that were no good record.
    pub fn trouble(&mut self, trouble: &Trouble, known: &Known, to: &mut impl Lines) {
        let Trouble { fault, last, id, .. } = *trouble;
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
        self.give(Class::Error, to);
    }

    /// The line of a jump of the sequence number.
    pub fn jump(&mut self, jump: &Jump, to: &mut impl Lines) {
        self.start(ERROR);
        self.add(b"Discontinuity Seq=");
        put::number(&mut self.line, jump.from.into());
        self.add(b"->");
        put::number(&mut self.line, jump.to.into());
        self.give(Class::Error, to);
    }

    fn start(&mut self, with: &[u8]) {
        self.line.clear();
        self.add(with);
    }

    fn add(&mut self, text: &[u8]) {
        self.line.extend_from_slice(text);
    }

    #[inline]
    fn give(&mut self, class: Class, to: &mut impl Lines) {
        self.line.truncate(MAX_LINE);
        to.line(class, &self.line);
    }

    /// The name of a record, or its number among those of the application.
    fn name(&mut self, id: u8, known: &Known, width: usize) {
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
    fn shorts(&mut self, shorts: &[Short], to: &mut impl Lines) {
        for short in shorts {
            self.short(short, to);
        }
    }

    /// Says at once what is missing; the text stays, and QSPY goes on behind it.
    #[cold]
    fn short(&mut self, short: &Short, to: &mut impl Lines) {
        self.start(ERROR);
        match *short {
            Short::Number { more, len, signed } => {
                put::signed(&mut self.line, more.into());
                self.add(if signed { b" more bytes needed for int" } else { b" more bytes needed for uint" });
                put::number(&mut self.line, 8 * u64::from(len));
                self.add(b"_t ");
            }
            Short::Text(left) => {
                put::signed(&mut self.line, left.into());
                self.add(b" more bytes needed for string");
            }
            Short::Memory(left) => {
                put::signed(&mut self.line, left.into());
                self.add(b" more bytes needed for memory-dump");
            }
        }
        self.give(Class::Ordinary, to);
    }

    fn fields(&mut self, plan: &Plan, record: &Decoded<'_>, known: &Known) {
        self.line.clear();
        for (before, op) in &plan.ops {
            before.push(&mut self.line);
            self.op(op, plan, record, known);
        }
    }

    #[inline(always)]
    fn op(&mut self, op: &Op, plan: &Plan, record: &Decoded<'_>, known: &Known) {
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

    /// Those that few records have. Among the others they would cost every record some time: what they need would be got ready.
    #[inline(never)]
    fn other_op(&mut self, op: &Op, plan: &Plan, record: &Decoded<'_>, known: &Known) {
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
    fn user(&mut self, record: &Decoded<'_>, known: &Known, to: &mut impl Lines) -> bool {
        let Shape::User(mut take) = record.shape else { return true };
        self.line.clear();
        put::padded(&mut self.line, record.time, 10);
        self.line.push(b' ');
        known.push_user(record.id(), &mut self.line);
        while let Some(element) = element::next(&mut take, &known.target) {
            for short in element.short_before.iter().chain(&element.short) {
                self.short(short, to);
            }
            push_element(&element, known, &mut self.line);
        }
        // Below zero: a field was longer than the record, said or not.
        take.left() == 0
    }
}

/// The text of a record.
fn push_text(record: &Decoded<'_>, known: &Known, line: &mut Vec<u8>) {
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

/// What is in memory: things of 1, 2 or 4 bytes, at least one.
fn push_items(record: &Decoded<'_>, line: &mut Vec<u8>) {
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

/// A blank and the text of an element.
fn push_element(element: &Element<'_>, known: &Known, line: &mut Vec<u8>) {
    const HEX: usize = qs_core::record::element::HEX as usize;
    let width = element.width;
    // What follows on the text of an error has the blank already.
    if element.short.is_none() {
        line.push(b' ');
    }
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
}

/// Columns of a number of eight bytes; QSPY forgets them for one width of signed ones.
pub fn wide(width: usize, signed: bool) -> usize {
    const FORGOTTEN: usize = 9;
    if signed && width == FORGOTTEN { 0 } else { 2 * width + 2 }
}
