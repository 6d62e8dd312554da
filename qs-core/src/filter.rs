//! Filters: which records a target sends. Section "Filters" of QS.
//!
//! A record is sent when the global filter has its id and the local filter has the id of the object that it is about.

use crate::record::{Group, RECORDS, USER_BASE};

/// A set of records or objects: 128 bits, one for each id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter(pub [u32; 4]);

/// Records that one call switches in a global filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    /// All.
    All,
    /// The records of a group.
    Group(Group),
    /// Five application records: group 0 has the first five ids, group 4 the last.
    User(u8),
    /// The one with this id.
    Id(u8),
}

/// Objects that one call switches in a local filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objects {
    /// All.
    All,
    /// Active objects: their priorities, 1 to 64 (switched together, up to 63).
    Active,
    /// Event pools: 64 and the number of the pool.
    Pools,
    /// Raw event queues: 80 to 95.
    Queues,
    /// Further objects of the application: 96 to 127.
    Application,
    /// The one with this id.
    Id(u8),
}

/// The highest id of a record.
pub const LAST_RECORD: u8 = 124;
/// The highest id of an object in a local filter.
pub const LAST_OBJECT: u8 = 127;

/// The names of record groups in QS.
pub const GROUPS: [(&str, Records); 15] = [
    ("SM", Records::Group(Group::Sm)),
    ("AO", Records::Group(Group::Ao)),
    ("EQ", Records::Group(Group::Eq)),
    ("MP", Records::Group(Group::Mp)),
    ("TE", Records::Group(Group::Te)),
    ("QF", Records::Group(Group::Qf)),
    ("SC", Records::Group(Group::Sc)),
    ("SEM", Records::Group(Group::Sem)),
    ("MTX", Records::Group(Group::Mtx)),
    ("UA", Records::Group(Group::Usr)),
    ("U0", Records::User(0)),
    ("U1", Records::User(1)),
    ("U2", Records::User(2)),
    ("U3", Records::User(3)),
    ("U4", Records::User(4)),
];

impl Filter {
    /// The empty set.
    pub const NONE: Filter = Filter([0; 4]);
    /// Global: records that are always sent.
    pub const ALWAYS: Filter = Filter::NONE.with_ids(0, 0).with_ids(54, 54).with_ids(58, 70);
    /// Local: every object, the state at start.
    pub const EVERY_OBJECT: Filter = Filter([u32::MAX; 4]);

    /// Whether this record or object is in the set.
    #[inline(always)]
    pub const fn has(&self, id: u8) -> bool {
        id < 128 && self.0[id as usize / 32] >> (id % 32) & 1 != 0
    }

    const fn with_ids(mut self, first: u8, last: u8) -> Filter {
        let mut id = first;
        while id <= last {
            self.0[id as usize / 32] |= 1 << (id % 32);
            id += 1;
        }
        self
    }

    /// Leaves out ids of 128 and more.
    const fn with_id(self, id: u8) -> Filter {
        if id < 128 { self.with_ids(id, id) } else { self }
    }

    /// The union of both sets.
    #[must_use]
    pub const fn or(self, other: Filter) -> Filter {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Filter([a | e, b | f, c | g, d | h])
    }

    /// This set without the other.
    #[must_use]
    pub const fn without(self, other: Filter) -> Filter {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Filter([a & !e, b & !f, c & !g, d & !h])
    }

    /// A global filter with these records switched on.
    #[must_use]
    pub const fn on(self, records: Records) -> Filter {
        self.or(records.mask()).without(Filter::NONE.with_ids(LAST_RECORD + 1, 127))
    }

    /// A global filter with these records switched off. Records of [`Filter::ALWAYS`] stay on, unless `records` is a
    /// single id.
    #[must_use]
    pub const fn off(self, records: Records) -> Filter {
        match records {
            Records::All => Filter::ALWAYS,
            _ => self.without(records.mask()),
        }
    }

    /// A local filter with these objects switched on.
    #[must_use]
    pub const fn object_on(self, objects: Objects) -> Filter {
        self.or(objects.mask())
    }

    /// A local filter with these objects switched off. Object 0 stays on.
    #[must_use]
    pub const fn object_off(self, objects: Objects) -> Filter {
        self.without(objects.mask()).with_ids(0, 0)
    }

    /// Reads a global filter from the bytes that a host sends.
    pub const fn global_from(bytes: [u8; 16]) -> Filter {
        let always = Filter::ALWAYS.without(Filter::NONE.with_ids(54, 54));
        Filter::from_bytes(bytes).or(always).without(Filter::NONE.with_ids(LAST_RECORD + 1, 127))
    }

    /// Reads a local filter from the bytes that a host sends.
    pub const fn local_from(bytes: [u8; 16]) -> Filter {
        Filter::from_bytes(bytes).with_ids(0, 0)
    }

    const fn from_bytes(bytes: [u8; 16]) -> Filter {
        let number = u128::from_le_bytes(bytes);
        Filter([number as u32, (number >> 32) as u32, (number >> 64) as u32, (number >> 96) as u32])
    }

    /// The bytes on the wire. Id 0 is the lowest bit of the first byte.
    pub const fn to_bytes(self) -> [u8; 16] {
        let [a, b, c, d] = self.0;
        (a as u128 | (b as u128) << 32 | (c as u128) << 64 | (d as u128) << 96).to_le_bytes()
    }
}

impl Records {
    /// The group with this name in QS, in upper or lower case.
    pub const fn named(name: &[u8]) -> Option<Records> {
        let mut at = 0;
        while at < GROUPS.len() {
            let (known, records) = GROUPS[at];
            if known.as_bytes().eq_ignore_ascii_case(name) {
                return Some(records);
            }
            at += 1;
        }
        None
    }

    /// The set of these records.
    pub const fn mask(self) -> Filter {
        let none = Filter::NONE;
        match self {
            Records::All => none.with_ids(0, LAST_RECORD),
            Records::Id(id) => none.with_id(id),
            Records::User(group @ 0..5) => {
                let first = USER_BASE + 5 * group;
                none.with_ids(first, first + 4)
            }
            Records::User(_) => none,
            Records::Group(Group::Usr) => none.with_ids(USER_BASE, LAST_RECORD),
            Records::Group(group) => {
                let (mut mask, mut id) = (none, 0);
                while id < RECORDS.len() {
                    if RECORDS[id].group as u8 == group as u8 {
                        mask = mask.with_ids(id as u8, id as u8);
                    }
                    id += 1;
                }
                mask
            }
        }
    }
}

impl Objects {
    /// The set of these objects.
    pub const fn mask(self) -> Filter {
        let none = Filter::NONE;
        match self {
            Objects::All => Filter::EVERY_OBJECT,
            Objects::Active => none.with_ids(0, 63),
            Objects::Pools => none.with_ids(64, 79),
            Objects::Queues => none.with_ids(80, 95),
            Objects::Application => none.with_ids(96, 127),
            Objects::Id(id) => none.with_id(id),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn groups_are_those_of_the_table() {
        let sm = Filter::NONE.on(Records::Group(Group::Sm));
        let ids: std::vec::Vec<u8> = (0..128).filter(|id| sm.has(*id)).collect();
        assert_eq!(ids, [1, 2, 3, 4, 5, 6, 7, 8, 9, 55, 56, 57]);
        assert_eq!(Filter::NONE.on(Records::All).off(Records::All), Filter::ALWAYS);
        assert!((125..128).all(|id| !Filter::NONE.on(Records::Id(id)).has(id)));
    }

    #[test]
    fn an_unknown_record_or_object_switches_nothing() {
        for records in (125..=255).map(Records::Id).chain((5..=255).map(Records::User)) {
            assert_eq!(Filter::ALWAYS.on(records), Filter::ALWAYS, "{records:?}");
            assert_eq!(
                Filter::NONE.on(Records::All).off(records),
                Filter::NONE.on(Records::All),
                "{records:?}"
            );
        }
        for objects in (128..=255).map(Objects::Id) {
            assert_eq!(Filter::EVERY_OBJECT.object_off(objects), Filter::EVERY_OBJECT, "{objects:?}");
        }
    }

    #[test]
    fn object_0_is_always_on() {
        assert!(Filter::EVERY_OBJECT.object_off(Objects::All).has(0));
        assert!(!Filter::EVERY_OBJECT.object_off(Objects::Pools).has(64));
    }
    #[test]
    fn each_group_is_found_by_its_name() {
        for (name, records) in GROUPS {
            assert_eq!(Records::named(name.as_bytes()), Some(records));
            assert_eq!(Records::named(name.to_ascii_lowercase().as_bytes()), Some(records));
        }
        assert_eq!([&b""[..], b"U5", b"SMX"].map(Records::named), [None; 3]);
    }

    #[test]
    fn ids_above_127_are_in_no_set() {
        assert!((0..128).all(|id| Filter::EVERY_OBJECT.has(id)));
        assert!((128..=255).all(|id| !Filter::EVERY_OBJECT.has(id)));
    }
}
