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
    align_of::<T>() == WORD && (size_of::<T>() == 2 * WORD || has_niche && matches!(size_of::<T>() / WORD, 1 | 3))
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

impl FoundType {
    /// The type with a number.
    #[inline]
    fn at(number: usize) -> Option<FoundType> {
        let index = number.checked_sub(1)?;
        match KNOWN.get(index) {
            Some(known) => Some(FoundType::Known(known)),
            None => sized::at(index.checked_sub(KNOWN.len())?).map(|of| FoundType::Sized(of.size)),
        }
    }
}

#[cfg(target_has_atomic = "64")]
const TYPES: usize = 1024;
/// The types that were asked for: the address of a function that gives the id, and behind it the number of the type or 0.
#[cfg(target_has_atomic = "64")]
static ASKED: [AtomicU64; TYPES] = [const { AtomicU64::new(0) }; TYPES];

#[inline]
fn found(id: IdOf) -> Option<FoundType> {
    #[cfg(target_has_atomic = "64")]
    {
        let address = id as usize as u64;
        let key = address << 16;
        let asked = &ASKED[(address >> 4) as usize % TYPES];
        let found = asked.load(Relaxed);
        if found >> 16 << 16 == key && key >> 16 == address {
            return FoundType::at(usize::from(found as u16));
        }
        let number = number(id);
        asked.store(key | number as u64, Relaxed);
        FoundType::at(number)
    }
    #[cfg(not(target_has_atomic = "64"))]
    FoundType::at(number(id))
}

/// The number of a type from 1, or 0: of the known ones first, then of those whose size is known.
#[cold]
#[inline(never)]
fn number(id: IdOf) -> usize {
    let id = id();
    let known = KNOWN.iter().position(|known| (known.id)() == id);
    known.or_else(|| Some(KNOWN.len() + sized::position(id)?)).map_or(0, |index| index + 1)
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
    // SAFETY: as above.
    let target = match found(id_of::<T>) {
        Some(FoundType::Known(known)) if known.is_text => unsafe { (known.target)(value) },
        _ => None,
    };
    target.is_some_and(|target| {
        // SAFETY: the bytes are of a text that lives as long as its value.
        let bytes = unsafe { core::slice::from_raw_parts(target.from, target.bytes) };
        bytes == text.as_bytes()
    })
}
