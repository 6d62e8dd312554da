//! The types whose values have known targets, and where these are.

use core::any::TypeId;
use core::mem::MaybeUninit;
use std::borrow::Cow;
use std::boxed::Box;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::string::String;
use std::sync::Arc;
use std::vec::Vec;

/// The bytes of a target, and its number of elements.
#[derive(Clone, Copy)]
pub(crate) struct ValueTarget {
    pub(crate) from: *const u8,
    pub(crate) bytes: usize,
    pub(crate) elements: usize,
}

/// What is known of a type.
pub(crate) struct KnownType {
    pub(super) id: fn() -> TypeId,
    /// The first element of the target of a value, null for none, and the number of elements.
    ///
    /// # Safety
    /// The pointer is one to a valid value of the type, which no code changes meanwhile.
    elements: unsafe fn(*const u8) -> Elements,
    /// Bytes of an element.
    size: usize,
    /// A value is the address of the first element, and the number of elements.
    pub(crate) is_wide: bool,
    /// The target is text in UTF-8.
    pub(super) is_text: bool,
}

impl KnownType {
    const fn of<T: HasTarget + 'static>() -> KnownType {
        unsafe fn elements<T: HasTarget>(value: *const u8) -> Elements {
            // SAFETY: the caller promises a value of this type.
            unsafe { &*value.cast::<T>() }.target().unwrap_or((core::ptr::null(), 0))
        }
        KnownType {
            id: TypeId::of::<T>,
            elements: elements::<T>,
            size: T::ELEMENT,
            is_wide: T::IS_WIDE,
            is_text: T::IS_TEXT,
        }
    }

    /// The target of a value whose type [is wide](KnownType::is_wide).
    ///
    /// # Safety
    /// The pointer is one to a valid value of such a type, which no code changes meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn wide_target(&self, value: *const u8) -> ValueTarget {
        // SAFETY: the caller promises a value of this type.
        let WideReference { from, elements } = unsafe { value.cast::<WideReference>().read() };
        ValueTarget { from, bytes: elements.wrapping_mul(self.size), elements }
    }

    /// The target of a value.
    ///
    /// # Safety
    /// The pointer is one to a valid value of the type, which no code changes meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn target(&self, value: *const u8) -> Option<ValueTarget> {
        // SAFETY: the caller promises a value of this type.
        let (from, elements) = unsafe { (self.elements)(value) };
        let bytes = elements.wrapping_mul(self.size);
        (!from.is_null()).then_some(ValueTarget { from, bytes, elements })
    }
}

/// The first element of a target, and the number of elements.
type Elements = (*const u8, usize);

/// A reference to a slice or a text, as it is in memory.
#[repr(C)]
struct WideReference {
    from: *const u8,
    elements: usize,
}

const _: () = {
    let list: &[u8] = &[1, 2, 3];
    // SAFETY: a reference to a slice has two words. The compiler stops here if the second one is not the length.
    let words = unsafe { core::mem::transmute::<&[u8], [MaybeUninit<usize>; 2]>(list) };
    // SAFETY: it was a part of a reference.
    assert!(unsafe { words[1].assume_init() } == 3);
};

/// What a pointer may lead to: plain bytes that do not change while it is shared.
trait TargetBytes {
    const IS_TEXT: bool = false;
    /// Bytes of an element.
    const ELEMENT: usize = 1;
    /// A reference to it is the address of the first element, and the number of elements.
    const IS_WIDE: bool = false;
    fn content(&self) -> Elements;
}

/// A type whose values have a target.
trait HasTarget {
    const IS_TEXT: bool;
    const ELEMENT: usize;
    const IS_WIDE: bool = false;
    fn target(&self) -> Option<Elements>;
}

/// Types of which each part of the memory is a value, and that lead nowhere.
trait Scalar {}

impl<E: Scalar> TargetBytes for E {
    const ELEMENT: usize = size_of::<E>();
    fn content(&self) -> Elements {
        ((&raw const *self).cast(), 1)
    }
}

impl<E: Scalar> TargetBytes for [E] {
    const IS_WIDE: bool = true;
    const ELEMENT: usize = size_of::<E>();
    fn content(&self) -> Elements {
        (self.as_ptr().cast(), self.len())
    }
}

impl TargetBytes for str {
    const IS_WIDE: bool = true;
    const IS_TEXT: bool = true;
    fn content(&self) -> Elements {
        self.as_bytes().content()
    }
}

macro_rules! contents {
    ($($type:ty, $is_text:literal, |$value:ident| $content:expr;)*) => {$(
        impl TargetBytes for $type {
            const IS_TEXT: bool = $is_text;
            fn content(&self) -> Elements {
                let $value = self;
                $content.content()
            }
        }
        impl HasTarget for $type {
            const IS_TEXT: bool = $is_text;
            const ELEMENT: usize = 1;
            fn target(&self) -> Option<Elements> {
                Some(self.content())
            }
        }
    )*};
}

contents!(
    String, true, |text| text.as_str();
    OsString, false, |text| text.as_encoded_bytes();
    PathBuf, false, |path| path.as_os_str();
);

impl TargetBytes for OsStr {
    fn content(&self) -> Elements {
        self.as_encoded_bytes().content()
    }
}

impl TargetBytes for Path {
    fn content(&self) -> Elements {
        self.as_os_str().content()
    }
}

impl<E: Scalar> TargetBytes for Vec<E> {
    const ELEMENT: usize = size_of::<E>();
    fn content(&self) -> Elements {
        self.as_slice().content()
    }
}

impl<E: Scalar> HasTarget for Vec<E> {
    const IS_TEXT: bool = false;
    const ELEMENT: usize = size_of::<E>();
    fn target(&self) -> Option<Elements> {
        Some(self.content())
    }
}

macro_rules! pointers {
    ($($pointer:ty, $is_reference:literal;)*) => {$(
        impl<C: TargetBytes + ?Sized> HasTarget for $pointer {
            const IS_TEXT: bool = C::IS_TEXT;
            const ELEMENT: usize = C::ELEMENT;
            const IS_WIDE: bool = C::IS_WIDE && $is_reference;
            fn target(&self) -> Option<Elements> {
                Some((**self).content())
            }
        }
    )*};
}

pointers!(&C, true; &mut C, true; Box<C>, true; Rc<C>, false; Arc<C>, false;);

impl HasTarget for Cow<'_, str> {
    const IS_TEXT: bool = true;
    const ELEMENT: usize = 1;
    fn target(&self) -> Option<Elements> {
        Some((**self).content())
    }
}

impl<T: HasTarget> HasTarget for Option<T> {
    // The text of `Some` is not all of the value.
    const IS_TEXT: bool = false;
    const ELEMENT: usize = T::ELEMENT;
    fn target(&self) -> Option<Elements> {
        self.as_ref()?.target()
    }
}

macro_rules! known {
    ($($scalar:ident)*) => {
        $(impl Scalar for $scalar {})*

        /// The types, the usual ones first.
        pub(super) static KNOWN: &[KnownType] = known!(@ [
            [&'static str] [String] [&'static String] [&'static mut String] [&'static &'static str]
            [Option<&'static str>] [Option<String>] [Option<&'static String>] [Cow<'static, str>]
            [&'static mut str] [Box<str>] [Rc<str>] [Arc<str>] [Box<String>] [Rc<String>] [Arc<String>] [Option<Box<str>>]
            [&'static Path] [PathBuf] [&'static PathBuf] [&'static mut PathBuf] [Option<&'static Path>] [Option<PathBuf>]
            [&'static OsStr] [OsString] [&'static OsString] [Option<&'static OsStr>] [Option<OsString>]
            $(
                [&'static $scalar] [&'static mut $scalar] [Box<$scalar>] [Rc<$scalar>] [Arc<$scalar>]
                [&'static [$scalar]] [&'static mut [$scalar]] [Vec<$scalar>] [&'static Vec<$scalar>]
                [&'static mut Vec<$scalar>] [Box<[$scalar]>] [Rc<[$scalar]>] [Arc<[$scalar]>]
                [Option<&'static [$scalar]>] [Option<Vec<$scalar>>]
            )*
        ]);
    };
    (@ [$([$($type:tt)*])*]) => { &[$(KnownType::of::<$($type)*>()),*] };
}

known!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64 char bool);

/// A reference to a text that is a reference.
impl TargetBytes for &'static str {
    const IS_TEXT: bool = true;
    fn content(&self) -> Elements {
        (**self).content()
    }
}
