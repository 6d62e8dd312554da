//! What was found out about types, by the address of a function that each type has of its own.

#[cfg(target_has_atomic = "64")]
pub(super) use kept::{at_home, forget, get, set};
#[cfg(not(target_has_atomic = "64"))]
pub(super) use not_kept::{at_home, forget, get, set};

#[cfg(target_has_atomic = "64")]
mod kept {
    use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// Types that are remembered. A type that shares its place with others takes a free one of the same cache line.
    pub const PLACES: usize = 4096;
    pub const IN_A_LINE: usize = 8;

    #[repr(align(64))]
    struct Places([AtomicU64; PLACES]);

    /// The address, and in the low 16 bits what is remembered.
    static TYPES: Places = Places([const { AtomicU64::new(0) }; PLACES]);

    /// Where the type with this function is looked for first.
    #[inline(always)]
    fn home(address: usize) -> usize {
        (address >> 4) % PLACES
    }

    /// What is remembered of the type with this function, if it is at home.
    #[inline(always)]
    pub fn at_home(address: usize) -> Option<u16> {
        let known = TYPES.0[home(address)].load(Relaxed);
        (known >> 16 == address as u64).then_some(known as u16)
    }

    /// What is remembered of the type with this function.
    pub fn get(address: usize) -> Option<u16> {
        let known = (0..IN_A_LINE).map(|step| TYPES.0[home(address) ^ step].load(Relaxed));
        known.filter(|known| known >> 16 == address as u64).map(|known| known as u16).next()
    }

    /// Remembers this of the type with this function. Where its line is full, the type at home is forgotten.
    pub fn set(address: usize, known: u16) {
        let entry = (address as u64) << 16 | u64::from(known);
        if entry >> 16 != address as u64 {
            return;
        }
        let places = || (0..IN_A_LINE).map(|step| &TYPES.0[home(address) ^ step]);
        let is_its = |place: &&AtomicU64| place.load(Relaxed) >> 16 == address as u64;
        let is_free = |place: &&AtomicU64| place.load(Relaxed) == 0;
        let place = places().find(is_its).or_else(|| places().find(is_free));
        place.unwrap_or(&TYPES.0[home(address)]).store(entry, Relaxed);
    }

    /// Forgets the types of which this is remembered.
    pub fn forget(known: u16) {
        for place in &TYPES.0 {
            let entry = place.load(Relaxed);
            if entry != 0 && entry as u16 == known {
                place.store(0, Relaxed);
            }
        }
    }
}

/// Without 64-bit atomics no type is remembered.
#[cfg(not(target_has_atomic = "64"))]
mod not_kept {
    #[inline(always)]
    pub fn at_home(_address: usize) -> Option<u16> {
        None
    }

    pub fn get(_address: usize) -> Option<u16> {
        None
    }

    pub fn set(_address: usize, _known: u16) {}

    pub fn forget(_known: u16) {}
}

#[cfg(all(test, target_has_atomic = "64"))]
mod tests {
    use super::kept::{IN_A_LINE, PLACES};
    use super::*;

    #[test]
    fn types_that_share_a_place_are_remembered_side_by_side() {
        // No function has such an address, so no other test uses these.
        let address = |number: usize| (1 << 40) + 16 * PLACES * number;
        for number in 0..IN_A_LINE {
            set(address(number), number as u16 + 1);
        }
        for number in 0..IN_A_LINE {
            assert_eq!(get(address(number)), Some(number as u16 + 1), "{number}");
        }
        assert_eq!((at_home(address(0)), at_home(address(1))), (Some(1), None));
        set(address(3), 77);
        assert_eq!((get(address(3)), get(address(2))), (Some(77), Some(3)));
        // One more than the line has room for.
        set(address(IN_A_LINE), 99);
        assert_eq!(get(address(IN_A_LINE)), Some(99));
        forget(77);
        assert_eq!((get(address(3)), get(address(2))), (None, Some(3)));
        assert_eq!(get(usize::MAX), None);
        set(usize::MAX, 1);
        assert_eq!(get(usize::MAX), None);
    }
}
