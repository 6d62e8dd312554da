//! Targets of values: the text of a `&str`, the elements of a `Vec`, the number behind a `&u32`.
//!
//! In a generic function too, a type is known by its [`TypeId`]: an equal one is the same type, but for lifetimes. So no
//! name is compared, and a type of the program that is called `String` is another one. The types here have no code of the
//! program and nothing that changes behind a shared reference.

mod known;
mod pointee;

pub(crate) use pointee::copied;

use core::any::TypeId;
use core::marker::PhantomData;

use known::{KNOWN, KnownType};

/// The bytes of a target, and its number of elements.
#[derive(Clone, Copy)]
pub(crate) struct ValueTarget {
    pub(crate) from: *const u8,
    pub(crate) bytes: usize,
    pub(crate) elements: usize,
}

/// Gives the id of a type. Its address stands for the type where the id would take longer.
pub(crate) type IdOf = fn() -> TypeId;

/// The id of a type, with each lifetime in it as `'static`.
pub(crate) fn id_of<T>() -> TypeId {
    trait Identified {
        fn id(&self) -> TypeId
        where
            Self: 'static;
    }
    impl<T> Identified for PhantomData<T> {
        fn id(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<T>()
        }
    }
    let of: &dyn Identified = &PhantomData::<T>;
    // SAFETY: only the lifetime in the type changes. The function behind it reads nothing, and an id has no lifetimes.
    let of = unsafe { core::mem::transmute::<&dyn Identified, &(dyn Identified + 'static)>(of) };
    of.id()
}

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
    let known = known(id)?;
    // SAFETY: the caller promises a value of this type.
    unsafe { (known.target)(value) }
}

/// What is known of a type. Types that were asked for are remembered.
#[inline]
fn known(id: IdOf) -> Option<&'static KnownType> {
    #[cfg(target_has_atomic = "64")]
    {
        use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
        const TYPES: usize = 1024;
        /// The address of the function above, and behind it the number of a known type or 0.
        static ASKED: [AtomicU64; TYPES] = [const { AtomicU64::new(0) }; TYPES];
        let address = id as usize as u64;
        let key = address << 16;
        let asked = &ASKED[(address >> 4) as usize % TYPES];
        let found = asked.load(Relaxed);
        if found >> 16 << 16 == key && key >> 16 == address {
            return KNOWN.get((found as u16 as usize).wrapping_sub(1));
        }
        let number = number(id);
        asked.store(key | number as u64, Relaxed);
        KNOWN.get(number.wrapping_sub(1))
    }
    #[cfg(not(target_has_atomic = "64"))]
    KNOWN.get(number(id).wrapping_sub(1))
}

/// The number of a known type from 1, or 0.
#[cold]
fn number(id: IdOf) -> usize {
    let id = id();
    KNOWN.iter().position(|known| (known.id)() == id).map_or(0, |index| index + 1)
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
    let target = known(id_of::<T>).filter(|known| known.is_text).and_then(|known| unsafe { (known.target)(value) });
    target.is_some_and(|target| {
        // SAFETY: the bytes are of a text that lives as long as its value.
        let bytes = unsafe { core::slice::from_raw_parts(target.from, target.bytes) };
        bytes == text.as_bytes()
    })
}
