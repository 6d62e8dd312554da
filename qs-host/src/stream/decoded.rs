//! A decoded record: its plan and the values of its fields.

use std::borrow::Cow;

use qs_core::record::{Empty, Group, Kind, ObjDict, QueryData, Record, info};

use super::field_reader::{FieldReader, MissingBytes};
use super::fixed_layout::FixedLayouts;
use super::plan::{FieldSource, MAX_FIELDS, Plan, Plans};
use super::receiver::RawRecord;
use crate::symbols::target::TargetDescription;
use crate::symbols::target_symbols::TargetSymbols;

/// What kind of record it is.
#[derive(Clone, Copy, Debug)]
pub enum RecordShape<'a> {
    /// A predefined record with these fields.
    Fields(&'static Plan),
    /// An application record; its elements are not decoded yet.
    User(FieldReader<'a>),
    /// A record without a known layout.
    Unknown,
    /// The start of a session; its payload is ignored.
    Empty,
}

/// A decoded record.
#[derive(Clone, Copy, Debug)]
pub struct DecodedRecord<'a> {
    /// The record as received.
    pub raw: RawRecord<'a>,
    /// What kind of record it is.
    pub shape: RecordShape<'a>,
    /// Its time stamp; 0 without one.
    pub time: u64,
    /// The values of its fields.
    pub values: [u64; MAX_FIELDS],
    /// Its text, where it has one.
    pub text: &'a [u8],
    /// The bytes behind a count of items of memory.
    pub memory: &'a [u8],
    /// Fields that the record is too short for.
    pub shorts: &'a [MissingBytes],
    /// Bytes behind the last field; below zero if the record is too short.
    pub left: i32,
}

/// Before this version, the record that starts a session announced a reset.
const EMPTY_FROM: u16 = 550;

impl<'a> DecodedRecord<'a> {
    /// Decodes a record.
    #[inline(always)]
    pub fn new(
        raw: RawRecord<'a>,
        target: &TargetDescription,
        plans: &FixedLayouts,
        shorts: &'a mut Vec<MissingBytes>,
    ) -> DecodedRecord<'a> {
        shorts.clear();
        let mut decoded = DecodedRecord {
            raw,
            shape: RecordShape::Unknown,
            time: 0,
            values: [0; MAX_FIELDS],
            text: &[],
            memory: &[],
            shorts: &[],
            left: 0,
        };
        if let Some((plan, time)) = plans.take(raw.id(), raw.buffer, raw.len, &mut decoded.values) {
            (decoded.shape, decoded.time) = (RecordShape::Fields(plan), time);
        } else {
            decoded.take_other(target, plans.plans, shorts);
        }
        decoded.shorts = shorts;
        decoded
    }

    /// Decodes a record that has not only numbers, or has a wrong length.
    #[inline(never)]
    fn take_other(
        &mut self,
        target: &TargetDescription,
        plans: &'static Plans,
        shorts: &mut Vec<MissingBytes>,
    ) {
        let (id, mut take) = (self.id(), FieldReader::new(self.raw));
        if id >= target.user_base() {
            self.time = or_zero(take.uint(target.sizes.time), shorts);
            self.shape = RecordShape::User(take);
        } else if id == Empty::ID && target.version >= EMPTY_FROM {
            self.shape = RecordShape::Empty;
        } else if let Some(plan) = plans.get(id, query(&self.raw, target)) {
            self.take_fields(plan, take, target, shorts);
        }
    }

    fn take_fields(
        &mut self,
        plan: &'static Plan,
        mut take: FieldReader<'a>,
        target: &TargetDescription,
        shorts: &mut Vec<MissingBytes>,
    ) {
        self.shape = RecordShape::Fields(plan);
        if plan.timed {
            self.time = or_zero(take.uint(target.sizes.time), shorts);
        }
        if plan.unseen_time {
            or_zero(take.uint(target.sizes.time), shorts);
        }
        for (index, field) in plan.fields.iter().enumerate() {
            match (field.step, target.sizes.of(field.kind)) {
                (FieldSource::Bytes, Some(len)) => match take.uint(len) {
                    Ok(value) => self.values[index] = value,
                    Err(short) => shorts.push(short),
                },
                (FieldSource::Bytes, None) => match take.text() {
                    Ok(text) => self.text = text,
                    Err(short) => shorts.push(short),
                },
                (FieldSource::HighBits, _) => {
                    let byte = or_zero(take.uint(1), shorts);
                    (self.values[index], self.values[index + 1]) = (byte >> 6, byte & 0x3F);
                }
                (FieldSource::Count, _) => match take.memory(self.values[index - 1]) {
                    Ok((count, memory)) => (self.values[index], self.memory) = (count.into(), memory),
                    Err(short) => shorts.push(short),
                },
                (FieldSource::Absent | FieldSource::Came, _) => {}
            }
        }
        self.left = take.left();
    }

    /// Whether the record is shown.
    pub fn is_shown(&self) -> bool {
        match self.shape {
            RecordShape::Empty => false,
            RecordShape::Fields(plan) => !plan.ops.is_empty(),
            RecordShape::User(_) | RecordShape::Unknown => true,
        }
    }

    /// The elements of a record of the application, behind its time stamp.
    pub fn elements(&self) -> Option<&'a [u8]> {
        match self.shape {
            RecordShape::User(take) if self.shorts.is_empty() => Some(take.rest()),
            _ => None,
        }
    }

    /// Its id.
    pub fn id(&self) -> u8 {
        self.raw.id()
    }

    /// Its plan, if the record has exactly its fields.
    pub fn good_plan(&self) -> Option<&'static Plan> {
        match self.shape {
            RecordShape::Fields(plan) if self.left == 0 => Some(plan),
            _ => None,
        }
    }

    /// The value of a field.
    pub fn value(&self, name: &str) -> Option<u64> {
        let RecordShape::Fields(plan) = self.shape else { return None };
        plan.place(name).map(|place| self.values[place])
    }

    /// The object that it names.
    pub fn named_object(&self) -> Option<u64> {
        let names = self.id() == ObjDict::ID && self.good_plan().is_some();
        names.then_some(self.values[0])
    }

    /// The name that the record gives an object. Before 6.9, QSPY stored an index in other brackets.
    pub fn object_name(&self, known: &TargetSymbols) -> Cow<'a, [u8]> {
        const BRACKETS_FROM: u16 = 690;
        let name = self.shown_text();
        if known.target.version >= BRACKETS_FROM {
            return Cow::Borrowed(name);
        }
        let bracket = |byte: &u8| match byte {
            b'[' => b'<',
            b']' => b'>',
            byte => *byte,
        };
        Cow::Owned(name.iter().map(bracket).collect())
    }

    /// Its text. For an empty text, QSPY shows and stores two apostrophes.
    pub fn shown_text(&self) -> &'a [u8] {
        shown(self.text)
    }
}

/// A text as QSPY shows it.
pub fn shown(text: &[u8]) -> &[u8] {
    if text.is_empty() { b"''" } else { text }
}

fn or_zero(number: Result<u64, MissingBytes>, shorts: &mut Vec<MissingBytes>) -> u64 {
    number.unwrap_or_else(|short| {
        shorts.push(short);
        0
    })
}

/// The kind of object that an answer to a query is about; 0 if the record is too short.
fn query(raw: &RawRecord<'_>, target: &TargetDescription) -> u8 {
    match raw.id() {
        QueryData::ID => raw.payload().get(usize::from(target.sizes.time)).copied().unwrap_or(0),
        _ => 0,
    }
}

/// The group that decides the colours of a record.
pub fn group(id: u8) -> Group {
    match info(id) {
        _ if id >= qs_core::record::USER_BASE => Group::Usr,
        Some(info) => info.group,
        None => Group::Err,
    }
}

/// Whether a field is an address.
pub fn is_address(kind: Kind) -> bool {
    matches!(kind, Kind::Obj | Kind::Fun)
}
