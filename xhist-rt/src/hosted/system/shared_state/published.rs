//! Memory that one thread lays out and that all threads use from then on. Everything that threads find is laid out
//! before they can find it.

use core::marker::PhantomData;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering, fence};

use super::SharedWord;

/// The operations of a pointer that threads share.
pub(crate) trait SharedPointer<T> {
    fn load(&self, order: Ordering) -> *mut T;
    fn store(&self, pointer: *mut T, order: Ordering);
    fn exchange(&self, from: *mut T, to: *mut T, order: Ordering) -> bool;
    /// See [`SharedWord::fence`].
    fn fence();
}

macro_rules! shared_pointer {
    ($atomic:ident) => {
        impl<T> SharedPointer<T> for $atomic<T> {
            #[inline(always)]
            fn load(&self, order: Ordering) -> *mut T {
                self.load(order)
            }

            fn store(&self, pointer: *mut T, order: Ordering) {
                self.store(pointer, order);
            }

            fn exchange(&self, from: *mut T, to: *mut T, order: Ordering) -> bool {
                self.compare_exchange(from, to, order, Ordering::Relaxed).is_ok()
            }

            fn fence() {
                fence(Ordering::SeqCst);
            }
        }
    };
}

shared_pointer!(AtomicPtr);

/// A pointer to memory that is laid out before any other thread finds it.
pub(crate) struct Published<T, P = AtomicPtr<T>>(P, PhantomData<fn(*mut T)>);

impl<T> Published<T> {
    pub(crate) const fn new(first: *mut T) -> Published<T> {
        Published(AtomicPtr::new(first), PhantomData)
    }

    pub(crate) const fn null() -> Published<T> {
        Published::new(null_mut())
    }
}

impl<T, P: SharedPointer<T>> Published<T, P> {
    /// The newest pointer. What it points to is laid out.
    #[inline(always)]
    pub(crate) fn get(&self) -> *mut T {
        self.0.load(Ordering::Acquire)
    }

    /// Lays out the memory and publishes it. Afterwards the caller sees each [`Fact`] whose announcer missed this
    /// pointer.
    pub(crate) fn publish(&self, new: *mut T, lay_out: impl FnOnce()) {
        lay_out();
        self.0.store(new, Ordering::Release);
        P::fence();
    }

    /// [`Published::publish`], unless another thread has published something else than `found`. Returns whether it is
    /// published.
    pub(crate) fn publish_after(&self, found: *mut T, new: *mut T, lay_out: impl FnOnce()) -> bool {
        lay_out();
        let is_published = self.0.exchange(found, new, Ordering::AcqRel);
        P::fence();
        is_published
    }

    /// In a forked child, which has one thread.
    pub(crate) fn forget(&self) {
        self.0.store(null_mut(), Ordering::Relaxed);
    }
}

/// A word that is 1 in the process that was marked, and 0 in its forked children: there the kernel wipes the page.
/// Before the mark the word is a static that is 1 in every process.
pub(crate) struct MarkWord<A = AtomicU64, P = AtomicPtr<A>>(Published<A, P>);

impl MarkWord {
    pub(crate) const fn new(unmarked: *mut AtomicU64) -> MarkWord {
        MarkWord(Published::new(unmarked))
    }
}

impl<A: SharedWord, P: SharedPointer<A>> MarkWord<A, P> {
    /// Marks the process unless it is marked: `page` is a word in a new page, which `at` finds. Returns whether the page
    /// is in use now.
    pub(crate) fn mark<'a>(&self, unmarked: *mut A, page: *mut A, at: impl Fn(*mut A) -> &'a A) -> bool
    where
        A: 'a,
    {
        // Other threads read the word as soon as they find the page.
        self.0.publish_after(unmarked, page, || at(page).store(1, Ordering::Relaxed))
    }

    /// The address of the word.
    #[inline(always)]
    pub(crate) fn word(&self) -> *mut A {
        self.0.get()
    }
}

/// What one thread finds out and every ring gets, also rings that are made meanwhile. Not zero once it is known.
pub(crate) struct Fact<A = AtomicU64>(A);

impl Fact {
    pub(crate) const fn new() -> Fact {
        Fact(AtomicU64::new(0))
    }
}

impl<A: SharedWord> Fact<A> {
    /// Stores the fact. Then `give` gives it to every ring that is published. The thread that makes another ring gets
    /// the fact itself, behind [`Published::publish`].
    pub(crate) fn announce(&self, fact: u64, give: impl FnOnce()) {
        self.0.store(fact, Ordering::Relaxed);
        A::fence();
        give();
    }

    /// `None` while it is not known. Then a ring needs nothing: a thread that stored nothing overwrites nothing.
    pub(crate) fn get(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|fact| *fact != 0)
    }
}

/// Which file a ring is in, by number; a program may name a file while a ring is made. Either the thread that makes the
/// ring moves it into that file, or the thread that names the file counts it as missing there.
pub(crate) struct Home<A = AtomicU64>(A);

/// The ring is in memory only.
const IN_MEMORY: u64 = 0;
/// The ring is in memory, and some file counts it as missing. No file has this number.
const MISSED: u64 = 1;

impl Home {
    pub(crate) const fn new() -> Home {
        Home(AtomicU64::new(IN_MEMORY))
    }
}

impl<A: SharedWord> Home<A> {
    /// The caller has put the ring into this file; `None`: it was counted as missing.
    pub(crate) fn put(&self, file: Option<u64>) {
        self.0.store(file.unwrap_or(MISSED), Ordering::Relaxed);
    }

    /// The program has named no file.
    pub(crate) fn stay_in_memory(&self) {
        self.0.store(IN_MEMORY, Ordering::Relaxed);
    }

    pub(crate) fn is_in(&self, file: u64) -> bool {
        self.0.load(Ordering::Relaxed) == file
    }

    /// For the thread that has just published the ring, and finds this file then. Returns whether it has to move the
    /// ring there.
    pub(crate) fn is_to_move(&self, file: u64) -> bool {
        self.0.exchange(IN_MEMORY, file, Ordering::AcqRel).is_ok()
    }

    /// For the thread that has just published this file, and finds the ring of another thread. Returns whether that
    /// ring is missing in the file.
    pub(crate) fn is_missing(&self, file: u64) -> bool {
        let found = self.0.load(Ordering::Relaxed);
        found != file && (found == MISSED || self.0.exchange(found, MISSED, Ordering::AcqRel).is_ok())
    }
}

/// Numbers from 0 on, each given once.
pub(crate) struct Numbers<A = AtomicU64>(A);

impl Numbers {
    pub(crate) const fn new() -> Numbers {
        Numbers(AtomicU64::new(0))
    }
}

impl<A: SharedWord> Numbers<A> {
    /// The next number, unless it reaches the end.
    pub(crate) fn take(&self, end: usize) -> Option<usize> {
        let number = self.0.add(1, Ordering::Relaxed);
        if number >= end as u64 {
            // The count never wraps.
            self.0.store(end as u64, Ordering::Relaxed);
            return None;
        }
        Some(number as usize)
    }

    /// How many were given.
    pub(crate) fn given(&self, end: usize) -> usize {
        self.0.load(Ordering::Relaxed).min(end as u64) as usize
    }

    /// In a forked child.
    pub(crate) fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
mod tests {
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicPtr, AtomicU64, Ordering, fence};
    use loom::thread;

    use super::*;

    shared_pointer!(AtomicPtr);

    type Word = AtomicU64;
    type Pointer = AtomicPtr<Word>;

    /// Memory, as words whose addresses stay.
    struct Memory(Box<[Word; 3]>);

    impl Memory {
        fn new(first: u64) -> Memory {
            Memory(Box::new([first, 0, 0].map(AtomicU64::new)))
        }

        fn address(&self, number: usize) -> *mut Word {
            (&raw const self.0[number]).cast_mut()
        }

        fn at(&self, address: *mut Word) -> &Word {
            self.0.iter().find(|word| core::ptr::eq(*word, address)).expect("an address of this memory")
        }
    }

    fn nowhere() -> Published<Word, Pointer> {
        Published(AtomicPtr::new(null_mut()), PhantomData)
    }

    /// Two threads have their first statements at once, and a third one rolls over.
    #[test]
    fn the_marked_process_is_never_taken_for_a_child() {
        loom::model(|| {
            let memory = Memory::new(1);
            let unmarked = memory.address(0);
            let mark = MarkWord(Published(Pointer::new(unmarked), PhantomData));
            let shared = Arc::new((memory, mark));
            let markers = [1, 2].map(|page| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (memory, mark) = &*shared;
                    let page = memory.address(page);
                    mark.mark(memory.address(0), page, |address| memory.at(address))
                })
            });
            let (memory, mark) = &*shared;
            assert_eq!(memory.at(mark.word()).load(Ordering::Relaxed), 1, "a child");
            let marked: Vec<bool> = markers.into_iter().map(|one| one.join().expect("it ends")).collect();
            assert_eq!(marked.iter().filter(|is_marked| **is_marked).count(), 1, "one page is in use");
            assert_eq!(memory.at(mark.word()).load(Ordering::Relaxed), 1);
        });
    }

    /// A ring has two words, which its maker writes before other threads find it.
    #[test]
    fn a_ring_that_is_found_is_laid_out() {
        loom::model(|| {
            let shared = Arc::new((Memory::new(0), nowhere()));
            let maker = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (memory, ring) = &*shared;
                    ring.publish(memory.address(1), || memory.0[1].store(7, Ordering::Relaxed));
                })
            };
            let (memory, ring) = &*shared;
            let found = ring.get();
            assert!(
                found.is_null() || memory.at(found).load(Ordering::Relaxed) == 7,
                "a ring without header"
            );
            maker.join().expect("it ends");
        });
    }

    /// The program sets its map while another thread makes a ring.
    #[test]
    fn every_ring_gets_what_one_thread_announces() {
        loom::model(|| {
            let shared = Arc::new((Memory::new(0), nowhere(), Fact(AtomicU64::new(0))));
            let maker = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (memory, ring, fact) = &*shared;
                    let give = || {
                        fact.get().map(|fact| memory.0[1].store(fact, Ordering::Relaxed));
                    };
                    ring.publish(memory.address(1), give);
                    give();
                })
            };
            let (memory, ring, fact) = &*shared;
            fact.announce(9, || {
                let found = ring.get();
                if !found.is_null() {
                    memory.at(found).store(9, Ordering::Relaxed);
                }
            });
            maker.join().expect("it ends");
            assert_eq!(memory.0[1].load(Ordering::Relaxed), 9);
        });
    }

    /// The program names a file while another thread makes a ring, in the file if that was there before.
    #[test]
    fn a_ring_is_in_the_file_or_counted_as_missing() {
        const FILE: u64 = 2;
        loom::model(|| {
            let shared = Arc::new((Memory::new(0), nowhere(), nowhere(), Home(AtomicU64::new(IN_MEMORY))));
            let maker = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (memory, ring, file, home) = &*shared;
                    let is_in_file = !file.get().is_null();
                    if is_in_file {
                        home.put(Some(FILE));
                    }
                    ring.publish(memory.address(1), || {});
                    is_in_file || !file.get().is_null() && home.is_to_move(FILE)
                })
            };
            let (memory, ring, file, home) = &*shared;
            file.publish(memory.address(2), || {});
            let is_missing = !ring.get().is_null() && home.is_missing(FILE);
            let is_in_file = maker.join().expect("it ends");
            assert!(is_missing != is_in_file, "missing: {is_missing}, in the file: {is_in_file}");
        });
    }

    #[test]
    fn each_number_is_given_once() {
        loom::model(|| {
            let numbers = Arc::new(Numbers(AtomicU64::new(0)));
            let others: Vec<_> = (0..2)
                .map(|_| {
                    let numbers = Arc::clone(&numbers);
                    thread::spawn(move || numbers.take(2))
                })
                .collect();
            let mut taken = vec![numbers.take(2)];
            taken.extend(others.into_iter().map(|other| other.join().expect("it ends")));
            taken.sort_unstable();
            assert_eq!(taken, [None, Some(0), Some(1)]);
            assert_eq!(numbers.given(2), 2);
        });
    }
}
