//! Records whose layout depends on their data: 67, the answer to a query, and 68, memory.

use super::emit::Record;
use super::field::{Fields, Fun, Kind, Obj, Sig};

/// The answer about a current object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are named as QS names them")]
pub enum Query {
    /// Kinds 0 and 1: the state of a state machine or an active object.
    State(Fun),
    /// Kind 2: a memory pool.
    Pool { free: u32, min: u32 },
    /// Kind 3: an event queue.
    Queue { free: u32, min: u32 },
    /// Kind 4: a time event; the flags hold its tick rate in their lower half.
    TimeEvent { ao: Obj, ctr: u32, interval: u32, sig: Sig, flags: u8 },
    /// Kind 5: an object of the application, without further data.
    Nothing,
}

/// Record 67: the answer to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryData {
    /// Kind of the object: 0 state machine, 1 active object, 2 memory pool, 3 event queue, 4 time event, 5 application.
    pub kind: u8,
    /// The object.
    pub obj: Obj,
    /// The data about it.
    pub query: Query,
}

impl Record for QueryData {
    const ID: u8 = 67;
    const TIMED: bool = true;

    fn put(&self, to: &mut impl Fields) {
        to.number(Kind::U8, self.kind.into());
        to.number(Kind::Obj, self.obj.0 as u64);
        match self.query {
            Query::State(state) => to.number(Kind::Fun, state.0 as u64),
            Query::Pool { free, min } => {
                to.number(Kind::PoolCtr, free.into());
                to.number(Kind::PoolCtr, min.into());
            }
            Query::Queue { free, min } => {
                to.number(Kind::QueueCtr, free.into());
                to.number(Kind::QueueCtr, min.into());
            }
            Query::TimeEvent { ao, ctr, interval, sig, flags } => {
                to.number(Kind::Obj, ao.0 as u64);
                to.number(Kind::TimeCtr, ctr.into());
                to.number(Kind::TimeCtr, interval.into());
                to.number(Kind::Sig, sig.0.into());
                to.number(Kind::U8, flags.into());
            }
            Query::Nothing => {}
        }
    }
}

/// Record 68: memory behind the current object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeekData<'a> {
    /// Offset from the object, in bytes.
    pub offset: u16,
    /// Size of an item in bytes.
    pub size: u8,
    /// Number of items.
    pub count: u8,
    /// The bytes of all items.
    pub data: &'a [u8],
}

impl PeekData<'_> {
    /// Largest size of the memory in a record, in bytes.
    pub const MAX: usize = 480;

    /// Size of all items in bytes.
    pub const fn len(&self) -> usize {
        self.size as usize * self.count as usize
    }

    /// Whether there are no items.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Record for PeekData<'_> {
    const ID: u8 = 68;
    const TIMED: bool = true;

    fn put(&self, to: &mut impl Fields) {
        to.number(Kind::U16, self.offset.into());
        to.bytes(&[self.size, self.count]);
        to.bytes(self.data);
    }
}
