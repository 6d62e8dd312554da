//! The executed bitmap: one bit per statement that ever ran, which outlives the ring. Roll-overs fill it, so a
//! statement pays nothing for it; the words since the last roll-over are in the ring.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use qs_core::record::Statement;
use qs_core::record::packed::Page;
use qs_core::ring::executed::{
    HEADER_LEN, LOST_AT, MAGIC, MAP_HASH_AT, PROBES, SLOT_LEN, bit, header, key, slot,
};

/// A bitmap that all threads write.
#[derive(Clone, Copy)]
pub(crate) struct ExecutedBitmap {
    memory: *mut u8,
    slots: u32,
}

// SAFETY: behind the header there are only atomic words.
unsafe impl Sync for ExecutedBitmap {}
// SAFETY: behind the header there are only atomic words.
unsafe impl Send for ExecutedBitmap {}

impl ExecutedBitmap {
    /// Bytes of a bitmap with this number of slots.
    pub(crate) const fn len(slots: u32) -> usize {
        HEADER_LEN + slots as usize * SLOT_LEN
    }

    /// Lays out an empty bitmap. The count of lost statements is zero already, and stays as it is: another thread may
    /// have laid out the same bytes of a file, and counts there.
    ///
    /// # Safety
    /// `memory` holds [`ExecutedBitmap::len`] zero bytes, is aligned to 16, and stays valid; `slots` is a power of two.
    pub(crate) unsafe fn new(memory: *mut u8, slots: u32, map_hash: u64, pid: u32) -> ExecutedBitmap {
        const REST: usize = LOST_AT + size_of::<u32>();
        let bytes = header(slots, map_hash, pid);
        // SAFETY: the header lies inside the memory.
        unsafe {
            memory.copy_from_nonoverlapping(bytes.as_ptr(), LOST_AT);
            memory.add(REST).copy_from_nonoverlapping(bytes[REST..].as_ptr(), HEADER_LEN - REST);
        }
        ExecutedBitmap { memory, slots }
    }

    /// Lays out the header again if it is not there, because the ring file was emptied.
    pub(crate) fn lay_out_again(&self, map_hash: u64, pid: u32) {
        // SAFETY: the memory holds a bitmap with this number of slots. Threads that come at once write equal bytes. If
        // another process has left anything but zeros there, bits that other threads set meanwhile may be lost.
        unsafe {
            let magic = self.memory.cast::<[u8; MAGIC.len()]>().read_volatile();
            if magic != MAGIC && magic != [0; MAGIC.len()] {
                self.memory.write_bytes(0, ExecutedBitmap::len(self.slots));
            }
            if magic != MAGIC {
                ExecutedBitmap::new(self.memory, self.slots, map_hash, pid);
            }
        }
    }

    /// The bitmap that was laid out there.
    ///
    /// # Safety
    /// `memory` is that of an [`ExecutedBitmap::new`] with the same number of slots.
    pub(crate) const unsafe fn at(memory: *mut u8, slots: u32) -> ExecutedBitmap {
        ExecutedBitmap { memory, slots }
    }

    /// Which map the program was instrumented with.
    pub(crate) fn set_map_hash(&self, hash: u64) {
        // SAFETY: the word lies inside the header, and only readers of the image look at it.
        unsafe { self.memory.add(MAP_HASH_AT).cast::<u64>().write_volatile(hash) };
    }

    /// Moves the slots in use to the front. Returns their number, and the number of lost statements.
    ///
    /// No thread may note statements from here on.
    pub(crate) fn compact(&self) -> (u32, u32) {
        let slots = self.memory.wrapping_add(HEADER_LEN).cast::<[u32; 4]>();
        let mut used = 0;
        for index in 0..self.slots as usize {
            // SAFETY: the index lies inside the slots, which are four words each, and no other thread uses them.
            unsafe {
                let slot = slots.add(index).read();
                if slot[0] != 0 {
                    slots.add(used).write(slot);
                    used += 1;
                }
            }
        }
        // SAFETY: the word lies inside the header.
        let lost = unsafe { self.memory.add(LOST_AT).cast::<u32>().read() };
        (used as u32, lost)
    }

    /// Notes these statements.
    pub(crate) fn note_all(&self, statements: impl Iterator<Item = Statement>) {
        // Most statements are on the page of the previous one.
        let mut known: (u32, Option<&[AtomicU32; 4]>) = (0, None);
        for statement in statements {
            let key = key(Page::of(statement));
            if known.0 != key {
                known = (key, self.slot(key));
            }
            self.set(known.1, statement);
        }
    }

    fn set(&self, slot: Option<&[AtomicU32; 4]>, statement: Statement) {
        let Some([_, bits @ ..]) = slot else {
            // SAFETY: the word lies inside the header.
            let lost = unsafe { AtomicU32::from_ptr(self.memory.add(LOST_AT).cast()) };
            lost.fetch_add(1, Relaxed);
            return;
        };
        let (word, mask) = bit(statement.line);
        // Once it is set, threads share the line without writing it.
        if bits[word].load(Relaxed) & mask == 0 {
            bits[word].fetch_or(mask, Relaxed);
        }
    }

    /// The slot of a page, claimed if need be.
    fn slot(&self, key: u32) -> Option<&[AtomicU32; 4]> {
        let start = slot(key, self.slots);
        (0..PROBES.min(self.slots)).find_map(|probe| {
            let index = (start + probe) & (self.slots - 1);
            // SAFETY: a masked index lies inside the slots, which are four words each.
            let slot =
                unsafe { &*self.memory.add(HEADER_LEN + index as usize * SLOT_LEN).cast::<[AtomicU32; 4]>() };
            let found = slot[0].load(Relaxed);
            let is_ours = found == key
                || found == 0
                    && slot[0]
                        .compare_exchange(0, key, Relaxed, Relaxed)
                        .map_or_else(|other| other == key, |_| true);
            is_ours.then_some(slot)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::vec;

    #[test]
    fn what_ran_on_any_thread_is_in_the_bitmap() {
        let mut memory = vec![0u128; ExecutedBitmap::len(256) / 16];
        // SAFETY: the memory is long enough, aligned and outlives the threads.
        let ever = unsafe { ExecutedBitmap::new(memory.as_mut_ptr().cast(), 256, 7, 1) };
        let statement = |n: u32| Statement { file: (n % 5) as u16, line: (n * 7 % 1000) as u16 };
        std::thread::scope(|scope| {
            for part in 0..4 {
                scope.spawn(move || ever.note_all((part * 200..part * 200 + 400).map(statement)));
            }
        });
        // SAFETY: the threads that wrote it have ended.
        let image =
            unsafe { core::slice::from_raw_parts(memory.as_ptr().cast::<u8>(), ExecutedBitmap::len(256)) };
        let read = qs_core::ring::executed::ExecutedBitmap::parse(image).expect("a bitmap");
        let ran: BTreeSet<Statement> = read.statements().collect();
        assert!(ran == (0..1000).map(statement).collect(), "{} of 1000", ran.len());
        assert_eq!((read.lost, read.map_hash), (0, 7));
    }

    #[test]
    fn pages_without_a_slot_are_counted() {
        let mut memory = vec![0u128; ExecutedBitmap::len(2) / 16];
        // SAFETY: the memory is long enough, aligned and outlives the bitmap.
        let ever = unsafe { ExecutedBitmap::new(memory.as_mut_ptr().cast(), 2, 0, 1) };
        ever.note_all((0..5).map(|file| Statement { file, line: 1 }));
        // SAFETY: the memory has these bytes, and nothing writes them now.
        let image =
            unsafe { core::slice::from_raw_parts(memory.as_ptr().cast::<u8>(), ExecutedBitmap::len(2)) };
        let read = qs_core::ring::executed::ExecutedBitmap::parse(image).expect("a bitmap");
        assert_eq!((read.lost, read.statements().count()), (3, 2));
    }
}
