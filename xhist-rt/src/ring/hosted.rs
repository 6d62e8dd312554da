//! The hosted ring: a longer header, and appends that may be interrupted by appends.
//!
//! The steps are those of the parent module's page. Under test, [`step`] lets a "signal handler"
//! in at every point between two of them.

use qs_core::record::EventKind;
use qs_core::ring::{self as layout, NAME_LEN, OPEN, State, Status};

use super::{Header, OPAQUE, Ring, intent};
use crate::frame::Frame;
use crate::sync::{Word, fence};

/// The header of a hosted ring. Field for field `qs_core::ring`'s layout.
#[repr(C)]
pub(crate) struct HostedHeader {
    base: Header,
    fix: Word,
    last_time: Word,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    status: u32,
    pub(crate) number: u32,
    pub(crate) name: [u8; NAME_LEN],
}

const _: () = {
    assert!(size_of::<HostedHeader>() == layout::HOSTED_HEADER_LEN);
    assert!(core::mem::offset_of!(HostedHeader, status) == 88);
};

impl HostedHeader {
    /// Lays out an empty ring of `size` bytes.
    pub(crate) fn init(&mut self, size: u32, time_width: u8, flags: u8, map_hash: u64) {
        self.fix.store(0);
        self.last_time.store(0);
        self.status = Status::Live.code();
        self.base.map_hash.store(map_hash);
        self.base.clock_hz = 0;
        self.base.init(layout::HOSTED_HEADER_LEN, size, time_width, flags);
    }
}

/// How an append reads the clock: ticks in full, or 0 when statements carry no time.
pub(crate) trait Clock: Fn() -> u64 {}
impl<F: Fn() -> u64> Clock for F {}

impl Ring {
    #[inline(always)]
    fn hosted(&self) -> &HostedHeader {
        // SAFETY: rings with this API are made with a `HostedHeader`, see `Slots`.
        unsafe { &*self.header.cast::<HostedHeader>() }
    }

    /// Changes fields of the header that readers look at and appends do not.
    pub(crate) fn with_header(&self, change: impl FnOnce(&mut HostedHeader)) {
        // SAFETY: as above; called by the writing thread outside an append, or before the ring has a writer.
        change(unsafe { &mut *self.header.cast::<HostedHeader>() });
    }

    /// Tells readers where the owner stands.
    pub(crate) fn set_status(&self, status: Status) {
        // SAFETY: a plain word that only readers of the dump look at.
        unsafe { (&raw mut (*self.header.cast::<HostedHeader>()).status).write_volatile(status.code()) };
    }

    /// Tells readers the ticks of the clock a second.
    pub(crate) fn set_clock_hz(&self, hz: u32) {
        // SAFETY: as in `set_status`.
        unsafe { (&raw mut (*self.header).clock_hz).write_volatile(hz) };
    }

    /// Where the owner stands.
    pub(crate) fn status_code(&self) -> u32 {
        // SAFETY: as in `set_status`.
        unsafe { (&raw const (*self.header.cast::<HostedHeader>()).status).read_volatile() }
    }

    /// Sequence number of the newest frame.
    #[inline(always)]
    pub(crate) fn seq(&self) -> u8 {
        State(self.hosted().base.state.load()).seq()
    }

    /// Which map the program was instrumented with.
    pub(crate) fn set_map_hash(&self, hash: u64) {
        self.hosted().base.map_hash.store(hash);
    }

    /// Appends a statement; a signal handler may come in anywhere.
    #[inline(always)]
    pub(crate) fn append(&self, word: u32, clock: Option<impl Clock>) {
        let header = self.hosted();
        if header.base.open.load() | header.fix.load() != 0 {
            return self.append_any(clock, |seq, time| Frame::statement(seq, word, time));
        }
        let time = clock.as_ref().map(|clock| self.time(clock()));
        let state = State(header.base.state.load());
        step();
        header.base.intent.store(intent(word, time));
        fence();
        step();
        header.base.open.store(state.0 | OPEN);
        fence();
        step();
        if header.base.state.load() != state.0 {
            // A handler appended before `open` told it of us.
            header.base.open.store(OPAQUE);
            self.append_any(clock, |seq, time| Frame::statement(seq, word, time));
            return self.settle();
        }
        step();
        if header.fix.load() == 0 {
            let len = self.put_statement(state, word, time);
            fence();
            step();
            header.base.state.store(state.after(len).0);
        }
        // Otherwise a handler has written this frame already and gone on behind it.
        fence();
        step();
        self.settle();
    }

    /// Appends an event.
    pub(crate) fn append_event(&self, kind: EventKind, value: u64, clock: Option<impl Clock>) {
        self.append_any(clock, |seq, time| Frame::event(seq, kind, time.unwrap_or(0), value));
    }

    /// The low half of the clock, after a `Time` event when it has wrapped since the last stamp.
    #[inline(always)]
    fn time(&self, now: u64) -> u32 {
        let last = self.hosted().last_time.load();
        // Clocks of two cores may differ by a few ticks; time in a ring never runs backwards.
        let now = now.max(last);
        if now - last > u64::from(u32::MAX) {
            self.append_any(None::<fn() -> u64>, |seq, _| {
                Frame::event(seq, EventKind::Time, now as u32, now)
            });
        }
        self.hosted().last_time.store(now);
        now as u32
    }

    /// Appends inside an interrupted append, or something that `intent` cannot describe:
    /// reserves its place in `fix` by one atomic exchange, so it may be interrupted itself.
    #[cold]
    #[inline(never)]
    fn append_any(&self, clock: Option<impl Clock>, build: impl Fn(u8, Option<u32>) -> Frame) {
        let header = self.hosted();
        let outermost = header.base.open.load() == 0;
        if outermost {
            step();
            header.base.open.store(OPAQUE);
            fence();
        }
        loop {
            step();
            let fix = header.fix.load();
            let base = if fix != 0 { State(fix) } else { self.finish_interrupted() };
            let time = clock.as_ref().map(|clock| {
                let now = clock().max(header.last_time.load());
                header.last_time.store(now);
                now as u32
            });
            let frame = build(base.seq().wrapping_add(1), time);
            step();
            if header.fix.replace(fix, base.after(frame.len()).0) {
                step();
                self.put(base, &frame);
                fence();
                break;
            }
        }
        step();
        if outermost {
            self.settle();
        }
    }

    /// The state behind the append that `open` tells of, whose frame is written if need be.
    fn finish_interrupted(&self) -> State {
        let header = self.hosted();
        let state = State(header.base.state.load());
        if header.base.open.load() != state.0 | OPEN {
            return state;
        }
        let intent = header.base.intent.load();
        let timed = header.base.facts[1] != 0 && intent >> 32 != 0;
        let time = timed.then_some((intent >> 32) as u32);
        let frame = Frame::statement(state.seq().wrapping_add(1), intent as u32, time);
        step();
        self.put(state, &frame);
        state.after(frame.len())
    }

    /// Ends an append: clears `open` and takes over what handlers left in `fix`.
    #[inline(always)]
    fn settle(&self) {
        let header = self.hosted();
        header.base.open.store(0);
        fence();
        step();
        if header.fix.load() != 0 {
            self.take_over();
        }
    }

    #[cold]
    #[inline(never)]
    fn take_over(&self) {
        let header = self.hosted();
        while header.fix.load() != 0 {
            step();
            // Handlers that come now go on in `fix`; a stale copy of it must not reach `state` last.
            header.base.open.store(OPAQUE);
            fence();
            step();
            let fix = header.fix.load();
            step();
            if fix != 0 {
                header.base.state.store(fix);
                fence();
                step();
                header.fix.replace(fix, 0);
            }
            step();
            header.base.open.store(0);
            fence();
            step();
        }
    }
}

/// A point at which a signal handler may come in.
#[inline(always)]
fn step() {
    #[cfg(test)]
    tests::interrupt();
}

#[cfg(test)]
mod tests {

    use super::*;
    use qs_core::record::{Statement, XhistRecord};
    use qs_core::ring::{Item, Reader};
    use std::cell::{Cell, RefCell};
    use std::vec::Vec;
    use std::{boxed::Box, vec};

    std::thread_local! {
        /// Steps to go before each interrupt, innermost last; taken from the back.
        static PLAN: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
        static RING: Cell<*mut Header> = const { Cell::new(core::ptr::null_mut()) };
        static NEXT: Cell<u32> = const { Cell::new(0) };
        static DONE: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
        /// Looks at the ring at every step, as a debugger that stopped the program there.
        static WATCH: Cell<Option<fn()>> = const { Cell::new(None) };
    }

    pub(super) fn interrupt() {
        if let Some(look) = WATCH.get() {
            look();
        }
        let due = PLAN.with_borrow_mut(|plan| match plan.last_mut() {
            None => false,
            Some(0) => plan.pop().is_some(),
            Some(steps) => {
                *steps -= 1;
                false
            }
        });
        if due {
            // A handler runs two statements.
            record();
            record();
        }
    }

    fn record() {
        let word = NEXT.get() + 1;
        NEXT.set(word);
        // SAFETY: the test's ring lives until its end, on this thread.
        let ring = unsafe { Ring::new(RING.get()) };
        ring.append(word, clock());
        DONE.with_borrow_mut(|done| done.push(word));
    }

    fn clock() -> Option<fn() -> u64> {
        None
    }

    struct Memory(Vec<u64>);

    impl Memory {
        fn new(size: u32) -> Memory {
            let mut memory = Memory(vec![0; (layout::HOSTED_HEADER_LEN + size as usize) / 8]);
            // SAFETY: the memory is long enough and aligned for a header.
            unsafe { (*memory.0.as_mut_ptr().cast::<HostedHeader>()).init(size, 0, 0, 7) };
            memory
        }

        fn bytes(&self) -> Vec<u8> {
            self.0.iter().flat_map(|word| word.to_ne_bytes()).collect()
        }

        fn history(&self) -> Vec<u32> {
            let bytes = self.bytes();
            let header = layout::Header::parse(&bytes).expect("a header");
            let mut reader = Reader::new(header, &bytes);
            let mut words = Vec::new();
            while let Some(item) = reader.next() {
                match item {
                    Item::Frame(frame) => {
                        assert_eq!(frame.missing, 0);
                        match XhistRecord::parse(&frame, header.record_base) {
                            Some(XhistRecord::Statement { statement, .. }) => words.push(statement.to_word()),
                            other => panic!("{other:?}"),
                        }
                    }
                    Item::Pending(statement, _) => words.push(Statement::to_word(statement)),
                    other => panic!("{other:?}"),
                }
            }
            words
        }
    }

    fn run(plan: Vec<u32>, size: u32) -> Vec<u32> {
        let mut memory = Memory::new(size);
        RING.set(memory.0.as_mut_ptr().cast());
        NEXT.set(0);
        DONE.take();
        PLAN.set(vec![]);
        for _ in 0..3 {
            record();
        }
        PLAN.set(plan);
        for _ in 0..3 {
            record();
        }
        PLAN.set(vec![]);
        record();
        memory.history()
    }

    #[test]
    fn every_interrupted_append_keeps_every_statement() {
        // Depth 3: a handler that interrupts a handler that interrupts an append, at each step.
        for outer in 0..30 {
            for inner in 0..30 {
                for third in [0, 1, 2, 3, 5, 8, 13, 21] {
                    let mut words = run(vec![third, inner, outer], 4096);
                    let ordered = words.clone();
                    words.sort_unstable();
                    words.dedup();
                    let total = NEXT.get();
                    assert_eq!(words.len() as u32, total, "{outer} {inner} {third}: {ordered:?}");
                    assert_eq!(ordered.len() as u32, total, "{outer} {inner} {third}: {ordered:?}");
                }
            }
        }
    }

    #[test]
    fn order_is_kept_among_the_statements_of_a_handler() {
        for outer in 0..30 {
            let words = run(vec![outer], 4096);
            // Statements 1..=3 ran first, and both of the handler's stand in their order.
            assert_eq!(words[..3], [1, 2, 3]);
            let places: Vec<_> = (1..=NEXT.get()).map(|word| words.iter().position(|w| *w == word)).collect();
            assert!(places.iter().all(Option::is_some), "{words:?}");
            assert_eq!(*words.last().expect("not empty"), NEXT.get());
        }
    }

    #[test]
    fn a_dump_at_any_step_ends_in_the_statement_at_hand_or_the_one_before() {
        fn look() {
            // SAFETY: the test's ring of 256 bytes lives until its end.
            let words = unsafe { core::slice::from_raw_parts(RING.get().cast::<u64>(), (128 + 256) / 8) };
            let history = Memory(words.to_vec()).history();
            let (last, begun) = (history.last().copied().unwrap_or(0), NEXT.get());
            assert!(last == begun || last + 1 == begun, "{last} of {begun}");
            assert!(history.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{history:?}");
        }
        let mut memory = Memory::new(256);
        RING.set(memory.0.as_mut_ptr().cast());
        NEXT.set(0);
        WATCH.set(Some(look));
        for _ in 0..500 {
            record();
            look();
        }
        WATCH.set(None);
    }

    #[test]
    fn a_ring_keeps_the_newest_statements_in_order() {
        let mut memory = Memory::new(256);
        // SAFETY: the memory outlives the ring.
        let ring = unsafe { Ring::new(memory.0.as_mut_ptr().cast()) };
        for word in 0..5000u32 {
            ring.append(word, clock());
            let history = memory.history();
            assert_eq!(history.last(), Some(&word));
            assert!(history.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{history:?}");
            assert!(history.len() as u32 >= word.min(24), "{word}: {}", history.len());
        }
    }

    #[test]
    fn the_tail_of_a_listing_folds_what_spins_and_nothing_else() {
        let mut memory = Memory::new(4096);
        // SAFETY: the memory outlives the ring.
        let ring = unsafe { Ring::new(memory.0.as_mut_ptr().cast()) };
        for word in [1, 2, 2].into_iter().chain([3; 100]).chain([4, 4]) {
            ring.append(word, clock());
        }
        let bytes = memory.bytes();
        let reader = Reader::new(layout::Header::parse(&bytes).expect("a header"), &bytes);
        let tail =
            |lines| -> Vec<_> { reader.clone().tail(lines).map(|(s, times)| (s.to_word(), times)).collect() };
        assert_eq!(tail(9), [(1, 1), (2, 1), (2, 1), (3, 100), (4, 1), (4, 1)]);
        assert_eq!(tail(4), [(2, 1), (3, 100), (4, 1), (4, 1)]);
        assert_eq!(tail(0), []);
    }

    #[test]
    fn a_jump_of_the_clock_is_told_in_full() {
        let mut memory = Memory::new(256);
        // SAFETY: the memory outlives the ring.
        let ring = unsafe { Ring::new(memory.0.as_mut_ptr().cast()) };
        ring.with_header(|header| header.base.facts[1] = 4);
        ring.append(1, Some(|| 5u64));
        ring.append(2, Some(|| (7u64 << 32) + 6));
        let bytes: Box<[u8]> = memory.bytes().into();
        let header = {
            // The check word covers the time width that the test changed.
            let mut fixed = bytes.to_vec();
            fixed[13] = 0;
            layout::Header::parse(&fixed).expect("a header")
        };
        let mut reader = Reader::new(header, &bytes);
        let mut seen = Vec::new();
        while let Some(Item::Frame(frame)) = reader.next() {
            seen.push(XhistRecord::parse(&frame, header.record_base).expect("ours"));
        }
        assert_eq!(seen[1], XhistRecord::Event { kind: EventKind::Time, time: 6, value: (7 << 32) + 6 });
        assert_eq!(header.last_time, (7 << 32) + 6);
    }
}
