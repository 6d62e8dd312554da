//! What threads agree on without locks, apart from what they agree about: who reads the environment, who gets the ring of
//! a thread that has ended, and how the [`ticker`](super::ticker) visits threads, sleeps and ends.
//!
//! Generic over the atomic type, so that loom can try every order in which threads may come:
//! `RUSTFLAGS="--cfg loom" cargo test -p xhist-rt --release --features std,trace --lib between`.

use core::sync::atomic::{AtomicU64, Ordering, fence};

/// The operations needed of a word that threads share.
pub(super) trait Shared {
    fn load(&self, order: Ordering) -> u64;
    fn store(&self, value: u64, order: Ordering);
    fn add(&self, value: u64, order: Ordering) -> u64;
    fn exchange(&self, from: u64, to: u64, order: Ordering) -> Result<u64, u64>;
    /// A fence of sequential consistency: of two threads that each store, fence and load what the other stored, one
    /// sees it.
    fn fence();
}

macro_rules! shared {
    ($atomic:ty) => {
        impl Shared for $atomic {
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

/// Something that one thread does, and all others find done. The word: zero, [`DONE`], or who is at it.
pub(super) struct Once<A = AtomicU64>(A);

/// Nobody is known by that.
const DONE: u64 = u64::MAX;

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It is the caller's to do.
    Yours,
    /// This thread is at it.
    UnderWay(u64),
    /// What it left behind may be read.
    Done,
}

impl Once {
    pub(super) const fn new() -> Once {
        Once(AtomicU64::new(0))
    }
}

impl<A: Shared> Once<A> {
    pub(super) fn is_done(&self) -> bool {
        self.0.load(Ordering::Acquire) == DONE
    }

    /// `caller` is what the calling thread is known by.
    pub(super) fn begin(&self, caller: u64) -> Progress {
        match self.0.exchange(0, caller, Ordering::Acquire) {
            Ok(_) => Progress::Yours,
            Err(DONE) => Progress::Done,
            Err(owner) => Progress::UnderWay(owner),
        }
    }

    /// Whether somebody else was at it; then it is to be done again. For a forked child, where nobody else is.
    pub(super) fn forget_others(&self, caller: u64) -> bool {
        let owner = self.0.load(Ordering::Relaxed);
        let is_other = ![0, caller, DONE].contains(&owner);
        if is_other {
            self.0.store(0, Ordering::Relaxed);
        }
        is_other
    }

    pub(super) fn done(&self) {
        self.0.store(DONE, Ordering::Release);
    }
}

/// Whether the owner of something has ended. Zero: it lives; otherwise the how-manieth it was to end.
pub(super) struct Ended<A = AtomicU64>(A);

impl Ended {
    pub(super) const fn new() -> Ended {
        Ended(AtomicU64::new(0))
    }
}

impl<A: Shared> Ended<A> {
    /// The owner ends: from now on it is anybody's. `count` counts those that ended.
    pub(super) fn end(&self, count: &A) {
        self.0.store(count.add(1, Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// It has an owner.
    pub(super) fn live(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// The how-manieth it was to end; `None` while it lives.
    pub(super) fn order(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Acquire)).filter(|order| *order != 0)
    }

    /// Makes the caller the owner, unless another was faster.
    pub(super) fn take(&self, order: u64) -> bool {
        self.0.exchange(order, 0, Ordering::AcqRel).is_ok()
    }
}

/// Takes what `rank` puts first of all that have ended.
pub(super) fn take_first<'a, T, A: Shared + 'a, R: Ord>(
    all: &'a [T],
    ended: impl Fn(&'a T) -> &'a Ended<A>,
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

/// Where the one visitor is: 0, or the number of a place. A place is a word with an address that its owner may take away.
pub(super) struct Visitor<A = AtomicU64>(A);

impl Visitor {
    pub(super) const fn new() -> Visitor {
        Visitor(AtomicU64::new(0))
    }
}

impl<A: Shared> Visitor<A> {
    /// Visits place `number`, not 0: `run` gets its address, which is valid until `run` ends. There is one visitor at a time.
    #[inline(always)]
    pub(super) fn visit(&self, number: u64, place: &A, run: impl FnOnce(u64)) {
        self.0.store(number, Ordering::Relaxed);
        A::fence();
        let address = place.load(Ordering::Acquire);
        if address != 0 {
            run(address);
        }
        self.0.store(0, Ordering::Release);
    }

    /// Takes the address away. It stays in use while [`Visitor::is_at`] that place.
    pub(super) fn close(&self, place: &A) {
        place.store(0, Ordering::Relaxed);
        A::fence();
    }

    pub(super) fn is_at(&self, number: u64) -> bool {
        self.0.load(Ordering::Acquire) == number
    }

    /// In a forked child, which has no visitor.
    pub(super) fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// Whether a thread sleeps that others wake: 1 while it does.
pub(super) struct Sleeper<A = AtomicU64>(A);

impl Sleeper {
    pub(super) const fn new() -> Sleeper {
        Sleeper(AtomicU64::new(0))
    }
}

impl<A: Shared> Sleeper<A> {
    /// From now on others wake this thread. It looks once more for work before it sleeps.
    #[inline(always)]
    pub(super) fn lie_down(&self) {
        self.0.store(1, Ordering::Relaxed);
        A::fence();
    }

    #[inline(always)]
    pub(super) fn get_up(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// The caller has left work, and learns whether it has to wake the sleeper for that.
    #[inline(always)]
    pub(super) fn is_to_wake(&self) -> bool {
        A::fence();
        self.0.load(Ordering::Relaxed) != 0 && self.0.exchange(1, 0, Ordering::AcqRel).is_ok()
    }
}

/// A helper that exists while at least [`Helped::ENOUGH`] others want it.
pub(super) struct Helped<A = AtomicU64> {
    /// How many want it.
    wanted: A,
    state: A,
}

/// There is no helper, or one that ends and looks at nothing any longer.
const STOPPED: u64 = 0;
/// There is a helper, or somebody starts one.
const RUNNING: u64 = 1;
/// The system refused one.
const REFUSED: u64 = 2;

impl Helped {
    pub(super) const fn new() -> Helped {
        Helped { wanted: AtomicU64::new(0), state: AtomicU64::new(STOPPED) }
    }
}

impl<A: Shared> Helped<A> {
    const ENOUGH: u64 = 2;

    fn is_enough(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) >= Self::ENOUGH
    }

    /// The caller wants a helper from now on. True: the caller has to start it.
    pub(super) fn want(&self) -> bool {
        self.wanted.add(1, Ordering::Relaxed);
        A::fence();
        self.is_enough() && self.state.exchange(STOPPED, RUNNING, Ordering::AcqRel).is_ok()
    }

    /// The caller does not want it any longer. True: too few are left, so the helper ends when it looks.
    pub(super) fn forgo(&self) -> bool {
        self.wanted.add(u64::MAX, Ordering::AcqRel) <= Self::ENOUGH
    }

    /// The helper asks whether it has to end.
    #[inline(always)]
    pub(super) fn is_over(&self) -> bool {
        if self.is_enough() {
            return false;
        }
        self.state.store(STOPPED, Ordering::Release);
        A::fence();
        // One that came meanwhile either saw that, and starts another helper, or is seen here.
        !(self.is_enough() && self.state.exchange(STOPPED, RUNNING, Ordering::AcqRel).is_ok())
    }

    /// The helper could not be started: for now, or for good.
    pub(super) fn failed(&self, for_good: bool) {
        self.state.store(if for_good { REFUSED } else { STOPPED }, Ordering::Release);
    }

    /// In a forked child, which has neither a helper nor anybody who wants it.
    pub(super) fn forget(&self) {
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

    /// The ring is read and written in two steps that take no part in the order of threads: two that have it at the
    /// same time, and one that does not see what was written before, lose a count.
    struct Slot {
        ended: Ended<AtomicU64>,
        ring: AtomicU64,
    }

    struct Slots {
        slots: Vec<Slot>,
        count: AtomicU64,
    }

    impl Slots {
        /// All ended, in this order.
        fn ended(orders: &[u64]) -> Arc<Slots> {
            let slot = |order: &u64| Slot { ended: Ended(AtomicU64::new(*order)), ring: AtomicU64::new(0) };
            Arc::new(Slots { slots: orders.iter().map(slot).collect(), count: AtomicU64::new(10) })
        }

        /// A thread's life: takes a slot, uses its ring, ends.
        fn live(&self) -> bool {
            let Some(slot) = take_first(&self.slots, |slot| &slot.ended, |_, order| order) else {
                return false;
            };
            slot.ring.store(slot.ring.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            slot.ended.end(&self.count);
            true
        }
    }

    #[test]
    fn a_ring_has_one_owner_who_sees_what_the_one_before_wrote() {
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
                    take_first(&slots.slots, |slot| &slot.ended, |_, order| order).is_some()
                })
            };
            let own = take_first(&slots.slots, |slot| &slot.ended, |_, order| order).is_some();
            assert!(own && other.join().expect("it ends"));
            assert!(slots.slots.iter().all(|slot| slot.ended.order().is_none()));
        });
    }

    #[test]
    fn what_is_read_once_is_seen_by_all() {
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

    /// Statements of all threads in one order: each number is given once, and a thread that saw what another did
    /// before has a higher one.
    #[test]
    fn tickets_tell_the_order() {
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

    /// A frame is written byte by byte, then the state word tells of it; a reader beside the writer looks at the state,
    /// copies, and looks again: what the writer may have reached meanwhile is not shown.
    #[test]
    fn a_reader_beside_the_writer_shows_whole_frames() {
        const SIZE: u64 = 2;
        loom::model(|| {
            let ring = Arc::new(([AtomicU64::new(0), AtomicU64::new(0)], AtomicU64::new(0)));
            let writer = {
                let ring = Arc::clone(&ring);
                thread::spawn(move || {
                    for frame in 0..3 {
                        // What is written must not be seen before the state that it comes behind.
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
            // One frame may be under way behind the state.
            for frame in (after + 1).saturating_sub(SIZE)..head {
                assert_eq!(copy[(frame % SIZE) as usize], 100 + frame, "{frame} of {head}, then {after}");
            }
            writer.join().expect("it ends");
        });
    }

    /// The address is that of a cell here, which its owner takes back once the visitor is out.
    #[test]
    fn what_an_owner_took_back_is_not_visited() {
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

    /// Work is a word that is not zero.
    #[test]
    fn nobody_sleeps_over_work() {
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
            assert!(!sleeps || wakes, "it sleeps, and nobody wakes it");
        });
    }

    #[test]
    fn there_is_one_helper_while_it_is_wanted() {
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
