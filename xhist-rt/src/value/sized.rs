//! Sizes of the program's own types. A pointer alone does not say how large its target is. But where a value of a type is
//! recorded, or a reference of which the source says that it is one, that is known, and from then on for each pointer to
//! that type.

use core::any::TypeId;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::boxed::Box;
use std::sync::OnceLock;

use super::type_id::id_of;

/// Gives the ids of the pointers to a type that are the address of its value and nothing else.
pub(super) type PointersTo = fn() -> [TypeId; 3];

/// A type, and the bytes of its values.
struct SizedType {
    pointers: PointersTo,
    size: usize,
}

/// Types that are remembered.
const TYPES: usize = 1024;
static SIZED: [OnceLock<SizedType>; TYPES] = [const { OnceLock::new() }; TYPES];
/// Number of places that threads have taken.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

pub(super) fn pointers_to<T: ?Sized>() -> [TypeId; 3] {
    [id_of::<&T>(), id_of::<&mut T>(), id_of::<Box<T>>()]
}

/// Adds the size of a type. Returns whether it was not known.
pub(super) fn add(pointers: PointersTo, size: usize) -> bool {
    if of_pointee(pointers()[0]).is_some() {
        return false;
    }
    // No other thread, and no signal handler, gets the same place, so none waits. Two that come at once add a type twice.
    let place = SIZED.get(TAKEN.fetch_add(1, Relaxed));
    place.is_some_and(|place| place.set(SizedType { pointers, size }).is_ok())
}

/// The size of what a pointer with this id leads to.
pub(super) fn of_pointee(id: TypeId) -> Option<usize> {
    let taken = SIZED.iter().take(TAKEN.load(Relaxed)).filter_map(OnceLock::get);
    taken.filter(|known| (known.pointers)().contains(&id)).map(|known| known.size).next()
}
