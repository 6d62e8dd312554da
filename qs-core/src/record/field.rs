//! Fields of records: which kinds there are, how wide each is, and what they are put into.

use byteorder::{ByteOrder as _, LittleEndian};

/// What a field is. Its width depends on the target, see [`Sizes`].
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

/// How wide the fields of a target are, in bytes; told in its target-info record.
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
    /// Size of a pool's block (B); in no record but the target info.
    pub pool_blk: u8,
    /// Counter of a time event (C).
    pub time_ctr: u8,
}

impl Sizes {
    /// What QSPY takes for given before it is told: a 32-bit target.
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

    /// The same for this machine's pointers.
    pub const NATIVE: Sizes = {
        let mut sizes = Sizes::DEFAULT;
        sizes.obj = size_of::<usize>() as u8;
        sizes.fun = sizes.obj;
        sizes
    };

    /// The same with the sizes that a text names by QSPY's letters: `"T2 O4 C2"`.
    ///
    /// # Panics
    /// When the text is no such list, or no target has such a size; meant for compile time.
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

    /// The size with QSPY's letter.
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

    /// Whether a target may have this size under QSPY's letter.
    pub const fn is_possible(letter: u8, size: u8) -> bool {
        matches!((letter, size), (_, 1 | 2 | 4) | (b'O' | b'F', 8))
    }

    /// Bytes of a field; `None` for text.
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
    /// No object.
    pub const NULL: Obj = Obj(0);

    /// The address of this object.
    #[inline(always)]
    pub fn of<T: ?Sized>(object: &T) -> Obj {
        Obj(core::ptr::from_ref(object).cast::<u8>().addr())
    }
}

impl Fun {
    /// No function.
    pub const NULL: Fun = Fun(0);

    /// The address of a function: `Fun::of(state as *const ())`.
    #[inline(always)]
    pub fn of(function: *const ()) -> Fun {
        Fun(function.addr())
    }
}

/// What the fields of a record are put into.
pub trait Fields {
    /// Puts a number that is `kind` wide. Bits that do not fit are cut off.
    fn number(&mut self, kind: Kind, value: u64);

    /// Puts bytes as they are.
    fn bytes(&mut self, bytes: &[u8]);

    /// Puts the format byte that an element of an application record begins with.
    #[inline(always)]
    fn element(&mut self, format: u8) {
        self.bytes(&[format]);
    }

    /// Puts an element whose data is known: its format byte and all of that.
    #[inline(always)]
    fn whole_element(&mut self, element: &[u8]) {
        self.bytes(element);
    }

    /// Puts a text and the zero behind it. A zero inside ends it.
    #[inline]
    fn text(&mut self, text: &str) {
        self.bytes(up_to_zero(text));
        self.bytes(&[0]);
    }

    /// How long a text may be that is put whole.
    #[inline(always)]
    fn room(&self) -> usize {
        usize::MAX
    }
}

/// As much of a text as a record can hold: a zero ends it.
#[inline(always)]
pub fn up_to_zero(text: &str) -> &[u8] {
    let text = text.as_bytes();
    // Most are short and have none: a word at a time.
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

/// The bytes of a record that are still to be read.
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

/// What a field of a record may be in Rust.
pub(super) trait Value<'a>: Sized {
    /// Puts it as a field of this kind.
    fn put(self, to: &mut impl Fields, kind: Kind);

    /// Reads a field of this kind.
    fn get(from: &mut Payload<'a, '_>, kind: Kind) -> Option<Self>;
}

/// Puts the value of a field.
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
