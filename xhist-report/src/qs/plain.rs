//! Where the fields of records stand whose fields are all numbers, for a target's version and sizes: nearly all records are such and as
//! long as they should be, so their fields are taken in one straight walk. It must not know any record by itself.

use qs_core::frame::MAX_RECORD;
use qs_core::record::{Empty, Kind, Record, Sizes};

use super::plan::{MAX_FIELDS, Plan, Plans, Step};
use super::take::MASKS;
use super::target::Target;

/// Sequence number and id stand before the payload, and the checksum behind it.
const HEAD: u8 = 2;
const FRAMING: u16 = 3;

/// The plans of a version, and where fields stand at some sizes.
#[derive(Clone, Debug)]
pub struct Plain {
    target: Key,
    /// The plans.
    pub plans: &'static Plans,
    records: Vec<Walk>,
}

/// What places depend on.
type Key = (u16, u8, Sizes);

fn key(target: &Target) -> Key {
    (target.version, target.user_base(), target.sizes)
}

/// A walk over a record.
#[derive(Clone, Debug, Default)]
struct Walk {
    plan: Option<&'static Plan>,
    /// How long the record is, its checksum included; no record has no bytes.
    len: u16,
    time: Number,
    fields: [Number; MAX_FIELDS],
    count: u8,
}

/// A number of a record.
#[derive(Clone, Copy, Debug, Default)]
struct Number {
    at: u8,
    len: u8,
}

impl Number {
    #[inline(always)]
    fn of(self, buffer: &[u8; MAX_RECORD]) -> u64 {
        let Some(word) = buffer[usize::from(self.at)..].first_chunk() else { return 0 };
        u64::from_le_bytes(*word) & MASKS[usize::from(self.len & 15)]
    }
}

impl Plain {
    /// For what is known of the target.
    pub fn new(target: &Target) -> Plain {
        let plans = Plans::of(target.version);
        let records = plans.iter().enumerate().map(|(id, plan)| {
            // The start of a session is told apart by the version.
            let is_known = id != usize::from(Empty::ID) && id < target.user_base().into();
            plan.filter(|_| is_known).and_then(|plan| walk(plan, &target.sizes)).unwrap_or_default()
        });
        Plain { target: key(target), plans, records: records.collect() }
    }

    /// Whether that is still known.
    #[inline]
    pub fn is_of(&self, target: &Target) -> bool {
        self.target == key(target)
    }

    /// Takes the fields of such a record; its plan and its time.
    #[inline]
    pub fn take(
        &self,
        id: u8,
        buffer: &[u8; MAX_RECORD],
        len: usize,
        values: &mut [u64; MAX_FIELDS],
    ) -> Option<(&'static Plan, u64)> {
        let walk = self.records.get(usize::from(id)).filter(|walk| usize::from(walk.len) == len)?;
        for (value, number) in values.iter_mut().zip(walk.fields.iter().take(walk.count.into())) {
            *value = number.of(buffer);
        }
        Some((walk.plan?, walk.time.of(buffer)))
    }
}

fn walk(plan: &'static Plan, sizes: &Sizes) -> Option<Walk> {
    let is_plain = |step, kind| step == Step::Take && kind != Kind::Str;
    if plan.unseen_time || !plan.fields.iter().all(|field| is_plain(field.step, field.kind)) {
        return None;
    }
    let mut walk = Walk { plan: Some(plan), count: plan.fields.len() as u8, ..Walk::default() };
    let mut at = HEAD;
    let mut next = |len: u8| {
        let number = Number { at, len };
        at = at.checked_add(len)?;
        Some(number)
    };
    if plan.timed {
        walk.time = next(sizes.time)?;
    }
    for (number, field) in walk.fields.iter_mut().zip(&plan.fields) {
        *number = next(sizes.of(field.kind)?)?;
    }
    walk.len = u16::from(at - HEAD) + FRAMING;
    Some(walk)
}
