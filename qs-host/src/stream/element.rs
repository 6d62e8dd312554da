//! Elements of application records, decoded one after another.

use qs_core::record::element::Data;

use super::field_reader::{FieldReader, MissingBytes};
use crate::symbols::target::TargetDescription;

/// The value of an element.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// A signed number, and its size in bytes.
    Int(i64, u8),
    /// An unsigned number, and its size in bytes.
    Uint(u64, u8),
    /// A floating-point number, and its sign bit: NaN has one, too.
    Float(f64, bool),
    /// A value of a group of enumerations.
    Enum(u8, u64),
    /// Text.
    Text(&'a [u8]),
    /// No text: the record is too short.
    NoText,
    /// Memory.
    Memory(&'a [u8]),
    /// No memory: the record is too short.
    NoMemory,
    /// A signal, and an object or 0.
    Signal(u64, u64),
    /// The address of an object.
    Obj(u64),
    /// The address of a function.
    Fun(u64),
    /// A number to be shown in hexadecimal.
    Hex(u64),
}

/// An element.
#[derive(Clone, Copy, Debug)]
pub struct Element<'a> {
    /// Its format, from 0 to 15.
    pub width: usize,
    /// Its value; zero where bytes are missing.
    pub value: Value<'a>,
    /// The bytes that it lacks.
    pub short: Option<MissingBytes>,
    /// The bytes that the first of its two fields lacks.
    pub short_before: Option<MissingBytes>,
}

/// The next element; `None` at the end of the record.
pub fn next<'a>(take: &mut FieldReader<'a>, target: &TargetDescription) -> Option<Element<'a>> {
    if take.left() <= 0 {
        return None;
    }
    let format = take.uint(1).unwrap_or(0) as u8;
    let (mut short, mut short_before) = (None, None);
    let mut uint = |take: &mut FieldReader<'a>, len: u8| {
        take.uint(len).unwrap_or_else(|missing| {
            short_before = short.replace(missing);
            0
        })
    };
    let value = match Data::of(format) {
        Data::Int(len) => match take.int(len) {
            Ok(number) => Value::Int(number, len),
            Err(missing) => {
                short = Some(missing);
                Value::Int(0, len)
            }
        },
        Data::Uint(len) => Value::Uint(uint(take, len), len),
        Data::Float(4) => {
            let value = f32::from_bits(uint(take, 4) as u32);
            Value::Float(value.into(), value.is_sign_negative())
        }
        Data::Float(_) => {
            let value = f64::from_bits(uint(take, 8));
            Value::Float(value, value.is_sign_negative())
        }
        Data::Enum(group) => Value::Enum(group, uint(take, 1)),
        Data::Hex => Value::Hex(uint(take, 4)),
        Data::Obj => Value::Obj(uint(take, target.sizes.obj)),
        Data::Fun => Value::Fun(uint(take, target.sizes.fun)),
        Data::Signal => {
            let sig = uint(take, target.sizes.sig);
            Value::Signal(sig, uint(take, target.sizes.obj))
        }
        Data::Text => match take.text() {
            Ok(text) => Value::Text(text),
            Err(missing) => {
                short = Some(missing);
                Value::NoText
            }
        },
        Data::Memory => match take.memory(1) {
            Ok((count, data)) => Value::Memory(&data[..data.len().min(count.into())]),
            Err(missing) => {
                short = Some(missing);
                Value::NoMemory
            }
        },
    };
    Some(Element { width: usize::from(format >> 4), value, short, short_before })
}
