//! The id of a type, also of one with lifetimes.

use core::any::TypeId;
use core::marker::PhantomData;

/// Gives the id of a type. Its address is compared first, because that is faster.
pub(super) type IdOf = fn() -> TypeId;

/// The id of a type, with each lifetime in it as `'static`.
pub(super) fn id_of<T>() -> TypeId {
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
