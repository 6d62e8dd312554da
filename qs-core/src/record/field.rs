//! Fields of records: their kinds, their widths, and how they are written and read.

use byteorder::{ByteOrder as _, LittleEndian};

/// Kind of a field. Its width depends on the target, see [`Sizes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Address of an object.
    Obj,
    /// Address of a function.
    Fun,
    /// Signal of an event.
    Sig,
    /// Size of an event.
    EvtSize,
    /// Counter of a queue.
    QueueCtr,
    /// Counter of a memory pool.
    PoolCtr,
    /// Counter of a time event.
    TimeCtr,
    /// One byte.
    U8,
    /// Two bytes.
    U16,
    /// Four bytes.
    U32,
    /// Text that ends with a zero.
    Str,
}

/// Widths of a target's fields in bytes. The target-info record contains them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sizes {
    /// Time stamp (T).
    pub time: u8,
    /// Address of an object (O).
    pub obj: u8,
    /// Address of a function (F).
    pub fun: u8,
    /// Signal (S).
    pub sig: u8,
    /// Size of an event (E).
    pub evt_size: u8,
    /// Counter of a queue (Q).
    pub queue_ctr: u8,
    /// Counter of a memory pool (P).
    pub pool_ctr: u8,
    /// Size of a pool's block (B). Only the target info has it.
    pub pool_blk: u8,
    /// Counter of a time event (C).
    pub time_ctr: u8,
}

impl Sizes {
    /// QSPY's assumption before it knows the target: 32 bits.
    pub const DEFAULT: Sizes = Sizes {
        time: 4,
        obj: 4,
        fun: 4,
        sig: 2,
        evt_size: 2,
        queue_ctr: 1,
        pool_ctr: 2,
        pool_blk: 2,
        time_ctr: 4,
    };

    /// The default sizes with pointers of this machine.
    pub const NATIVE: Sizes = {
        let mut sizes = Sizes::DEFAULT;
        sizes.obj = size_of::<usize>() as u8;
        sizes.fun = sizes.obj;
        sizes
    };

    /// Changes the sizes that `text` lists with QSPY's letters: `"T2 O4 C2"`.
    ///
    /// # Panics
    /// If the text is not such a list, or no target has such a size. Meant for constants.
    #[must_use]
    pub const fn with(mut self, text: &str) -> Sizes {
        let text = text.as_bytes();
        let mut at = 0;
        while at < text.len() {
            if text[at] == b' ' {
                at += 1;
                continue;
            }
            assert!(at + 1 < text.len(), "a size is a letter and a digit, as in \"T4 O8\"");
            let size = text[at + 1].wrapping_sub(b'0');
            let Some(field) = self.by_letter(text[at]) else {
                panic!("sizes are T, O, F, S, E, Q, P, B and C")
            };
            *field = size;
            assert!(Sizes::is_possible(text[at], size), "sizes are 1, 2 or 4; O and F may be 8");
            at += 2;
        }
        self
    }

    /// The size for a letter of QSPY.
    pub const fn by_letter(&mut self, letter: u8) -> Option<&mut u8> {
        Some(match letter {
            b'T' => &mut self.time,
            b'O' => &mut self.obj,
            b'F' => &mut self.fun,
            b'S' => &mut self.sig,
            b'E' => &mut self.evt_size,
            b'Q' => &mut self.queue_ctr,
            b'P' => &mut self.pool_ctr,
            b'B' => &mut self.pool_blk,
            b'C' => &mut self.time_ctr,
            _ => return None,
        })
    }

    /// Whether a target may have this size for a letter of QSPY.
    pub const fn is_possible(letter: u8, size: u8) -> bool {
        matches!((letter, size), (_, 1 | 2 | 4) | (b'O' | b'F', 8))
    }

    /// Width of a field in bytes. `None` for text.
    #[inline(always)]
    pub const fn of(&self, kind: Kind) -> Option<u8> {
        Some(match kind {
            Kind::Obj => self.obj,
            Kind::Fun => self.fun,
            Kind::Sig => self.sig,
            Kind::EvtSize => self.evt_size,
            Kind::QueueCtr => self.queue_ctr,
            Kind::PoolCtr => self.pool_ctr,
            Kind::TimeCtr => self.time_ctr,
            Kind::U8 => 1,
            Kind::U16 => 2,
            Kind::U32 => 4,
            Kind::Str => return None,
        })
    }
}

/// Address of an object, or 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Obj(pub usize);

/// Address of a function, or 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fun(pub usize);

/// A signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sig(pub u32);

impl Obj {
    /// The null address: no object.
    pub const NULL: Obj = Obj(0);

    /// The address of this object.
    #[inline(always)]
    pub fn of<T: ?Sized>(object: &T) -> Obj {
        Obj(core::ptr::from_ref(object).cast::<u8>().addr())
    }
}

impl Fun {
    /// The null address: no function.
    pub const NULL: Fun = Fun(0);

    /// The address of a function: `Fun::of(state as *const ())`.
    #[inline(always)]
    pub fn of(function: *const ()) -> Fun {
        Fun(function.addr())
    }
}

/// A destination for the fields of a record.
pub trait Fields {
    /// Writes a number with the width of `kind`. Higher bits are cut off.
    fn number(&mut self, kind: Kind, value: u64);

    /// Writes bytes without a length or an end.
    fn bytes(&mut self, bytes: &[u8]);

    /// Writes the format byte that starts an element of an application record.
    #[inline(always)]
    fn element(&mut self, format: u8) {
        self.bytes(&[format]);
    }

    /// Writes an element: its format byte and its data.
    #[inline(always)]
    fn whole_element(&mut self, element: &[u8]) {
        self.bytes(element);
    }

    /// Writes a text and its terminating zero. A zero inside ends the text.
    #[inline]
    fn text(&mut self, text: &str) {
        self.bytes(up_to_zero(text));
        self.bytes(&[0]);
    }

    /// Longest text that is written whole, in bytes.
    #[inline(always)]
    fn room(&self) -> usize {
        usize::MAX
    }
}

/// The text up to its first zero, which ends a text in a record.
#[inline(always)]
pub fn up_to_zero(text: &str) -> &[u8] {
    let text = text.as_bytes();
    // Most texts are short and have no zero, so whole words are tested.
    let words = text.as_chunks().0;
    let whole = words.iter().position(|word| has_zero(usize::from_ne_bytes(*word)));
    let start = whole.unwrap_or(words.len()) * size_of::<usize>();
    let rest = text.get(start..).unwrap_or_default();
    let len = rest.iter().position(|byte| *byte == 0).map_or(text.len(), |len| start + len);
    text.get(..len).unwrap_or(text)
}

/// Whether a byte is 0.
const fn has_zero(word: usize) -> bool {
    const ONES: usize = usize::MAX / 255;
    word.wrapping_sub(ONES) & !word & ONES << 7 != 0
}

/// The bytes of a record that are not read yet.
pub(super) struct Payload<'a, 'b> {
    pub(super) rest: &'a [u8],
    pub(super) sizes: &'b Sizes,
}

impl<'a> Payload<'a, '_> {
    pub(super) fn value<V: Value<'a>>(&mut self, kind: Kind) -> Option<V> {
        V::get(self, kind)
    }

    pub(super) fn time(&mut self) -> Option<u32> {
        self.number(self.sizes.time).map(|time| time as u32)
    }

    fn number(&mut self, size: u8) -> Option<u64> {
        let (bytes, rest) = self.rest.split_at_checked(size.into())?;
        self.rest = rest;
        Some(match bytes.len() {
            0 => 0,
            len => LittleEndian::read_uint(bytes, len.min(8)),
        })
    }

    fn text(&mut self) -> Option<&'a str> {
        let end = self.rest.iter().position(|byte| *byte == 0)?;
        let (text, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest.get(1..)?;
        core::str::from_utf8(text).ok()
    }
}

/// A Rust type for a field of a record.
pub(super) trait Value<'a>: Sized {
    /// Writes the value as a field of this kind.
    fn put(self, to: &mut impl Fields, kind: Kind);

    /// Reads a field of this kind.
    fn get(from: &mut Payload<'a, '_>, kind: Kind) -> Option<Self>;
}

/// Writes the value of a field.
#[inline(always)]
pub(super) fn value<'a>(to: &mut impl Fields, kind: Kind, value: impl Value<'a>) {
    value.put(to, kind);
}

impl<'a> Value<'a> for &'a str {
    #[inline(always)]
    fn put(self, to: &mut impl Fields, _kind: Kind) {
        to.text(self);
    }

    fn get(from: &mut Payload<'a, '_>, _kind: Kind) -> Option<Self> {
        from.text()
    }
}

macro_rules! numbers {
    ($($type:ty: $to:expr, $from:expr;)*) => {$(
        impl<'a> Value<'a> for $type {
            #[inline(always)]
            fn put(self, to: &mut impl Fields, kind: Kind) {
                let number: fn($type) -> u64 = $to;
                to.number(kind, number(self));
            }

            fn get(from: &mut Payload<'a, '_>, kind: Kind) -> Option<Self> {
                from.number(from.sizes.of(kind)?).map($from)
            }
        }
    )*};
}

numbers! {
    Obj: |object| object.0 as u64, |number| Obj(number as usize);
    Fun: |function| function.0 as u64, |number| Fun(number as usize);
    Sig: |signal| signal.0.into(), |number| Sig(number as u32);
    u8: u64::from, |number| number as u8;
    u16: u64::from, |number| number as u16;
    u32: u64::from, |number| number as u32;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_fields_of_1_2_or_4_bytes_and_pointers_also_of_8() {
        for letter in *b"TOFSEQPBC" {
            let sizes = (0..=16).filter(|size| Sizes::is_possible(letter, *size));
            let expected: &[u8] = if matches!(letter, b'O' | b'F') { &[1, 2, 4, 8] } else { &[1, 2, 4] };
            assert!(sizes.eq(expected.iter().copied()), "{}", letter as char);
        }
    }

    #[test]
    fn a_text_ends_at_its_first_zero() {
        for before in ["", "\u{1}\u{80}\u{7F}\u{100}", "x", "y"] {
            for len in 0..20 {
                let text = before.repeat(len);
                assert_eq!(up_to_zero(&text), text.as_bytes());
                let whole = [&text, "\0y\0z, and more than a word"].concat();
                assert_eq!(up_to_zero(&whole), text.as_bytes(), "{whole:?}");
            }
        }
    }
}
