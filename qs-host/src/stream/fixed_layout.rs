//! Offsets of fields in records that have only numbers, for a target's version and sizes.
//!
//! Nearly all records are of this kind and have the right length, so one loop without checks reads their fields.

use qs_core::frame::MAX_RECORD;
use qs_core::record::{Empty, Kind, Record, Sizes};

use super::field_reader::MASKS;
use super::plan::{FieldSource, MAX_FIELDS, Plan, Plans};
use crate::symbols::target::TargetDescription;

/// Bytes before the payload (sequence number and id), and these with the checksum behind it.
const HEAD: u8 = 2;
const FRAMING: u16 = 3;

/// The plans of a version, and the offsets of fields for its sizes.
#[derive(Clone, Debug)]
pub struct FixedLayouts {
    target: Key,
    /// The plans.
    pub plans: &'static Plans,
    records: Vec<FixedLayout>,
}

/// What offsets depend on: version, first application record, sizes.
type Key = (u16, u8, Sizes);

fn key(target: &TargetDescription) -> Key {
    (target.version, target.user_base(), target.sizes)
}

/// The fields of a record.
#[derive(Clone, Debug, Default)]
struct FixedLayout {
    plan: Option<&'static Plan>,
    /// Length of the record with its checksum; 0 for a record that has no fixed layout.
    len: u16,
    time: FieldOffset,
    fields: [FieldOffset; MAX_FIELDS],
    count: u8,
}

/// The place of a number in a record.
#[derive(Clone, Copy, Debug, Default)]
struct FieldOffset {
    at: u8,
    len: u8,
}

impl FieldOffset {
    #[inline(always)]
    fn of(self, buffer: &[u8; MAX_RECORD]) -> u64 {
        let Some(word) = buffer[usize::from(self.at)..].first_chunk() else { return 0 };
        u64::from_le_bytes(*word) & MASKS[usize::from(self.len & 15)]
    }
}

impl FixedLayouts {
    /// Computes the offsets for a target.
    pub fn new(target: &TargetDescription) -> FixedLayouts {
        let plans = Plans::of(target.version);
        let records = plans.iter().enumerate().map(|(id, plan)| {
            // What record 0 means depends on the version.
            let is_known = id != usize::from(Empty::ID) && id < target.user_base().into();
            plan.filter(|_| is_known).and_then(|plan| walk(plan, &target.sizes)).unwrap_or_default()
        });
        FixedLayouts { target: key(target), plans, records: records.collect() }
    }

    /// Whether these are the offsets of a target.
    #[inline]
    pub fn is_of(&self, target: &TargetDescription) -> bool {
        self.target == key(target)
    }

    /// Reads the fields of a record with a fixed layout. Returns its plan and its time stamp.
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

fn walk(plan: &'static Plan, sizes: &Sizes) -> Option<FixedLayout> {
    let is_plain = |step, kind| step == FieldSource::Bytes && kind != Kind::Str;
    if plan.unseen_time || !plan.fields.iter().all(|field| is_plain(field.step, field.kind)) {
        return None;
    }
    let mut walk = FixedLayout { plan: Some(plan), count: plan.fields.len() as u8, ..FixedLayout::default() };
    let mut at = HEAD;
    let mut next = |len: u8| {
        let number = FieldOffset { at, len };
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
