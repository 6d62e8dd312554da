//! Pointers that always lead to a value.

/// Such a pointer. The rewriter knows one by the text of its type, so no call of this has another type.
#[doc(hidden)]
pub trait Pointer {
    /// Where the value is, if the pointer has one word.
    #[doc(hidden)]
    fn pointee(&self) -> Option<Pointee>;
}

/// A value in memory.
#[doc(hidden)]
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "the hosted recorder reads it")]
pub struct Pointee {
    pub(crate) from: *const u8,
    pub(crate) size: usize,
}

macro_rules! pointers {
    ($($pointer:ty)*) => {$(
        impl<U: ?Sized> Pointer for $pointer {
            #[inline(always)]
            fn pointee(&self) -> Option<Pointee> {
                if const { size_of::<&U>() == size_of::<usize>() } {
                    Some(Pointee { from: (&raw const **self).cast(), size: size_of_val(&**self) })
                } else {
                    None
                }
            }
        }
    )*};
}

pointers!(&U &mut U);
