//! A record taken apart. It must not know how it is shown.

use std::borrow::Cow;

use qs_core::record::{Empty, Group, Kind, ObjDict, QueryData, Record, info};

use super::known::Known;
use super::plain::Plain;
use super::plan::{MAX_FIELDS, Plan, Plans, Step};
use super::receive::Raw;
use super::take::{Short, Take};
use super::target::Target;

/// What a record is.
#[derive(Clone, Copy, Debug)]
pub enum Shape<'a> {
    /// Predefined, with these fields.
    Fields(&'static Plan),
    /// Of the application; its elements are still to be taken.
    User(Take<'a>),
    /// Nobody knows what stands in it.
    Unknown,
    /// The start of a session; what stands in it is for nobody.
    Empty,
}

/// A record taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Decoded<'a> {
    /// As it was received.
    pub raw: Raw<'a>,
    /// What it is.
    pub shape: Shape<'a>,
    /// Its time stamp; 0 without one.
    pub time: u64,
    /// The values of its fields.
    pub values: [u64; MAX_FIELDS],
    /// Its text, where it has one.
    pub text: &'a [u8],
    /// What is behind a count of things in memory.
    pub memory: &'a [u8],
    /// Fields for which it was too short.
    pub shorts: &'a [Short],
    /// Bytes behind the last field; below zero when it is too short.
    pub left: i32,
}

/// Before this version the record that starts a session told of a reset.
const EMPTY_FROM: u16 = 550;

impl<'a> Decoded<'a> {
    /// Takes a record apart.
    #[inline(always)]
    pub fn new(raw: Raw<'a>, target: &Target, plans: &Plain, shorts: &'a mut Vec<Short>) -> Decoded<'a> {
        shorts.clear();
        let mut decoded = Decoded {
            raw,
            shape: Shape::Unknown,
            time: 0,
            values: [0; MAX_FIELDS],
            text: &[],
            memory: &[],
            shorts: &[],
            left: 0,
        };
        if let Some((plan, time)) = plans.take(raw.id(), raw.buffer, raw.len, &mut decoded.values) {
            (decoded.shape, decoded.time) = (Shape::Fields(plan), time);
        } else {
            decoded.take_other(target, plans.plans, shorts);
        }
        decoded.shorts = shorts;
        decoded
    }

    /// What is not all numbers, or not as long as it should be.
    #[inline(never)]
    fn take_other(&mut self, target: &Target, plans: &'static Plans, shorts: &mut Vec<Short>) {
        let (id, mut take) = (self.id(), Take::new(self.raw));
        if id >= target.user_base() {
            self.time = or_zero(take.uint(target.sizes.time), shorts);
            self.shape = Shape::User(take);
        } else if id == Empty::ID && target.version >= EMPTY_FROM {
            self.shape = Shape::Empty;
        } else if let Some(plan) = plans.get(id, query(&self.raw, target)) {
            self.take_fields(plan, take, target, shorts);
        }
    }

    fn take_fields(
        &mut self,
        plan: &'static Plan,
        mut take: Take<'a>,
        target: &Target,
        shorts: &mut Vec<Short>,
    ) {
        self.shape = Shape::Fields(plan);
        if plan.timed {
            self.time = or_zero(take.uint(target.sizes.time), shorts);
        }
        if plan.unseen_time {
            or_zero(take.uint(target.sizes.time), shorts);
        }
        for (index, field) in plan.fields.iter().enumerate() {
            match (field.step, target.sizes.of(field.kind)) {
                (Step::Take, Some(len)) => match take.uint(len) {
                    Ok(value) => self.values[index] = value,
                    Err(short) => shorts.push(short),
                },
                (Step::Take, None) => match take.text() {
                    Ok(text) => self.text = text,
                    Err(short) => shorts.push(short),
                },
                (Step::HighBits, _) => {
                    let byte = or_zero(take.uint(1), shorts);
                    (self.values[index], self.values[index + 1]) = (byte >> 6, byte & 0x3F);
                }
                (Step::Count, _) => match take.memory(self.values[index - 1]) {
                    Ok((count, memory)) => (self.values[index], self.memory) = (count.into(), memory),
                    Err(short) => shorts.push(short),
                },
                (Step::Absent | Step::Came, _) => {}
            }
        }
        self.left = take.left();
    }

    /// Whether anything is told of it.
    pub fn is_shown(&self) -> bool {
        match self.shape {
            Shape::Empty => false,
            Shape::Fields(plan) => !plan.ops.is_empty(),
            Shape::User(_) | Shape::Unknown => true,
        }
    }

    /// The elements of a record of the application, behind its time stamp.
    pub fn elements(&self) -> Option<&'a [u8]> {
        match self.shape {
            Shape::User(take) if self.shorts.is_empty() => Some(take.rest()),
            _ => None,
        }
    }

    /// Its id.
    pub fn id(&self) -> u8 {
        self.raw.id()
    }

    /// Its plan, if all its fields are there and nothing behind them.
    pub fn good_plan(&self) -> Option<&'static Plan> {
        match self.shape {
            Shape::Fields(plan) if self.left == 0 => Some(plan),
            _ => None,
        }
    }

    /// The value of a field.
    pub fn value(&self, name: &str) -> Option<u64> {
        let Shape::Fields(plan) = self.shape else { return None };
        plan.place(name).map(|place| self.values[place])
    }

    /// The object that it names.
    pub fn named_object(&self) -> Option<u64> {
        let names = self.id() == ObjDict::ID && self.good_plan().is_some();
        names.then_some(self.values[0])
    }

    /// The name of the object that it names: before 6.9 an index was kept in other brackets.
    pub fn object_name(&self, known: &Known) -> Cow<'a, [u8]> {
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

    /// Its text; QSPY shows and keeps two apostrophes for an empty one.
    pub fn shown_text(&self) -> &'a [u8] {
        shown(self.text)
    }
}

/// A text as QSPY shows it.
pub fn shown(text: &[u8]) -> &[u8] {
    if text.is_empty() { b"''" } else { text }
}

fn or_zero(number: Result<u64, Short>, shorts: &mut Vec<Short>) -> u64 {
    number.unwrap_or_else(|short| {
        shorts.push(short);
        0
    })
}

/// The kind of object that an answer to a query is about; 0 when it is too short to tell.
fn query(raw: &Raw<'_>, target: &Target) -> u8 {
    match raw.id() {
        QueryData::ID => raw.payload().get(usize::from(target.sizes.time)).copied().unwrap_or(0),
        _ => 0,
    }
}

/// The group that a record is shown with.
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
