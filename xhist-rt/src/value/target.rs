//! Targets of values: the text of a `&str`, the elements of a `Vec`, the number behind a `&u32`.
//!
//! In a generic function too, a type is known by its [`TypeId`]: an equal one is the same type, but for lifetimes. So no
//! name is compared, and a type of the program that is called `String` is another one. The types here have no code of the
//! program and nothing that changes behind a shared reference.

use core::any::TypeId;

use super::known::{KNOWN, KnownType};
use super::place::ValuePlace;
use super::sized::{self, PointersTo};
use super::type_cache;
use super::type_id::{IdOf, id_of};

/// Whether values of this type may have a target, as far as size and alignment show. A pointer is never null, so one word
/// that may have all values is a number.
pub(crate) const fn may_have_target<T>() -> bool {
    const WORD: usize = size_of::<usize>();
    let has_niche = size_of::<Option<T>>() == size_of::<T>();
    align_of::<T>() == WORD
        && (size_of::<T>() == 2 * WORD || has_niche && matches!(size_of::<T>() / WORD, 1 | 3))
}

/// What was found out about the type of a place.
#[derive(Clone, Copy)]
pub(crate) struct FoundType(u16);

impl FoundType {
    /// A type whose values have no target. The others are the number of a known type from 1, or [`Self::SIZE`] and a size.
    const NONE: FoundType = FoundType(0);
    /// Flag of a pointer to values of a size. A larger size than the rest of the bits is as good as that.
    const SIZE: u16 = 0x8000;

    /// The size of what the values of the type refer to, if they are an address and nothing else.
    #[inline(always)]
    pub(crate) fn size_of_pointee(self) -> Option<usize> {
        (self.0 & FoundType::SIZE != 0).then_some(usize::from(self.0 & !FoundType::SIZE))
    }

    /// The known type, if it is one.
    #[inline(always)]
    pub(crate) fn known(self) -> Option<&'static KnownType> {
        KNOWN.get(usize::from(self.0).wrapping_sub(1))
    }
}

/// What is remembered of the type of a place, where that is found at once. `None` says nothing.
#[inline(always)]
pub(crate) fn found_at_once(place: &ValuePlace) -> Option<FoundType> {
    type_cache::at_home(place.id as usize).map(FoundType)
}

/// What is remembered of the type of a place.
pub(crate) fn found(place: &ValuePlace) -> Option<FoundType> {
    let found = FoundType(type_cache::get(place.id as usize)?);
    // It was asked for where the source did not say that it is a reference.
    let is_new = found.0 == FoundType::NONE.0 && place.pointee_is_written();
    (!is_new).then_some(found)
}

/// Finds out about the type of a place, and remembers it.
///
/// # Safety
/// `value` points to a valid value of the type.
pub(crate) unsafe fn learn(place: &ValuePlace, value: *const u8) -> FoundType {
    // SAFETY: the caller promises a value.
    let pointee = place.pointee.as_ref().map(|pointee| (pointee.pointers, unsafe { (pointee.size)(value) }));
    if let Some((pointers, size)) = pointee {
        add(pointers, size);
    }
    look_up(place.id, pointee.map(|(_, size)| size))
}

/// Looks for a type, and remembers it. `size` is that of what its values refer to, if the source says so.
fn look_up(id: IdOf, size: Option<usize>) -> FoundType {
    let (address, id) = (id as usize, id());
    let known = KNOWN.iter().position(|known| (known.id)() == id);
    let size = || size.or_else(|| sized::of_pointee(id));
    let found = match known {
        Some(index) => FoundType(index as u16 + 1),
        None => size().map_or(FoundType::NONE, |size| FoundType(FoundType::SIZE | size.min(0x7FFF) as u16)),
    };
    type_cache::set(address, found.0);
    found
}

/// Whether the size of the values of this place is remembered for the pointers to them, as far as that is found at once.
#[inline(always)]
pub(crate) fn is_remembered(place: &ValuePlace) -> bool {
    place.pointers.is_none_or(|pointers| type_cache::at_home(pointers as usize).is_some())
}

/// Remembers the size of the values of this place for the pointers to them.
pub(crate) fn remember(place: &ValuePlace) {
    if let Some(pointers) = place.pointers
        && type_cache::get(pointers as usize).is_none()
    {
        add(pointers, place.size);
    }
}

fn add(pointers: PointersTo, size: usize) {
    type_cache::set(pointers as usize, FoundType::NONE.0 + 1);
    if sized::add(pointers, size) {
        // Some of its pointers may have been asked for.
        type_cache::forget(FoundType::NONE.0);
    }
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
    let found = type_cache::get(id_of::<T> as IdOf as usize).map(FoundType);
    let found = found.unwrap_or_else(|| look_up(id_of::<T>, None));
    let target = match found.known() {
        // SAFETY: `value` is a valid value of the type with this id.
        Some(known) if known.is_text => unsafe { known.target(value) },
        _ => None,
    };
    target.is_some_and(|target| {
        // SAFETY: the bytes are of a text that lives as long as its value.
        let bytes = unsafe { core::slice::from_raw_parts(target.from, target.bytes) };
        bytes == text.as_bytes()
    })
}
