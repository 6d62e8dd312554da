//! Records whose layout depends on what they tell: 67, the answer to a query, and 68, memory.

use super::field::{Fields, Fun, Kind, Obj, Sig};
use super::table::Record;

/// What is told of a current object.
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
    /// Kind 5: an object of the application, of which nothing more is known.
    Nothing,
}

/// Record 67: the answer to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryData {
    /// Kind of the object: 0 state machine, 1 active object, 2 memory pool, 3 event queue, 4 time event, 5 application.
    pub kind: u8,
    /// The object.
    pub obj: Obj,
    /// What is told of it.
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
    /// Bytes behind the object.
    pub offset: u16,
    /// Bytes of an item.
    pub size: u8,
    /// Items.
    pub count: u8,
    /// The items.
    pub data: &'a [u8],
}

impl PeekData<'_> {
    /// Most bytes of memory in a record.
    pub const MAX: usize = 480;

    /// Bytes that all items take.
    pub const fn len(&self) -> usize {
        self.size as usize * self.count as usize
    }

    /// Whether it is of no memory.
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
