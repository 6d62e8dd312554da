//! What the program has in its read-only data of a place where values are recorded. So a call passes two addresses,
//! which takes few instructions in code that is not optimised.

use qs_core::record::value::{MARK, MAX_BYTES, class_of, long_mark, mark};

use super::kept;
use super::sized::{PointersTo, pointers_to};
use super::type_id::{IdOf, id_of};
use super::types::of_type;
use crate::pointer::Pointer;

/// A place, and the type that its values have in one instance of the code.
pub(crate) struct ValuePlace {
    /// The mark of values with a length.
    pub(crate) mark: [u8; MARK],
    /// The mark of its values without a length; `None` if they have one.
    pub(crate) short_mark: Option<[u8; MARK]>,
    /// Number of own bytes that are recorded.
    pub(crate) own: usize,
    /// The function whose address is the type key, if the place has values of several types.
    pub(crate) of_type: Option<fn() -> &'static str>,
    pub(super) id: IdOf,
    pub(super) size: usize,
    /// The pointers that lead to such a value; `None` if their targets are not recorded, or small.
    pub(super) pointers: Option<PointersTo>,
    /// What the values refer to, if the source says so.
    pub(super) pointee: Option<Pointee>,
}

/// What the references of a place refer to.
pub(super) struct Pointee {
    pub(super) pointers: PointersTo,
    /// The size, of which the code at the place would not make a constant.
    ///
    /// # Safety
    /// The pointer is one to a valid reference of the place's type.
    pub(super) size: unsafe fn(*const u8) -> usize,
}

impl ValuePlace {
    pub(crate) const fn new<const NUMBER: u32, const MOST: usize, const IS_GENERIC: bool, T>() -> ValuePlace {
        let own = kept::<T>(MOST);
        ValuePlace {
            mark: long_mark(NUMBER),
            short_mark: if own > 8 || IS_GENERIC { None } else { Some(mark(NUMBER, class_of(own))) },
            own,
            of_type: if IS_GENERIC { Some(of_type::<T>) } else { None },
            id: id_of::<T>,
            size: size_of::<T>(),
            pointers: if MOST == MAX_BYTES && own > 8 { Some(pointers_to::<T>) } else { None },
            pointee: None,
        }
    }

    /// Whether the source says that the values are references of one word.
    #[inline(always)]
    pub(crate) const fn pointee_is_written(&self) -> bool {
        self.pointee.is_some()
    }

    /// A place of references of one word.
    pub(crate) const fn of_references<
        const NUMBER: u32,
        const MOST: usize,
        const IS_GENERIC: bool,
        T: Pointer,
    >() -> ValuePlace {
        unsafe fn size<T: Pointer>(value: *const u8) -> usize {
            // SAFETY: the caller promises a reference of this type.
            unsafe { &*value.cast::<T>() }.size_of_pointee()
        }
        ValuePlace {
            pointee: Some(Pointee { pointers: pointers_to::<T::Pointee>, size: size::<T> }),
            ..ValuePlace::new::<NUMBER, MOST, IS_GENERIC, T>()
        }
    }
}
