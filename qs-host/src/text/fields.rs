//! Fields of a record by name, for reports that show values instead of a line.

use qs_core::record::{Kind, info};

use qs_core::shown::Visible;

use crate::stream::decoded::{DecodedRecord, RecordShape};
use crate::stream::element::{self, Value};
use crate::stream::plan::{FieldSource, Op, Plan};
use crate::symbols::target_symbols::{TargetSymbols, push_address};

/// The value of a field; addresses, signals and values of enumerations by name where they have one.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValue {
    /// A number.
    Uint(u64),
    /// A number with a sign.
    Int(i64),
    /// A number with a point.
    Float(f64),
    /// A name or a text, printable.
    Text(String),
    /// Memory.
    Bytes(Vec<u8>),
}

/// A record by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordFields {
    /// Its name.
    pub name: String,
    /// The fields of a predefined record, in order.
    pub fields: Vec<(&'static str, FieldValue)>,
    /// The elements of a record of the application.
    pub elements: Vec<FieldValue>,
}

impl RecordFields {
    /// The name and the fields of a record, or its elements.
    pub fn of(record: &DecodedRecord<'_>, known: &TargetSymbols) -> RecordFields {
        let mut to = RecordFields::default();
        to.fill(record, known);
        to
    }

    fn fill(&mut self, record: &DecodedRecord<'_>, known: &TargetSymbols) {
        let to = self;
        match record.shape {
            RecordShape::Fields(plan) if record.left == 0 => {
                to.name = plan.name.to_owned();
                if plan.timed {
                    to.fields.push(("time", FieldValue::Uint(record.time)));
                }
                let sent =
                    plan.fields.iter().enumerate().filter(|(_, field)| field.step != FieldSource::Absent);
                to.fields.extend(sent.map(|(place, field)| (field.name, value(record, known, plan, place))));
                if let Some(count) = plan.fields.iter().position(|field| field.step == FieldSource::Count) {
                    let len = (record.values[count - 1] * record.values[count]) as usize;
                    to.fields
                        .push(("data", FieldValue::Bytes(record.memory.iter().take(len).copied().collect())));
                }
            }
            RecordShape::User(mut take) => {
                to.name = text(|line| known.push_user(record.id(), line));
                to.fields.push(("time", FieldValue::Uint(record.time)));
                while let Some(element) = element::next(&mut take, &known.target) {
                    if element.short.is_none() {
                        to.elements.push(of_element(&element.value, known));
                    }
                }
            }
            RecordShape::Fields(_) | RecordShape::Unknown | RecordShape::Empty => {
                to.name = info(record.id()).map_or("QS_RESERVED", |info| info.name).to_owned();
            }
        }
    }
}

/// The value of a field: a name where the record's line shows one, the address where the record gives an object its name.
fn value(record: &DecodedRecord<'_>, known: &TargetSymbols, plan: &Plan, place: usize) -> FieldValue {
    let (value, kind) = (record.values[place], plan.fields[place].kind);
    let is_it = |shown: u8| usize::from(shown) == place;
    let shown = plan.ops.iter().find_map(|(_, op)| match *op {
        Op::Sig(sig, owner) if is_it(sig) => {
            Some(signal(known, value, owner.map_or(0, |owner| record.values[usize::from(owner)])))
        }
        Op::Address(address) if is_it(address) => {
            let width = known.target.sizes.of(kind).unwrap_or(0).into();
            Some(FieldValue::Text(text(|line| push_address(value, width, line))))
        }
        _ => None,
    });
    shown.unwrap_or_else(|| match kind {
        Kind::Obj => FieldValue::Text(text(|line| known.push_object(value, line))),
        Kind::Fun => FieldValue::Text(text(|line| known.push_function(value, line))),
        Kind::Str => FieldValue::Text(text(|line| line.extend_from_slice(record.text))),
        _ => FieldValue::Uint(value),
    })
}

/// A signal's name, or its number if it has no name.
fn signal(known: &TargetSymbols, sig: u64, object: u64) -> FieldValue {
    match known.signals.get(sig as u32, object) {
        Some(name) => FieldValue::Text(text(|line| line.extend_from_slice(name))),
        None => FieldValue::Uint(sig),
    }
}

fn of_element(value: &Value<'_>, known: &TargetSymbols) -> FieldValue {
    match *value {
        Value::Int(number, _) => FieldValue::Int(number),
        Value::Uint(number, _) | Value::Hex(number) => FieldValue::Uint(number),
        Value::Float(number, _) => FieldValue::Float(number),
        Value::Enum(group, value) => match known.enums[usize::from(group & 7)].get(value) {
            Some(name) => FieldValue::Text(text(|line| line.extend_from_slice(name))),
            None => FieldValue::Uint(value),
        },
        Value::Text(bytes) => FieldValue::Text(text(|line| line.extend_from_slice(bytes))),
        Value::Memory(bytes) => FieldValue::Bytes(bytes.to_vec()),
        Value::Signal(sig, object) => signal(known, sig, object),
        Value::Obj(address) => FieldValue::Text(text(|line| known.push_object(address, line))),
        Value::Fun(address) => FieldValue::Text(text(|line| known.push_function(address, line))),
        Value::NoText | Value::NoMemory => FieldValue::Text(String::new()),
    }
}

fn text(push: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut line = Vec::new();
    push(&mut line);
    Visible(&String::from_utf8_lossy(&line)).to_string()
}
