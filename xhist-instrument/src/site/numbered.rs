//! Words of maps in a kept analysis: each is its number in the list of all of them.

use crate::site::structure::{BodyKind, Jump};
use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer, Serializer};

/// A type with a list of all its values.
pub(crate) trait Numbered: Copy + PartialEq + 'static {
    const ALL: &'static [Self];
}

impl Numbered for BodyKind {
    const ALL: &'static [Self] =
        &[Self::Function, Self::AsyncFunction, Self::Closure, Self::AsyncClosure, Self::AsyncBlock];
}

impl Numbered for Option<Jump> {
    const ALL: &'static [Self] = &[
        None,
        Some(Jump::Return),
        Some(Jump::Break),
        Some(Jump::Continue),
        Some(Jump::Label),
        Some(Jump::Panic),
    ];
}

pub(crate) fn serialize<T: Numbered, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u8(T::ALL.iter().position(|listed| listed == value).unwrap_or(0) as u8)
}

pub(crate) fn deserialize<'d, T: Numbered, D: Deserializer<'d>>(from: D) -> Result<T, D::Error> {
    let number = u8::deserialize(from)?;
    T::ALL.get(usize::from(number)).copied().ok_or_else(|| D::Error::custom("no such number"))
}
