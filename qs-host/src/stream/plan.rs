//! Plans to decode and format each record, compiled from the table of records once for every group of versions.

use std::sync::OnceLock;

use qs_core::record::{self, Group, Kind, Layout, PeekData, QueryData, Record, TargetInfo};

use super::content_layouts;
use super::version_changes::{CHANGES, Change, VERSION_BREAKS};
use crate::format_number::InlineText;

/// Longest literal text of an operation; a longer text takes several.
const LITERAL: usize = 32;
/// Most fields of a record.
pub const MAX_FIELDS: usize = 16;

/// How one record is decoded and formatted.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its name in QS.
    pub name: &'static str,
    /// Its group in QS.
    pub group: Group,
    /// A time stamp comes first, and is shown.
    pub timed: bool,
    /// A time stamp comes first, and is not.
    pub unseen_time: bool,
    /// Its fields, in their order.
    pub fields: Vec<Planned>,
    /// Its text with the first columns: operations, and the literal text before each.
    pub ops: Vec<(Literal, Op)>,
}

/// A field.
#[derive(Clone, Copy, Debug)]
pub struct Planned {
    /// Its name.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Where its value comes from.
    pub step: FieldSource,
}

/// Where the value of a field comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldSource {
    /// From as many bytes as its kind has.
    Bytes,
    /// Nowhere: it counts as zero.
    Absent,
    /// From the high bits of a byte; the next field is in the low ones.
    HighBits,
    /// From the low bits of the byte of the field before.
    Came,
    /// The count of a block of memory; the field before is the size of an item.
    Count,
}

/// Literal text of a pattern.
pub type Literal = InlineText<LITERAL>;

/// An operation that formats a part of a record's text. Numbers are indices of fields.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Literal text.
    Literal(Literal),
    /// The time stamp, and a blank.
    Time,
    /// A number.
    Number(u8),
    /// A number with leading zeros, of this width.
    Padded(u8, u8),
    /// Four bytes as a signed number.
    Signed(u8),
    /// Four bytes as a signed number with leading zeros.
    SignedPadded(u8, u8),
    /// A number, of which only these bits count.
    Masked(u8, u8),
    /// An address in full.
    Address(u8),
    /// An object's name.
    Obj(u8),
    /// An object's name. If it and the other object are unknown, QSPY shows the other one twice.
    ObjAfter(u8, u8),
    /// A function's name.
    Fun(u8),
    /// A signal's name for an object, or for no object.
    Sig(u8, Option<u8>),
    /// The record's text.
    Text,
    /// The version of QS.
    Version,
    /// Whether the target has started.
    Reset(u8),
    /// A command by its name.
    Command(u8),
    /// How a command was received.
    Ack(u8),
    /// What is in memory.
    Items,
    /// The high half of a byte, in hexadecimal.
    Flags(u8),
}

/// Every record as a version sends it.
#[derive(Debug)]
pub struct Plans {
    /// By id; records that cannot be decoded have none.
    records: Vec<Option<Plan>>,
    queries: Vec<Plan>,
}

impl Plans {
    /// The plans of a version.
    pub fn of(version: u16) -> &'static Plans {
        static PLANS: [OnceLock<Plans>; VERSION_BREAKS.len() + 1] =
            [const { OnceLock::new() }; VERSION_BREAKS.len() + 1];
        PLANS[VERSION_BREAKS.partition_point(|step| *step <= version)].get_or_init(|| Plans::compile(version))
    }

    /// The plan of a predefined record; an answer to a query has one for each kind of object.
    pub fn get(&self, id: u8, query: u8) -> Option<&Plan> {
        match id {
            QueryData::ID => self.queries.get(usize::from(query)).or(self.queries.last()),
            _ => self.records.get(usize::from(id))?.as_ref(),
        }
    }

    /// The plan of each predefined record but the answers to queries, by id.
    pub fn iter(&self) -> impl Iterator<Item = Option<&Plan>> {
        self.records.iter().map(Option::as_ref)
    }

    fn compile(version: u16) -> Plans {
        let queries = content_layouts::queries(version);
        let name = "QS_QUERY_DATA";
        Plans {
            records: record::RECORDS.iter().map(|info| plan(info, version)).collect(),
            queries: queries.iter().map(|layout| Plan::new(name, Group::Tst, layout)).collect(),
        }
    }
}

fn plan(info: &'static record::RecordInfo, version: u16) -> Option<Plan> {
    let layout = match info.id {
        TargetInfo::ID => Some(content_layouts::TARGET_INFO_LAYOUT),
        PeekData::ID => Some(content_layouts::PEEK_LAYOUT),
        _ => info.layout,
    };
    let mut plan = Plan::new(info.name, info.group, &layout?);
    if info.id == PeekData::ID
        && let Some(count) = plan.fields.last_mut()
    {
        count.step = FieldSource::Count;
    }
    for row in CHANGES.iter().filter(|row| version < row.before && row.ids.contains(&info.id)) {
        plan.change(row.change);
    }
    plan.share_unknown(info.id);
    Some(plan)
}

impl Plan {
    fn new(name: &'static str, group: Group, layout: &Layout) -> Plan {
        let fields: Vec<Planned> = layout
            .fields
            .iter()
            .map(|field| Planned { name: field.name, kind: field.kind, step: FieldSource::Bytes })
            .collect();
        assert!(fields.len() <= MAX_FIELDS, "{name} has more fields than there is room for");
        let mut ops = Vec::new();
        match (layout.timed, group) {
            (true, _) => ops.push(Op::Time),
            (false, Group::Sm) => push_text(&mut ops, "===RTC===> "),
            (false, _) => push_text(&mut ops, "           "),
        }
        for piece in record::pieces(layout.text) {
            push_text(&mut ops, piece.literal);
            push_ops(&mut ops, &fields, &piece);
        }
        Plan { name, group, timed: layout.timed, unseen_time: false, fields, ops: joined(ops) }
    }

    /// The place of a field.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Without(name) => self.set(name, FieldSource::Absent),
            Change::OneByteEvent => {
                self.set("pool", FieldSource::HighBits);
                self.set("refs", FieldSource::Came);
            }
            Change::UnseenTime => self.unseen_time = true,
            Change::Was(layout) => *self = Plan::new(self.name, self.group, &layout),
            Change::Silent => self.ops.clear(),
        }
    }

    fn set(&mut self, name: &str, step: FieldSource) {
        self.fields.iter_mut().filter(|field| field.name == name).for_each(|field| field.step = step);
    }

    /// QSPY formats unknown objects in one buffer, and looks up both objects of these records before it shows either.
    fn share_unknown(&mut self, id: u8) {
        let mut first = None;
        for (_, op) in self.ops.iter_mut().filter(|_| matches!(id, 10 | 11 | 18)) {
            match (*op, first) {
                (Op::Obj(place), None) => first = Some(place),
                (Op::Obj(place), Some(first)) => *op = Op::ObjAfter(place, first),
                _ => {}
            }
        }
    }
}

/// Joins literal text with the operation behind it: nearly every number has text before it.
fn joined(ops: Vec<Op>) -> Vec<(Literal, Op)> {
    let (mut joined, mut before) = (Vec::new(), Literal::new(b""));
    let mut ops = ops.into_iter().peekable();
    while let Some(op) = ops.next() {
        match op {
            Op::Literal(text) if before.is_empty() && ops.peek().is_some() => before = text,
            op => joined.push((std::mem::replace(&mut before, Literal::new(b"")), op)),
        }
    }
    joined
}

/// Appends literal text in pieces.
fn push_text(ops: &mut Vec<Op>, text: &str) {
    ops.extend(text.as_bytes().chunks(LITERAL).map(|piece| Op::Literal(Literal::new(piece))));
}

/// Appends the operations of a `{...}` in a pattern.
fn push_ops(ops: &mut Vec<Op>, fields: &[Planned], piece: &record::Piece<'_>) {
    let place = |name: &str| fields.iter().position(|field| field.name == name).map(|place| place as u8);
    let object = place(piece.object);
    match (piece.field, place(piece.field)) {
        ("", _) => {}
        ("evt", _) => {
            let (sig, pool, refs) = (place("sig"), place("pool"), place("refs"));
            push_text(ops, "Evt<Sig=");
            ops.extend(sig.map(|sig| Op::Sig(sig, object)));
            push_text(ops, ",Pool=");
            ops.extend(pool.map(Op::Number));
            push_text(ops, ",Ref=");
            ops.extend(refs.map(Op::Number));
            push_text(ops, ">");
        }
        ("version", None) => ops.push(Op::Version),
        (_, None) => {}
        (_, Some(place)) => ops.push(op(place, object, fields[usize::from(place)].kind, piece.how)),
    }
}

fn op(place: u8, object: Option<u8>, kind: Kind, how: &str) -> Op {
    match (how, kind) {
        ("", Kind::Obj) => Op::Obj(place),
        ("", Kind::Fun) => Op::Fun(place),
        ("", Kind::Sig) => Op::Sig(place, object),
        ("", Kind::Str) => Op::Text,
        ("x", _) => Op::Address(place),
        ("i", _) => Op::Signed(place),
        ("rx", _) => Op::Command(place),
        ("ack", _) => Op::Ack(place),
        ("reset", _) => Op::Reset(place),
        ("items", _) => Op::Items,
        ("flags", _) => Op::Flags(place),
        _ => match (how.strip_prefix('&'), how.strip_suffix('i')) {
            (Some(mask), _) => Op::Masked(place, mask.parse().unwrap_or(u8::MAX)),
            (None, Some(width)) => Op::SignedPadded(place, width.parse().unwrap_or(1)),
            (None, None) => match how.parse() {
                Ok(width) => Op::Padded(place, width),
                Err(_) => Op::Number(place),
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_has_a_plan_for_every_record() {
        for version in VERSION_BREAKS.iter().flat_map(|step| [step - 1, *step]) {
            let plans = Plans::of(version);
            for info in record::RECORDS {
                let is_sent = !matches!(info.id, 43 | 44);
                assert_eq!(plans.get(info.id, 0).is_some(), is_sent, "{} in {version}", info.name);
            }
        }
    }

    #[test]
    fn patterns_become_ops() {
        let plan = Plans::of(734).get(31, 0).unwrap();
        let [(columns, Op::Literal(tick)), (none, Op::Number(1)), (ctr, Op::Padded(0, 10))] = &plan.ops[..]
        else {
            panic!("{:?}", plan.ops)
        };
        let texts = [columns, tick, none, ctr].map(|text| String::from_utf8_lossy(text));
        assert_eq!(texts, ["           ", "Tick<", "", ">  Ctr="]);
        let old = Plans::of(410).get(14, 0).unwrap();
        let steps: Vec<FieldSource> = old.fields.iter().map(|field| field.step).collect();
        assert_eq!(
            steps[..5],
            [
                FieldSource::Absent,
                FieldSource::Bytes,
                FieldSource::Bytes,
                FieldSource::HighBits,
                FieldSource::Came
            ]
        );
    }
}
