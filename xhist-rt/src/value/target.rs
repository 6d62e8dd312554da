//! Targets of values: the text of a `&str`, the elements of a `Vec`, the number behind a `&u32`.
//!
//! In a generic function too, a type is known by its [`TypeId`]: an equal one is the same type, but for lifetimes. So no
//! name is compared, and a type of the program that is called `String` is another one. The types here have no code of the
//! program and nothing that changes behind a shared reference.

use core::any::TypeId;
#[cfg(target_has_atomic = "64")]
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::known::{KNOWN, KnownType, ValueTarget};
use super::sized::{self, PointersTo};
use super::type_id::{IdOf, id_of};

/// Whether values of this type may have a target, as far as size and alignment show. A pointer is never null, so one word
/// that may have all values is a number.
pub(crate) const fn may_have_target<T>() -> bool {
    const WORD: usize = size_of::<usize>();
    let has_niche = size_of::<Option<T>>() == size_of::<T>();
    align_of::<T>() == WORD
        && (size_of::<T>() == 2 * WORD || has_niche && matches!(size_of::<T>() / WORD, 1 | 3))
}

/// The target of a value; `None` if it has none.
///
/// # Safety
/// `value` points to a valid value of the type with this id, which no code changes meanwhile.
#[inline]
pub(crate) unsafe fn target(id: IdOf, value: *const u8) -> Option<ValueTarget> {
    match found(id)? {
        // SAFETY: the caller promises a value of this type.
        FoundType::Known(known) => unsafe { (known.target)(value) },
        // SAFETY: the type is a pointer that is an address and nothing else.
        FoundType::Sized(size) => Some(ValueTarget::value(unsafe { value.cast::<*const u8>().read() }, size)),
    }
}

/// Remembers the size of a type for the pointers to it.
#[inline]
pub(crate) fn remember(pointers: PointersTo, size: usize) {
    if sized::remember(pointers, size) {
        // Some of them may have been asked for.
        #[cfg(target_has_atomic = "64")]
        ASKED.iter().for_each(|asked| asked.store(0, Relaxed));
    }
}

/// A type that was found by its id.
enum FoundType {
    Known(&'static KnownType),
    /// A pointer to values of this many bytes.
    Sized(usize),
}

/// What is remembered of a type that was asked for: 0 for none, the number of a known type from 1, or a size.
#[derive(Clone, Copy)]
struct Remembered(u16);

impl Remembered {
    /// Flag of a size. A larger one than the rest of the bits is as good as that.
    const SIZE: u16 = 0x8000;

    #[cold]
    #[inline(never)]
    fn of(id: IdOf) -> Remembered {
        let id = id();
        if let Some(index) = KNOWN.iter().position(|known| (known.id)() == id) {
            return Remembered(index as u16 + 1);
        }
        let size = sized::of_pointee(id);
        Remembered(size.map_or(0, |size| Remembered::SIZE | size.min(0x7FFF) as u16))
    }

    #[inline]
    fn found(self) -> Option<FoundType> {
        match self.0 & Remembered::SIZE {
            0 => KNOWN.get(usize::from(self.0).wrapping_sub(1)).map(FoundType::Known),
            _ => Some(FoundType::Sized(usize::from(self.0 & !Remembered::SIZE))),
        }
    }
}

#[cfg(target_has_atomic = "64")]
const TYPES: usize = 1024;
/// The types that were asked for: the address of a function that gives the id, and in the low 16 bits [`Remembered`].
#[cfg(target_has_atomic = "64")]
static ASKED: [AtomicU64; TYPES] = [const { AtomicU64::new(0) }; TYPES];

#[inline]
fn found(id: IdOf) -> Option<FoundType> {
    #[cfg(target_has_atomic = "64")]
    {
        let address = id as usize as u64;
        let key = address << 16;
        let asked = &ASKED[(address >> 4) as usize % TYPES];
        let known = asked.load(Relaxed);
        if known >> 16 << 16 == key && key >> 16 == address {
            return Remembered(known as u16).found();
        }
        let remembered = Remembered::of(id);
        asked.store(key | u64::from(remembered.0), Relaxed);
        remembered.found()
    }
    #[cfg(not(target_has_atomic = "64"))]
    Remembered::of(id).found()
}

/// Whether a value equals a text: a `bool`, a number, a `char` or a text. A value of another type equals none.
pub(crate) fn equals<T>(value: &T, text: &str) -> bool {
    let (id, value) = (id_of::<T>(), (&raw const *value).cast::<u8>());
    macro_rules! parsed {
        ($($kind:ident)*) => {
            // SAFETY: `value` is a valid value of the type with this id.
            $(if id == TypeId::of::<$kind>() { return text.parse() == Ok(unsafe { value.cast::<$kind>().read() }); })*
        };
    }
    parsed!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64 char bool);
    let target = match found(id_of::<T>) {
        // SAFETY: `value` is a valid value of the type with this id.
        Some(FoundType::Known(known)) if known.is_text => unsafe { (known.target)(value) },
        _ => None,
    };
    target.is_some_and(|target| {
        // SAFETY: the bytes are of a text that lives as long as its value.
        let bytes = unsafe { core::slice::from_raw_parts(target.from, target.bytes) };
        bytes == text.as_bytes()
    })
}
