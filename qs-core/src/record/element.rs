//! Elements of application records: a format byte, then data. Section "Application-Specific Trace Records" of QS.
//!
//! The low half of the format byte is the type. The high half is the display format: a width, hexadecimal or the group of an
//! enumeration. [`Data::of`] is the table of types. The functions have the names of elements in `qs_record!`.

use super::field::{Fields, Fun, Kind, Obj, Sig};

/// Display format of an unsigned number: `0x` and all digits.
pub const HEX: u8 = 15;
/// Largest block of memory in bytes.
pub const MAX_MEMORY: usize = 255;

/// The data behind a format byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// A signed number with this size in bytes.
    Int(u8),
    /// An unsigned number with this size in bytes.
    Uint(u8),
    /// A floating-point number with this size in bytes.
    Float(u8),
    /// A value of this group of enumerations, one byte.
    Enum(u8),
    /// Text up to a zero.
    Text,
    /// A length of one byte, then that many bytes.
    Memory,
    /// A signal and its object.
    Signal,
    /// The address of an object.
    Obj,
    /// The address of a function.
    Fun,
    /// An unsigned number of four bytes, shown in hexadecimal.
    Hex,
}

impl Data {
    /// The data behind this format byte.
    pub const fn of(format: u8) -> Data {
        match (format & 15, format >> 4) {
            (0, group @ 8..) => Data::Enum(group - 8),
            (0, _) => Data::Int(1),
            (1, _) => Data::Uint(1),
            (2, _) => Data::Int(2),
            (3, _) => Data::Uint(2),
            (4, _) => Data::Int(4),
            (5, _) => Data::Uint(4),
            (6, _) => Data::Float(4),
            (7, _) => Data::Float(8),
            (8, _) => Data::Text,
            (9, _) => Data::Memory,
            (10, _) => Data::Signal,
            (11, _) => Data::Obj,
            (12, _) => Data::Fun,
            (13, _) => Data::Int(8),
            (14, _) => Data::Uint(8),
            _ => Data::Hex,
        }
    }

    /// The type in the low half of the format byte.
    pub const fn code(self) -> u8 {
        match self {
            Data::Int(1) | Data::Enum(_) => 0,
            Data::Uint(1) => 1,
            Data::Int(2) => 2,
            Data::Uint(2) => 3,
            Data::Int(4) => 4,
            Data::Uint(4) => 5,
            Data::Float(4) => 6,
            Data::Float(_) => 7,
            Data::Text => 8,
            Data::Memory => 9,
            Data::Signal => 10,
            Data::Obj => 11,
            Data::Fun => 12,
            Data::Int(_) => 13,
            Data::Uint(_) => 14,
            Data::Hex => 15,
        }
    }

    /// The format byte, with a width from 0 to 15.
    pub const fn format(self, width: u8) -> u8 {
        match self {
            Data::Enum(group) => (8 + group) << 4,
            _ => width << 4 | self.code(),
        }
    }
}

/// The largest width of an element with this name, or the largest group of an `enumeration`. The format byte limits both.
pub const fn max_width(name: &str) -> u8 {
    match name.as_bytes() {
        b"enumeration" | b"i8" => 7,
        _ => 15,
    }
}

macro_rules! numbers {
    ($($name:ident $type:ty, $data:expr, $about:literal;)*) => {$(
        #[doc = $about]
        #[inline(always)]
        pub fn $name(to: &mut impl Fields, width: u8, value: $type) {
            to.element($data.format(width));
            to.bytes(&value.to_le_bytes());
        }
    )*};
}

numbers! {
    i8 i8, Data::Int(1), "A signed number of one byte, see [`max_width`].";
    u8 u8, Data::Uint(1), "An unsigned number of one byte.";
    i16 i16, Data::Int(2), "A signed number of two bytes.";
    u16 u16, Data::Uint(2), "An unsigned number of two bytes.";
    i32 i32, Data::Int(4), "A signed number of four bytes.";
    u32 u32, Data::Uint(4), "An unsigned number of four bytes.";
    i64 i64, Data::Int(8), "A signed number of eight bytes.";
    u64 u64, Data::Uint(8), "An unsigned number of eight bytes.";
    f32 f32, Data::Float(4), "A floating-point number of four bytes; the width counts digits behind the point.";
    f64 f64, Data::Float(8), "A floating-point number of eight bytes; the width counts digits behind the point.";
    hex u32, Data::Hex, "A number in hexadecimal, with at least this number of digits.";
}

macro_rules! hexadecimal {
    ($($name:ident $type:ident, $about:literal;)*) => {$(
        #[doc = $about]
        #[inline(always)]
        pub fn $name(to: &mut impl Fields, _width: u8, value: $type) {
            $type(to, HEX, value);
        }
    )*};
}

hexadecimal! {
    x8 u8, "One byte in hexadecimal.";
    x16 u16, "Two bytes in hexadecimal.";
    x32 u32, "Four bytes in hexadecimal.";
    x64 u64, "Eight bytes in hexadecimal.";
}

/// Text.
#[inline(always)]
pub fn str(to: &mut impl Fields, _width: u8, value: &str) {
    to.element(Data::Text.format(0));
    to.text(value);
}

/// A block of memory. Longer than [`MAX_MEMORY`], it becomes several elements.
#[inline(always)]
pub fn mem(to: &mut impl Fields, _width: u8, value: &[u8]) {
    let mut rest = value;
    loop {
        let (block, behind) = rest.split_at(rest.len().min(MAX_MEMORY));
        to.element(Data::Memory.format(0));
        to.bytes(&[block.len() as u8]);
        to.bytes(block);
        rest = behind;
        if rest.is_empty() {
            return;
        }
    }
}

/// A signal and its object.
#[inline(always)]
pub fn sig(to: &mut impl Fields, _width: u8, (signal, object): (Sig, Obj)) {
    to.element(Data::Signal.format(0));
    to.number(Kind::Sig, signal.0.into());
    to.number(Kind::Obj, object.0 as u64);
}

/// The address of an object.
#[inline(always)]
pub fn obj(to: &mut impl Fields, _width: u8, value: Obj) {
    to.element(Data::Obj.format(0));
    to.number(Kind::Obj, value.0 as u64);
}

/// The address of a function.
#[inline(always)]
pub fn fun(to: &mut impl Fields, _width: u8, value: Fun) {
    to.element(Data::Fun.format(0));
    to.number(Kind::Fun, value.0 as u64);
}

/// A value of an enumeration of this group, 0 to 7.
#[inline(always)]
pub fn enumeration(to: &mut impl Fields, group: u8, value: u8) {
    to.element(Data::Enum(group & 7).format(0));
    to.bytes(&[value]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_byte_gives_its_data() {
        for format in 0..=u8::MAX {
            let data = Data::of(format);
            assert_eq!(data.code(), format & 15);
            assert_eq!(data.format(format >> 4), format);
        }
    }

    #[test]
    fn widths_come_back_up_to_the_greatest() {
        let formats = |name, data: fn(u8) -> Data| {
            (0..=max_width(name)).map(move |width| (data(width), data(width).format(width)))
        };
        let all = formats("enumeration", Data::Enum).chain(formats("i8", |_| Data::Int(1)));
        for (data, format) in all.chain(formats("u32", |_| Data::Uint(4))) {
            assert_eq!(Data::of(format), data);
        }
        assert_ne!(Data::of(Data::Int(1).format(max_width("i8") + 1)), Data::Int(1));
    }
}
