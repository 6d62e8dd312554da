//! Layouts of the records whose fields depend on their contents: the table of records cannot describe them.

use qs_core::record::{Field, Kind, Layout};

/// From this version on, the answer about an active object has its state and not its queue.
const AO_STATE_FROM: u16 = 690;

const fn field(name: &'static str, kind: Kind) -> Field {
    Field { name, kind }
}

/// Target info; two halves of some bytes are sizes.
pub const TARGET_INFO_LAYOUT: Layout = Layout {
    timed: false,
    fields: &[
        field("reset", Kind::U8),
        field("version", Kind::U16),
        field("sig_and_evt_size", Kind::U8),
        field("queue_ctr_and_time_ctr", Kind::U8),
        field("pool_blk_and_pool_ctr", Kind::U8),
        field("obj_and_fun", Kind::U8),
        field("time", Kind::U8),
        field("max_active", Kind::U8),
        field("max_pools_and_rates", Kind::U8),
        field("second", Kind::U8),
        field("minute", Kind::U8),
        field("hour", Kind::U8),
        field("day", Kind::U8),
        field("month", Kind::U8),
        field("year", Kind::U8),
    ],
    text: "{reset:reset} QP-Ver={version},\
           Build={year:02}{month:02}{day:02}_{hour:02}{minute:02}{second:02}",
};

/// A block of memory behind its count `num`; `size` is the size of an item.
pub const PEEK_LAYOUT: Layout = Layout {
    timed: true,
    fields: &[field("offs", Kind::U16), field("size", Kind::U8), field("num", Kind::U8)],
    text: "Trg-Peek Offs={offs},Size={size},Num={num},Data=<{num:items}",
};

const KIND: Field = field("kind", Kind::U8);
const OBJ: Field = field("obj", Kind::Obj);

const fn answer(fields: &'static [Field], text: &'static str) -> Layout {
    Layout { timed: true, fields, text }
}

const AO_QUEUE: Layout = answer(
    &[KIND, OBJ, field("free", Kind::QueueCtr), field("min", Kind::QueueCtr)],
    "Query-AO Obj={obj},Que<Free={free},Min={min}>",
);

/// Answers about the current object, by its kind; the last is for unknown kinds.
const QUERIES: [Layout; 8] = [
    answer(&[KIND, OBJ, field("state", Kind::Fun)], "Query-SM Obj={obj},State={state}"),
    answer(&[KIND, OBJ, field("state", Kind::Fun)], "Query-AO Obj={obj},State={state}"),
    answer(
        &[KIND, OBJ, field("free", Kind::PoolCtr), field("min", Kind::PoolCtr)],
        "Query-MP Obj={obj},Free={free},Min={min}",
    ),
    answer(
        &[KIND, OBJ, field("free", Kind::QueueCtr), field("min", Kind::QueueCtr)],
        "Query-EQ Obj={obj},Que<Free={free},Min={min}>",
    ),
    answer(
        &[
            KIND,
            OBJ,
            field("ao", Kind::Obj),
            field("ctr", Kind::TimeCtr),
            field("interval", Kind::TimeCtr),
            field("sig", Kind::Sig),
            field("flags", Kind::U8),
        ],
        "Query-TE Obj={obj},Rate={flags:&15},Sig={sig@ao},Tim={ctr},Int={interval},Flags=0x{flags:flags}",
    ),
    answer(&[KIND, OBJ], "Query-AP Obj={obj}"),
    answer(&[KIND, OBJ], "Query-SM_AO Obj={obj}"),
    answer(&[KIND, OBJ], "Query-{kind} Obj={obj}"),
];

/// The answers about objects, by kind.
pub fn queries(version: u16) -> [Layout; 8] {
    let mut layouts = QUERIES;
    if version < AO_STATE_FROM {
        layouts[1] = AO_QUEUE;
    }
    layouts
}
