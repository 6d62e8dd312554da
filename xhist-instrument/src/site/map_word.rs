//! Words of maps in a kept analysis.

use crate::site::structure::{BodyKind, Jump};
use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer, Serializer};

/// A value that maps have a word for. The usual one has an empty word.
pub(crate) trait MapWord: Copy {
    fn word(self) -> &'static str;
    fn of(word: &str) -> Option<Self>;
}

impl MapWord for BodyKind {
    fn word(self) -> &'static str {
        self.name().unwrap_or_default()
    }

    fn of(word: &str) -> Option<Self> {
        if word.is_empty() { Some(Self::default()) } else { Self::by_name(word) }
    }
}

impl MapWord for Option<Jump> {
    fn word(self) -> &'static str {
        self.map_or("", Jump::name)
    }

    fn of(word: &str) -> Option<Self> {
        if word.is_empty() { Some(None) } else { Jump::by_name(word).map(Some) }
    }
}

pub(crate) fn serialize<T: MapWord, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(value.word())
}

pub(crate) fn deserialize<'d, T: MapWord, D: Deserializer<'d>>(from: D) -> Result<T, D::Error> {
    T::of(<&str>::deserialize(from)?).ok_or_else(|| D::Error::custom("no such word"))
}
