//! Records as rows of numbers, as QSPY writes them for Matlab.

use qs_core::record::Kind;

use super::lines::wide;
use crate::format_number as put;
use crate::stream::decoded::{DecodedRecord, RecordShape, is_address, shown};
use crate::stream::element::{self, Value};
use crate::stream::plan::{FieldSource, Plan};
use crate::symbols::target_symbols::TargetSymbols;

/// Longest name in a row.
const MAX_NAME: usize = 64;

/// Records without a row.
const SILENT: &[u8] = &[0, 43, 44, 54, 58, 59, 63, 64, 65, 66, 67, 68, 70];

/// Fields that the row of a record leaves out.
const LEFT_OUT: &[(&[u8], &str)] =
    &[(&[26], "refs"), (&[31, 32, 33, 34, 35, 37, 38], "rate"), (&[36], "was_armed")];

/// Records whose first two fields are swapped.
const SWAPPED: (&[u8], u16) = (&[48, 49], 710);

/// Appends the row of a record, if it has one, with its line end.
pub fn push_row(record: &DecodedRecord<'_>, known: &TargetSymbols, row: &mut Vec<u8>) {
    match record.shape {
        RecordShape::User(_) => push_user(record, known, row),
        RecordShape::Fields(plan) if record.left == 0 && !SILENT.contains(&record.id()) => {
            push_fields(plan, record, known, row);
        }
        _ => {}
    }
}

fn push_fields(plan: &Plan, record: &DecodedRecord<'_>, known: &TargetSymbols, row: &mut Vec<u8>) {
    let id = record.id();
    if plan.ops.is_empty() {
        return;
    }
    put::number(row, id.into());
    match id {
        60 => {
            row.push(b' ');
            row.extend(name(record.shown_text()));
            row.extend_from_slice(b"=[");
            put::number(row, record.values[0]);
            row.push(b' ');
            put::signed(row, record.values[1] as i64);
            row.extend_from_slice(b"];");
        }
        61 | 62 => {
            row.push(b' ');
            match id {
                61 => row.extend(name(&record.object_name(known))),
                _ => row.extend(name(record.shown_text())),
            }
            row.push(b'=');
            put::signed(row, record.values[0] as i64);
            row.push(b';');
        }
        _ => push_values(plan, record, known, row),
    }
    row.push(b'\n');
}

fn push_values(plan: &Plan, record: &DecodedRecord<'_>, known: &TargetSymbols, row: &mut Vec<u8>) {
    let id = record.id();
    if plan.timed {
        row.push(b' ');
        put::number(row, record.time);
    }
    let mut order: [usize; crate::stream::plan::MAX_FIELDS] = std::array::from_fn(|place| place);
    if SWAPPED.0.contains(&id) && known.target.version >= SWAPPED.1 {
        order.swap(0, 1);
    }
    for place in &order[..plan.fields.len()] {
        let field = &plan.fields[*place];
        if LEFT_OUT.iter().any(|(ids, name)| ids.contains(&id) && *name == field.name) {
            continue;
        }
        row.push(b' ');
        match field.kind {
            Kind::Str => row.extend_from_slice(record.shown_text()),
            kind if is_address(kind) => put::signed(row, record.values[*place] as i64),
            _ => put::number(row, record.values[*place]),
        }
        debug_assert!(field.step != FieldSource::Count, "answers have no row");
    }
}

/// A name that Matlab takes.
fn name(name: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let name = name.strip_prefix(b"&").unwrap_or(name);
    name.iter().take(MAX_NAME).map(|byte| match byte {
        b'[' | b']' | b'.' | b':' => b'_',
        byte => *byte,
    })
}

fn push_user(record: &DecodedRecord<'_>, known: &TargetSymbols, row: &mut Vec<u8>) {
    let RecordShape::User(mut take) = record.shape else { return };
    put::number(row, record.id().into());
    row.push(b' ');
    put::number(row, record.time);
    while let Some(element) = element::next(&mut take, &known.target) {
        let width = element.width;
        row.push(b' ');
        match element.value {
            Value::Int(number, 8) => put::right(row, number, wide(width, true)),
            Value::Int(number, _) => put::right(row, number, width),
            Value::Uint(number, 8) => put::right(row, number, wide(width, false)),
            Value::Uint(number, _) => put::right(row, number, width),
            Value::Float(number, negative) => put::exponent(row, number, negative, width),
            Value::Enum(_, value) => put::number(row, value),
            Value::Text(text) => row.extend_from_slice(shown(text)),
            Value::NoText | Value::NoMemory => {}
            Value::Memory(bytes) => {
                for byte in bytes {
                    row.push(b' ');
                    put::padded(row, (*byte).into(), 3);
                }
            }
            Value::Signal(sig, obj) => {
                put::number(row, sig);
                row.push(b' ');
                put::signed(row, obj as i64);
            }
            Value::Obj(address) | Value::Fun(address) => put::signed(row, address as i64),
            Value::Hex(number) => {
                row.extend_from_slice(b"0x");
                put::hex_filled(row, number, width, b'0');
            }
        }
    }
    row.push(b'\n');
}
