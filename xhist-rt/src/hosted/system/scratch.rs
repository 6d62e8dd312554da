//! Scratch memory: where words go that are only counted.

use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, Ordering};

use qs_core::record::value;
use qs_core::record::words::{UNIT, word_len};

use crate::hosted::system::mirror::{ROOM, Region, SCRATCHES, map_with_room};
use crate::hosted::system::shared_state::Published;
use crate::hosted::system::sys;

/// Bytes of a scratch region. Its mirror has the same size. Threads that find all regions taken share one.
const SCRATCH: usize = 64 << 10;
/// Bytes that a thread writes in scratch memory before it starts over. They are few, so that they stay in the cache.
const SCRATCH_ROUND: usize = 4 << 10;

/// Memory for words that are only counted: where they are written, and where they start over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScratchRange {
    pub(crate) cursor: *mut u8,
    pub(crate) limit: *mut u8,
}

/// ScratchRange memory before any other exists, and where the system has none. It has no guard.
#[repr(align(4096))]
struct Fallback(UnsafeCell<[u8; 2 * SCRATCH]>);

// SAFETY: threads write words there through raw pointers, and the code that counts them accepts any bytes.
unsafe impl Sync for Fallback {}

static FALLBACK: Fallback = Fallback(UnsafeCell::new([0; 2 * SCRATCH]));

/// ScratchRange regions in use, one bit each.
static TAKEN: AtomicU64 = AtomicU64::new(0);
static SCRATCH_PLACES: [Published<u8>; SCRATCHES] = [const { Published::null() }; SCRATCHES];

impl ScratchRange {
    fn at(start: *mut u8) -> ScratchRange {
        ScratchRange { cursor: start, limit: start.wrapping_add(SCRATCH_ROUND) }
    }

    /// ScratchRange memory that exists before any call, for the first words of a thread.
    pub(crate) fn fallback() -> ScratchRange {
        ScratchRange::at(FALLBACK.0.get().cast())
    }
}

/// ScratchRange memory for the calling thread. It is the thread's own while few threads need some.
pub(crate) fn scratch() -> ScratchRange {
    let taken =
        TAKEN.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |taken| Some(taken | taken.checked_add(1)?));
    let number = match taken {
        Ok(before) => before.trailing_ones() as usize,
        Err(_) => sys::tid() as usize % SCRATCHES,
    };
    let known = SCRATCH_PLACES[number].get();
    if !known.is_null() {
        return ScratchRange::at(known);
    }
    let Some(region) = map_with_room(SCRATCH, 0, ROOM / 4) else {
        give_back_number(number);
        return ScratchRange::fallback();
    };
    first_scratch(number, region)
}

/// Makes this region the scratch memory of that number. If a thread that shares the number was faster, both use its
/// region, because words elsewhere would not be counted.
fn first_scratch(number: usize, region: Region) -> ScratchRange {
    SCRATCH_PLACES[number].publish_after(null_mut(), region.data(), || {});
    ScratchRange::at(SCRATCH_PLACES[number].get())
}

/// The same scratch memory from its beginning; `None` if the cursor is elsewhere.
pub(crate) fn scratch_again(cursor: *mut u8) -> Option<ScratchRange> {
    scratch_number(cursor).map(|number| ScratchRange::at(SCRATCH_PLACES[number].get()))
}

/// Makes the scratch memory free for another thread.
pub(crate) fn give_back_scratch(cursor: *mut u8) {
    if let Some(number) = scratch_number(cursor) {
        give_back_number(number);
    }
}

fn give_back_number(number: usize) {
    TAKEN.fetch_and(!(1 << number), Ordering::AcqRel);
}

/// Number of words other than values that a thread has written in scratch memory, up to its cursor there. Overwritten words count as
/// long ones, so the thread may have written more.
pub(crate) fn words_in_scratch(cursor: *mut u8) -> u32 {
    let start = match scratch_number(cursor) {
        Some(number) => SCRATCH_PLACES[number].get().addr(),
        None if is_in_fallback(cursor) => FALLBACK.0.get().addr(),
        None => return 0,
    };
    let len = cursor.addr() - start;
    let left = len.min(SCRATCH);
    let (mut words, mut at) = ((len - left) / (2 * UNIT), 0);
    while at < left {
        // SAFETY: the thread has written these bytes. Another thread may write them now, which a volatile read
        // allows.
        let byte = |index: usize| unsafe { cursor.wrapping_sub(left - at - index).read_volatile() };
        let is_value = value::is_mark(byte(0));
        let known = if is_value { left - at } else { 1 };
        let start: [u8; 6] = core::array::from_fn(|index| if index < known { byte(index) } else { 0 });
        at += word_len(&start).unwrap_or(UNIT);
        words += usize::from(!is_value);
    }
    words as u32
}

fn is_in_fallback(cursor: *mut u8) -> bool {
    let start = FALLBACK.0.get().addr();
    (start..start + 2 * SCRATCH).contains(&cursor.addr())
}

fn scratch_number(cursor: *mut u8) -> Option<usize> {
    let place = Region::of(cursor)?.data();
    SCRATCH_PLACES.iter().position(|known| known.get() == place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(at: *mut u8, byte: u8) {
        // SAFETY: tests pass addresses in regions.
        unsafe { at.write_volatile(byte) };
    }

    /// More threads are not recorded than there is scratch memory, and two of them come at once.
    #[test]
    fn threads_that_share_a_number_share_its_memory() {
        let last = SCRATCHES - 1;
        let [first, second] =
            [(); 2].map(|()| first_scratch(last, map_with_room(SCRATCH, 0, ROOM / 4).expect("memory")));
        assert_eq!(first, second);
        assert_eq!(scratch_again(first.cursor), Some(first), "its words are counted");
    }

    #[test]
    fn threads_without_a_ring_share_no_scratch_memory() {
        let (one, two) = (scratch(), scratch());
        assert_ne!(one.cursor, two.cursor);
        let far = one.cursor.wrapping_add(SCRATCH + 5);
        write(far, 1);
        assert_eq!(scratch_again(far), Some(one));
        // The process may have some regions already.
        assert_eq!(scratch_again(ScratchRange::fallback().limit), None);
        assert_eq!(scratch_again((&raw const TAKEN).cast_mut().cast()), None);
        give_back_scratch(far);
        give_back_scratch(two.cursor);
    }

    #[test]
    fn words_in_scratch_memory_are_counted() {
        let ScratchRange { cursor, .. } = scratch();
        assert_eq!((words_in_scratch(cursor), words_in_scratch(null_mut())), (0, 0));
        // Three short words, a long one, a short one.
        let bytes = [1, 2, 3, 4, 5, 6, 250, 1, 255, 255, 1, 1];
        bytes.iter().enumerate().for_each(|(at, byte)| write(cursor.wrapping_add(at), *byte));
        assert_eq!(words_in_scratch(cursor.wrapping_add(bytes.len())), 5);
        // After a lap around the whole memory, only the room of the first hundred words is known.
        (0..SCRATCH).for_each(|at| write(cursor.wrapping_add(at), 250));
        (SCRATCH..SCRATCH + 400).for_each(|at| write(cursor.wrapping_add(at), 5));
        let left = (SCRATCH as u32 - 400) / 4 + 200;
        assert_eq!(words_in_scratch(cursor.wrapping_add(SCRATCH + 400)), 100 + left);
        give_back_scratch(cursor);
    }
}
