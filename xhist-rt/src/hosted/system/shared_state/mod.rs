//! State that threads share without locks, apart from what it is about: which thread reads the environment, how rings,
//! their file and the mark of the process are set up, which thread gets the ring of an ended thread, and how the ticker
//! visits threads, sleeps and ends.
//!
//! The types are generic over the atomic type, so that loom can try every order of threads:
//! `RUSTFLAGS="--cfg loom" cargo test -p xhist-rt --release --features std,trace --lib shared_state`.

mod published;

use core::sync::atomic::{AtomicU64, Ordering, fence};

pub(crate) use published::{Fact, Home, MarkWord, Numbers, Published};

/// The operations of a word that threads share.
pub(crate) trait SharedWord {
    fn load(&self, order: Ordering) -> u64;
    fn store(&self, value: u64, order: Ordering);
    fn add(&self, value: u64, order: Ordering) -> u64;
    fn exchange(&self, from: u64, to: u64, order: Ordering) -> Result<u64, u64>;
    /// A fence of sequential consistency. If two threads each store, fence, and load the other's word, at least one
    /// of them loads the new value.
    fn fence();
}

macro_rules! shared {
    ($atomic:ty) => {
        impl SharedWord for $atomic {
            fn load(&self, order: Ordering) -> u64 {
                self.load(order)
            }

            fn store(&self, value: u64, order: Ordering) {
                self.store(value, order);
            }

            fn add(&self, value: u64, order: Ordering) -> u64 {
                self.fetch_add(value, order)
            }

            fn exchange(&self, from: u64, to: u64, order: Ordering) -> Result<u64, u64> {
                self.compare_exchange(from, to, order, Ordering::Acquire)
            }

            #[inline(always)]
            fn fence() {
                fence(Ordering::SeqCst);
            }
        }
    };
}

shared!(AtomicU64);

/// Work that one thread does once. The word: 0, [`DONE`], or the number of the thread that does it.
pub(crate) struct Once<A = AtomicU64>(A);

/// No thread has this number.
const DONE: u64 = u64::MAX;

/// How far the work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The caller has to do it.
    Yours,
    /// This thread is doing it.
    UnderWay(u64),
    /// It is done, and its results may be read.
    Done,
}

impl Once {
    pub(crate) const fn new() -> Once {
        Once(AtomicU64::new(0))
    }
}

impl<A: SharedWord> Once<A> {
    pub(crate) fn is_done(&self) -> bool {
        self.0.load(Ordering::Acquire) == DONE
    }

    /// `caller` is the number of the calling thread.
    pub(crate) fn begin(&self, caller: u64) -> Progress {
        match self.0.exchange(0, caller, Ordering::Acquire) {
            Ok(_) => Progress::Yours,
            Err(DONE) => Progress::Done,
            Err(owner) => Progress::UnderWay(owner),
        }
    }

    /// Whether another thread was doing the work; then it has to be done again. For a forked child, where the other
    /// thread does not exist.
    pub(crate) fn forget_others(&self, caller: u64) -> bool {
        let owner = self.0.load(Ordering::Relaxed);
        let is_other = ![0, caller, DONE].contains(&owner);
        if is_other {
            self.0.store(0, Ordering::Relaxed);
        }
        is_other
    }

    pub(crate) fn done(&self) {
        self.0.store(DONE, Ordering::Release);
    }
}

/// Whether the owner of a slot has ended. Zero: it lives; otherwise its number in the order of ends.
pub(crate) struct SlotOwner<A = AtomicU64>(A);

impl SlotOwner {
    pub(crate) const fn new() -> SlotOwner {
        SlotOwner(AtomicU64::new(0))
    }
}

impl<A: SharedWord> SlotOwner<A> {
    /// The owner ends. From now on any thread may claim the slot. `count` is the number of owners that have ended.
    pub(crate) fn end(&self, count: &A) {
        self.0.store(count.add(1, Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// The slot has an owner.
    pub(crate) fn live(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// The owner's number in the order of ends; `None` while it lives.
    pub(crate) fn order(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Acquire)).filter(|order| *order != 0)
    }

    /// Makes the caller the owner, unless another thread was faster.
    pub(crate) fn take(&self, order: u64) -> bool {
        self.0.exchange(order, 0, Ordering::AcqRel).is_ok()
    }
}

/// Claims the slot that comes first in the order of `rank`, among those whose owners have ended.
pub(crate) fn claim_longest_vacant<'a, T, A: SharedWord + 'a, R: Ord>(
    all: &'a [T],
    ended: impl Fn(&'a T) -> &'a SlotOwner<A>,
    rank: impl Fn(&T, u64) -> R,
) -> Option<&'a T> {
    loop {
        let orders = all.iter().filter_map(|one| Some((one, ended(one).order()?)));
        let (first, order) = orders.min_by_key(|(one, order)| rank(one, *order))?;
        if ended(first).take(order) {
            return Some(first);
        }
    }
}

/// Where the only visitor is: 0, or the number of a place. A place is a word with an address that its owner may take
/// away.
pub(crate) struct Visitor<A = AtomicU64>(A);

impl Visitor {
    pub(crate) const fn new() -> Visitor {
        Visitor(AtomicU64::new(0))
    }
}

impl<A: SharedWord> Visitor<A> {
    /// Visits place `number`, which is not 0. `run` gets its address, which stays valid until `run` ends. There is
    /// one visitor at a time.
    #[inline(always)]
    pub(crate) fn visit(&self, number: u64, place: &A, run: impl FnOnce(u64)) {
        self.0.store(number, Ordering::Relaxed);
        A::fence();
        let address = place.load(Ordering::Acquire);
        if address != 0 {
            run(address);
        }
        self.0.store(0, Ordering::Release);
    }

    /// Takes the address away. It stays in use while [`Visitor::is_at`] is true for that place.
    pub(crate) fn close(&self, place: &A) {
        place.store(0, Ordering::Relaxed);
        A::fence();
    }

    pub(crate) fn is_at(&self, number: u64) -> bool {
        self.0.load(Ordering::Acquire) == number
    }

    /// In a forked child, which has no visitor.
    pub(crate) fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// Whether a thread sleeps that other threads wake: 1 while it does.
pub(crate) struct Sleeper<A = AtomicU64>(A);

impl Sleeper {
    pub(crate) const fn new() -> Sleeper {
        Sleeper(AtomicU64::new(0))
    }
}

impl<A: SharedWord> Sleeper<A> {
    /// From now on other threads wake this thread. It searches work once more before it sleeps.
    #[inline(always)]
    pub(crate) fn lie_down(&self) {
        self.0.store(1, Ordering::Relaxed);
        A::fence();
    }

    #[inline(always)]
    pub(crate) fn get_up(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// The caller has left work. Returns whether the caller has to wake the sleeper.
    #[inline(always)]
    pub(crate) fn is_to_wake(&self) -> bool {
        A::fence();
        self.0.load(Ordering::Relaxed) != 0 && self.0.exchange(1, 0, Ordering::AcqRel).is_ok()
    }
}

/// A helper thread that exists while at least [`Helped::ENOUGH`] threads want it.
pub(crate) struct Helped<A = AtomicU64> {
    /// Number of threads that want it.
    wanted: A,
    state: A,
}

/// The helper does not exist, or it is ending and has stopped its work.
const STOPPED: u64 = 0;
/// The helper exists, or a thread is starting it.
const RUNNING: u64 = 1;
/// The system refused to start a helper.
const REFUSED: u64 = 2;

impl Helped {
    pub(crate) const fn new() -> Helped {
        Helped { wanted: AtomicU64::new(0), state: AtomicU64::new(STOPPED) }
    }
}

impl<A: SharedWord> Helped<A> {
    const ENOUGH: u64 = 2;

    fn is_enough(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) >= Self::ENOUGH
    }

    /// The caller wants a helper from now on. Returns whether the caller has to start it.
    pub(crate) fn want(&self) -> bool {
        self.wanted.add(1, Ordering::Relaxed);
        A::fence();
        self.is_enough() && self.state.exchange(STOPPED, RUNNING, Ordering::AcqRel).is_ok()
    }

    /// The caller does not want the helper any longer. Returns whether too few threads are left; then the helper ends
    /// when it checks.
    pub(crate) fn forgo(&self) -> bool {
        self.wanted.add(u64::MAX, Ordering::AcqRel) <= Self::ENOUGH
    }

    /// Whether the helper has to end.
    #[inline(always)]
    pub(crate) fn is_over(&self) -> bool {
        if self.is_enough() {
            return false;
        }
        self.state.store(STOPPED, Ordering::Release);
        A::fence();
        // A thread that came meanwhile either saw the new state and starts another helper, or it is counted here.
        !(self.is_enough() && self.state.exchange(STOPPED, RUNNING, Ordering::AcqRel).is_ok())
    }

    /// The helper could not be started, for now or for good.
    pub(crate) fn failed(&self, for_good: bool) {
        self.state.store(if for_good { REFUSED } else { STOPPED }, Ordering::Release);
    }

    /// In a forked child, which has no helper and no thread that wants it.
    pub(crate) fn forget(&self) {
        self.wanted.store(0, Ordering::Relaxed);
        self.state.store(STOPPED, Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
mod tests {
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU64, Ordering, fence};
    use loom::thread;

    use super::*;

    shared!(AtomicU64);

    /// The ring is read and written in two steps that do not order threads. Two threads that have it at the same time
    /// lose a count, and so does one that does not see earlier writes.
    struct Slot {
        ended: SlotOwner<AtomicU64>,
        ring: AtomicU64,
    }

    struct Slots {
        slots: Vec<Slot>,
        count: AtomicU64,
    }

    impl Slots {
        /// All threads have ended, in this order.
        fn ended(orders: &[u64]) -> Arc<Slots> {
            let slot =
                |order: &u64| Slot { ended: SlotOwner(AtomicU64::new(*order)), ring: AtomicU64::new(0) };
            Arc::new(Slots { slots: orders.iter().map(slot).collect(), count: AtomicU64::new(10) })
        }

        /// The life of a thread: it takes a slot, uses its ring, ends.
        fn live(&self) -> bool {
            let Some(slot) = claim_longest_vacant(&self.slots, |slot| &slot.ended, |_, order| order) else {
                return false;
            };
            slot.ring.store(slot.ring.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            slot.ended.end(&self.count);
            true
        }
    }

    #[test]
    fn a_ring_has_one_owner_that_sees_what_the_previous_one_wrote() {
        loom::model(|| {
            let slots = Slots::ended(&[1]);
            let others: Vec<_> = (0..2)
                .map(|_| {
                    let slots = Arc::clone(&slots);
                    thread::spawn(move || slots.live())
                })
                .collect();
            let mut lives = u64::from(slots.live());
            lives += others.into_iter().map(|other| u64::from(other.join().expect("it ends"))).sum::<u64>();
            assert_eq!(slots.slots[0].ring.load(Ordering::Relaxed), lives);
            assert!(lives > 0);
        });
    }

    #[test]
    fn two_threads_take_two_rings() {
        loom::model(|| {
            let slots = Slots::ended(&[2, 1]);
            let other = {
                let slots = Arc::clone(&slots);
                thread::spawn(move || {
                    claim_longest_vacant(&slots.slots, |slot| &slot.ended, |_, order| order).is_some()
                })
            };
            let own = claim_longest_vacant(&slots.slots, |slot| &slot.ended, |_, order| order).is_some();
            assert!(own && other.join().expect("it ends"));
            assert!(slots.slots.iter().all(|slot| slot.ended.order().is_none()));
        });
    }

    #[test]
    fn all_threads_see_what_one_has_read() {
        loom::model(|| {
            let shared = Arc::new((Once(AtomicU64::new(0)), AtomicU64::new(0)));
            let look = |shared: &(Once<AtomicU64>, AtomicU64), own, other| match shared.0.begin(own) {
                Progress::Yours => {
                    shared.1.store(7, Ordering::Relaxed);
                    shared.0.done();
                    1
                }
                Progress::UnderWay(owner) => {
                    assert_eq!(owner, other);
                    0
                }
                Progress::Done => {
                    assert_eq!(shared.1.load(Ordering::Relaxed), 7);
                    0
                }
            };
            let other = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || look(&shared, 2, 1) + look(&shared, 2, 1))
            };
            let own = look(&shared, 1, 2);
            assert_eq!(own + other.join().expect("it ends"), 1, "read once");
        });
    }

    /// The statements of all threads in one order: each number is given once. If a thread has seen what another
    /// thread did, its next number is higher.
    #[test]
    fn tickets_show_the_order() {
        loom::model(|| {
            let shared = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
            let other = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let ticket = shared.0.add(1, Ordering::SeqCst);
                    shared.1.store(ticket + 1, Ordering::Relaxed);
                })
            };
            let seen = shared.1.load(Ordering::Relaxed);
            let ticket = shared.0.add(1, Ordering::SeqCst) + 1;
            assert!(ticket > seen);
            other.join().expect("it ends");
        });
    }

    /// A frame is written byte by byte, then the state word counts it. A reader beside the writer reads the state,
    /// copies, and reads the state again. It drops what the writer may have reached meanwhile.
    #[test]
    fn a_reader_beside_the_writer_shows_whole_frames() {
        const SIZE: u64 = 2;
        loom::model(|| {
            let ring = Arc::new(([AtomicU64::new(0), AtomicU64::new(0)], AtomicU64::new(0)));
            let writer = {
                let ring = Arc::clone(&ring);
                thread::spawn(move || {
                    for frame in 0..3 {
                        // These writes must not become visible before the state that precedes them.
                        loom::sync::atomic::fence(Ordering::Release);
                        ring.0[(frame % SIZE) as usize].store(100 + frame, Ordering::Relaxed);
                        ring.1.store(frame + 1, Ordering::Release);
                    }
                })
            };
            let head = ring.1.load(Ordering::Acquire);
            let copy = [ring.0[0].load(Ordering::Relaxed), ring.0[1].load(Ordering::Relaxed)];
            loom::sync::atomic::fence(Ordering::Acquire);
            let after = ring.1.load(Ordering::Relaxed);
            // One frame may be incomplete behind the state.
            for frame in (after + 1).saturating_sub(SIZE)..head {
                assert_eq!(copy[(frame % SIZE) as usize], 100 + frame, "{frame} of {head}, then {after}");
            }
            writer.join().expect("it ends");
        });
    }

    /// The address is that of a cell here. Its owner takes it back after the visitor has left.
    #[test]
    fn an_address_that_its_owner_took_back_is_not_visited() {
        loom::model(|| {
            let shared = Arc::new((Visitor(AtomicU64::new(0)), AtomicU64::new(1), AtomicU64::new(0)));
            let visitor = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (visitor, place, cell) = &*shared;
                    visitor.visit(7, place, |_| {
                        assert_ne!(cell.load(Ordering::Relaxed), 99, "it was taken back");
                    });
                })
            };
            let (at, place, cell) = &*shared;
            at.close(place);
            if !at.is_at(7) {
                cell.store(99, Ordering::Relaxed);
            }
            visitor.join().expect("it ends");
        });
    }

    /// A word that is not zero is work.
    #[test]
    fn no_thread_sleeps_while_there_is_work() {
        loom::model(|| {
            let shared = Arc::new((Sleeper(AtomicU64::new(0)), AtomicU64::new(0)));
            let worker = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    shared.1.store(5, Ordering::Relaxed);
                    shared.0.is_to_wake()
                })
            };
            shared.0.lie_down();
            let sleeps = shared.1.load(Ordering::Relaxed) == 0;
            let wakes = worker.join().expect("it ends");
            assert!(!sleeps || wakes, "it sleeps, and no thread wakes it");
        });
    }

    #[test]
    fn there_is_one_helper_while_threads_want_it() {
        loom::model(|| {
            let helped = Arc::new(Helped { wanted: AtomicU64::new(1), state: AtomicU64::new(RUNNING) });
            let helper = {
                let helped = Arc::clone(&helped);
                thread::spawn(move || !helped.is_over())
            };
            let starts = helped.want();
            let goes_on = helper.join().expect("it ends");
            assert!(starts != goes_on, "{starts} and {goes_on}");
        });
    }
}
