//! Differences of earlier versions of QS from the table of records: a new difference is a row.

use qs_core::record::{Field, Kind, Layout};

/// How a record differed.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// This field was not sent; it counts as zero.
    Without(&'static str),
    /// Pool and reference count were one byte.
    OneByteEvent,
    /// A time stamp came first, which is not shown.
    UnseenTime,
    /// The record had another layout.
    Was(Layout),
    /// The record is not shown.
    Silent,
}

/// A difference of some records, up to a version.
#[derive(Clone, Copy, Debug)]
pub struct LayoutChange {
    /// The first version that sends them as the table of records says.
    pub before: u16,
    /// The records.
    pub ids: &'static [u8],
    /// How they differed.
    pub change: Change,
}

const fn field(name: &'static str, kind: Kind) -> Field {
    Field { name, kind }
}

const fn row(before: u16, ids: &'static [u8], change: Change) -> LayoutChange {
    LayoutChange { before, ids, change }
}

/// Every difference. Several for one record apply in this order.
pub const CHANGES: &[LayoutChange] = &[
    row(620, &[10], Change::Silent),
    row(
        620,
        &[11],
        Change::Was(Layout {
            timed: true,
            fields: &[field("obj", Kind::Obj), field("prio", Kind::U8)],
            text: "AO-Remov Obj={obj},Pri={prio}",
        }),
    ),
    row(
        620,
        &[18],
        Change::Was(Layout {
            timed: false,
            fields: &[field("obj", Kind::Obj), field("len", Kind::QueueCtr)],
            text: "EQ-Init  Obj={obj},Len={len}",
        }),
    ),
    row(
        620,
        &[38],
        Change::Was(Layout {
            timed: true,
            fields: &[
                field("te", Kind::Obj),
                field("ao", Kind::Obj),
                field("ctr", Kind::TimeCtr),
                field("interval", Kind::TimeCtr),
                field("rate", Kind::U8),
            ],
            text: "TE{rate}-Ctr  Obj={te},AO={ao},Tim={ctr},Int={interval}",
        }),
    ),
    row(
        710,
        &[48],
        Change::Was(Layout {
            timed: true,
            fields: &[field("prio", Kind::U8), field("ceiling", Kind::U8)],
            text: "Mtx-Lock Pro={prio},Ceil={ceiling}",
        }),
    ),
    row(
        710,
        &[49],
        Change::Was(Layout {
            timed: true,
            fields: &[field("prio", Kind::U8), field("ceiling", Kind::U8)],
            text: "Mtx-Unlk Pro={prio},Ceil={ceiling}",
        }),
    ),
    row(580, &[66], Change::UnseenTime),
    row(550, &[0], Change::Was(Layout { timed: false, fields: &[], text: "Trg-RST  {version}" })),
    row(500, &[31, 32, 33, 34, 35, 37, 38], Change::Without("rate")),
    // QSPY takes the last byte for the rate.
    row(500, &[36], Change::Without("was_armed")),
    row(420, &[14, 26, 45], Change::Without("sender")),
    row(420, &[14, 15, 16, 17, 19, 20, 21, 22, 26, 29, 30, 45, 46], Change::OneByteEvent),
];

/// The versions at which layouts, names or texts changed.
pub const VERSION_BREAKS: &[u16] = &[420, 500, 550, 580, 620, 660, 690, 710, 714];
