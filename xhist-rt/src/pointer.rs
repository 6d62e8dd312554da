//! References, whatever they refer to.

/// A reference. The rewriter knows one by the text of the source, so no call of this has another type.
#[doc(hidden)]
pub trait Pointer {
    /// What it refers to.
    type Pointee: ?Sized;

    /// The size of that.
    #[doc(hidden)]
    fn size_of_pointee(&self) -> usize;
}

macro_rules! references {
    ($($reference:ty)*) => {$(
        impl<U: ?Sized> Pointer for $reference {
            type Pointee = U;

            #[inline]
            fn size_of_pointee(&self) -> usize {
                size_of_val(&**self)
            }
        }
    )*};
}

references!(&U &mut U);
