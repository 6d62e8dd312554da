//! The types whose values have known targets, and where these are.

use core::any::TypeId;
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
    /// It is of any type, so another thread may change a part of it.
    pub(crate) is_shared: bool,
}

impl ValueTarget {
    /// A value of any type.
    pub(crate) fn value(from: *const u8, bytes: usize) -> ValueTarget {
        ValueTarget { from, bytes, elements: 1, is_shared: true }
    }
}

/// What is known of a type.
pub(super) struct KnownType {
    pub(super) id: fn() -> TypeId,
    /// The target of a value of the type.
    ///
    /// # Safety
    /// The pointer is one to a valid value of the type, which no code changes meanwhile.
    pub(super) target: unsafe fn(*const u8) -> Option<ValueTarget>,
    /// The target is text in UTF-8.
    pub(super) is_text: bool,
}

impl KnownType {
    const fn of<T: HasTarget + 'static>() -> KnownType {
        unsafe fn target<T: HasTarget>(value: *const u8) -> Option<ValueTarget> {
            // SAFETY: the caller promises a value of this type.
            unsafe { &*value.cast::<T>() }.target()
        }
        KnownType { id: TypeId::of::<T>, target: target::<T>, is_text: T::IS_TEXT }
    }
}

/// What a pointer may lead to: plain bytes that do not change while it is shared.
trait TargetBytes {
    const IS_TEXT: bool = false;
    fn content(&self) -> ValueTarget;
}

/// A type whose values have a target.
trait HasTarget {
    const IS_TEXT: bool;
    fn target(&self) -> Option<ValueTarget>;
}

/// Types of which each part of the memory is a value, and that lead nowhere.
trait Scalar {}

impl<E: Scalar> TargetBytes for E {
    fn content(&self) -> ValueTarget {
        ValueTarget { from: (&raw const *self).cast(), bytes: size_of::<E>(), elements: 1, is_shared: false }
    }
}

impl<E: Scalar> TargetBytes for [E] {
    fn content(&self) -> ValueTarget {
        let (bytes, elements) = (size_of_val(self), self.len());
        ValueTarget { from: self.as_ptr().cast(), bytes, elements, is_shared: false }
    }
}

impl TargetBytes for str {
    const IS_TEXT: bool = true;
    fn content(&self) -> ValueTarget {
        self.as_bytes().content()
    }
}

macro_rules! contents {
    ($($type:ty, $is_text:literal, |$value:ident| $content:expr;)*) => {$(
        impl TargetBytes for $type {
            const IS_TEXT: bool = $is_text;
            fn content(&self) -> ValueTarget {
                let $value = self;
                $content.content()
            }
        }
        impl HasTarget for $type {
            const IS_TEXT: bool = $is_text;
            fn target(&self) -> Option<ValueTarget> {
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
    fn content(&self) -> ValueTarget {
        self.as_encoded_bytes().content()
    }
}

impl TargetBytes for Path {
    fn content(&self) -> ValueTarget {
        self.as_os_str().content()
    }
}

impl<E: Scalar> TargetBytes for Vec<E> {
    fn content(&self) -> ValueTarget {
        self.as_slice().content()
    }
}

impl<E: Scalar> HasTarget for Vec<E> {
    const IS_TEXT: bool = false;
    fn target(&self) -> Option<ValueTarget> {
        Some(self.content())
    }
}

macro_rules! pointers {
    ($($pointer:ty)*) => {$(
        impl<C: TargetBytes + ?Sized> HasTarget for $pointer {
            const IS_TEXT: bool = C::IS_TEXT;
            fn target(&self) -> Option<ValueTarget> {
                Some((**self).content())
            }
        }
    )*};
}

pointers!(&C &mut C Box<C> Rc<C> Arc<C>);

impl HasTarget for Cow<'_, str> {
    const IS_TEXT: bool = true;
    fn target(&self) -> Option<ValueTarget> {
        Some((**self).content())
    }
}

impl<T: HasTarget> HasTarget for Option<T> {
    // The text of `Some` is not all of the value.
    const IS_TEXT: bool = false;
    fn target(&self) -> Option<ValueTarget> {
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
    fn content(&self) -> ValueTarget {
        (**self).content()
    }
}
