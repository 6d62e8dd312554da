//! References, whatever they refer to.

/// A reference. The rewriter knows one by the text of the source, so no call of this has another type.
#[doc(hidden)]
pub trait Pointer {
    /// What it refers to.
    type Pointee: ?Sized;

    /// The size of that, if the reference has one word.
    #[doc(hidden)]
    fn size_of_pointee(&self) -> Option<usize>;
}

macro_rules! references {
    ($($reference:ty)*) => {$(
        impl<U: ?Sized> Pointer for $reference {
            type Pointee = U;

            #[inline(always)]
            fn size_of_pointee(&self) -> Option<usize> {
                if const { size_of::<&U>() == size_of::<usize>() } { Some(size_of_val(&**self)) } else { None }
            }
        }
    )*};
}

references!(&U &mut U);
