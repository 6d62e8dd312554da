//! Targets of values: the text of a `&str`, the elements of a slice or a `Vec`. A type is known by its name, which is
//! unique for the types here.

use std::any::type_name;

/// The bytes of a target, and its number of elements.
#[derive(Clone, Copy)]
pub(crate) struct ValueTarget {
    pub(crate) from: *const u8,
    pub(crate) bytes: usize,
    pub(crate) elements: usize,
}

impl ValueTarget {
    fn of<E>(from: *const E, elements: usize) -> Option<ValueTarget> {
        Some(ValueTarget { from: from.cast(), bytes: elements * size_of::<E>(), elements })
    }

    fn of_slice<E>(slice: *const [E]) -> Option<ValueTarget> {
        ValueTarget::of(slice.cast::<E>(), slice.len())
    }
}

/// Whether values of this type may have a target, as far as their size shows.
pub(crate) const fn may_have_target<T>() -> bool {
    matches!(size_of::<T>(), size if size == size_of::<&str>() || size == size_of::<String>())
}

/// The target of a value whose type has this name. `None` if such values have no target.
///
/// # Safety
/// `value` points to a valid value of a type with this name, which no code changes meanwhile.
#[inline(never)]
pub(crate) unsafe fn target(name: &str, value: *const u8) -> Option<ValueTarget> {
    macro_rules! elements {
        ($($element:ident)*) => {
            // SAFETY: the caller promises a value of the type with this name. A raw pointer takes no right from a `&mut`.
            unsafe {
                match name {
                    "&str" | "&mut str" => ValueTarget::of_slice(value.cast::<*const [u8]>().read()),
                    "alloc::string::String" => {
                        let text = &*value.cast::<String>();
                        ValueTarget::of(text.as_ptr(), text.len())
                    }
                    _ => None$(.or_else(|| elements::<$element>(name, stringify!($element), value)))*,
                }
            }
        };
    }
    elements!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64 char bool)
}

/// [`target`] of a slice or a `Vec` of elements with this name.
///
/// # Safety
/// As for [`target`]; `element` is the name of `E`.
unsafe fn elements<E>(name: &str, element: &str, value: *const u8) -> Option<ValueTarget> {
    // SAFETY: the caller promises a value of the type with this name.
    unsafe {
        if is(name, "&[", element, "]") || is(name, "&mut [", element, "]") {
            return ValueTarget::of_slice(value.cast::<*const [E]>().read());
        }
        is(name, "alloc::vec::Vec<", element, ">").then_some(())?;
        let elements = &*value.cast::<Vec<E>>();
        ValueTarget::of(elements.as_ptr(), elements.len())
    }
}

/// Whether a name has these three parts.
fn is(name: &str, start: &str, element: &str, end: &str) -> bool {
    name.strip_prefix(start).and_then(|rest| rest.strip_suffix(end)) == Some(element)
}

/// Whether a value equals a text: a `bool`, a number, a `char` or a text. A value of another type equals none.
pub(crate) fn equals<T>(value: &T, text: &str) -> bool {
    let name = type_name::<T>();
    let value = (&raw const *value).cast::<u8>();
    macro_rules! parsed {
        ($($kind:ident)*) => {
            match name {
                // SAFETY: `value` is a valid value of the type with this name.
                $(stringify!($kind) => text.parse() == Ok(unsafe { value.cast::<$kind>().read() }),)*
                // SAFETY: as above.
                _ => unsafe { target(name, value) }.is_some_and(|target| {
                    let is_text = matches!(name, "&str" | "&mut str" | "alloc::string::String");
                    // SAFETY: `target` gives the bytes of a text that lives as long as its value.
                    let bytes = unsafe { core::slice::from_raw_parts(target.from, target.bytes) };
                    is_text && bytes == text.as_bytes()
                }),
            }
        };
    }
    parsed!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64 char bool)
}
