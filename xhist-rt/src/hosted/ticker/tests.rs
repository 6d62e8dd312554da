//! The ticker beside threads that only have the two words. One process has one ticker, so the tests take turns.

use std::cell::UnsafeCell;
use std::fs;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::super::clock;
use super::*;

static ONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    clock::choose();
    guard
}

/// A thread's words, in a slot.
#[derive(Default)]
struct Words {
    slot: usize,
    cursor: AtomicUsize,
    limit: AtomicUsize,
}

impl Words {
    fn at(slot: usize) -> Words {
        let words = Words { slot, cursor: AtomicUsize::new(1), limit: AtomicUsize::new(9) };
        Words { slot, ..words }
    }

    fn register(&self) {
        // SAFETY: the words are atomic, and the tests unregister them before they go.
        unsafe { register(self.slot, self.cursor.as_ptr(), self.limit.as_ptr(), None) };
    }

    /// A check at which the thread takes the turn, if it has to.
    fn check(&self) {
        if self.limit.load(Ordering::Relaxed) == 0 {
            self.limit.store(9, Ordering::Relaxed);
            on_turn();
        }
    }
}

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

#[track_caller]
fn soon(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < millis(5000), "{what}");
        sleep(millis(1));
    }
}

fn status_of(tid: u32, name: &str) -> String {
    let text = fs::read_to_string(format!("/proc/self/task/{tid}/status")).expect("a thread");
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.expect("a line of that name").trim().to_owned()
}

/// How often the ticker slept.
fn sleeps(tid: u32) -> u64 {
    status_of(tid, "voluntary_ctxt_switches").parse().expect("a number")
}

#[test]
fn it_exists_while_two_threads_are_registered() {
    let _guard = alone();
    let (first, second) = (Words::at(3), Words::at(5));
    first.register();
    assert_eq!(TID.load(Ordering::Relaxed), 0, "one thread needs no ticker");
    for _ in 0..20 {
        second.register();
        let tid = TID.load(Ordering::Relaxed);
        assert_ne!(tid, 0);
        soon("it has its name", || status_of(tid, "Name") == "xhist");
        assert_eq!(status_of(tid, "SigBlk"), "fffffffffffbfeff", "it handles no signal");
        unregister(second.slot);
        assert_eq!(TID.load(Ordering::Relaxed), 0, "it has ended");
    }
    unregister(first.slot);
    unregister(first.slot);
}

#[test]
fn a_thread_that_moves_is_stamped_each_millisecond() {
    let _guard = alone();
    let (busy, idle) = (Words::at(0), Words::at(1));
    busy.register();
    idle.register();
    let (begun, mut turns) = (Instant::now(), 0);
    while begun.elapsed() < millis(300) {
        busy.cursor.fetch_add(2, Ordering::Relaxed);
        turns += u32::from(busy.limit.load(Ordering::Relaxed) == 0);
        busy.check();
    }
    assert!((30..=400).contains(&turns), "{turns} turns in 300 ms");
    assert_eq!(idle.limit.load(Ordering::Relaxed), 0, "it is stamped when it wakes");
    unregister(busy.slot);
    unregister(idle.slot);
}

#[test]
fn it_sleeps_while_nothing_moves_and_the_next_turn_wakes_it() {
    let _guard = alone();
    let (first, second) = (Words::at(0), Words::at(1));
    first.register();
    second.register();
    let tid = TID.load(Ordering::Relaxed);
    for _ in 0..3 {
        sleep(millis(100));
        let before = sleeps(tid);
        sleep(millis(300));
        assert_eq!(sleeps(tid), before, "it costs nothing");
        assert_eq!(first.limit.load(Ordering::Relaxed), 0);
        first.cursor.fetch_add(2, Ordering::Relaxed);
        first.check();
        soon("it woke and looked", || first.limit.load(Ordering::Relaxed) == 0);
    }
    unregister(first.slot);
    unregister(second.slot);
}

#[test]
fn a_forked_child_starts_its_own() {
    let _guard = alone();
    let (first, second) = (Words::at(0), Words::at(1));
    first.register();
    second.register();
    // SAFETY: the child calls no more than what may be called between fork and exit.
    let child = unsafe { libc::fork() };
    if child == 0 {
        after_fork_in_child();
        first.limit.store(9, Ordering::Relaxed);
        let had_none = TID.load(Ordering::Relaxed) == 0;
        first.register();
        second.register();
        let tid = TID.load(Ordering::Relaxed);
        first.cursor.fetch_add(2, Ordering::Relaxed);
        for _ in 0..1000 {
            sys::sleep(1_000_000);
            if first.limit.load(Ordering::Relaxed) == 0 {
                break;
            }
        }
        let is_good = had_none && tid != 0 && first.limit.load(Ordering::Relaxed) == 0;
        // SAFETY: ends the child.
        unsafe { libc::_exit(if is_good { 7 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: the child is ours, the status is writable.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(libc::WEXITSTATUS(status), 7, "{status:#x}");
    unregister(first.slot);
    unregister(second.slot);
}

/// Threads come and go while others move; the words of each are gone at once.
#[test]
fn words_of_ended_threads_are_left_alone() {
    let _guard = alone();
    let threads = (0..4).map(|slot| {
        std::thread::spawn(move || {
            for round in 0..200 {
                // In memory that holds something else at once.
                let words = Box::new(UnsafeCell::new(Words::at(slot)));
                // SAFETY: nobody else has a reference but the ticker, to the two words.
                let seen = unsafe { &*words.get() };
                seen.register();
                for _ in 0..round * 50 {
                    seen.cursor.fetch_add(2, Ordering::Relaxed);
                    seen.check();
                }
                unregister(slot);
                seen.limit.store(77, Ordering::Relaxed);
                std::thread::yield_now();
                assert_eq!(seen.limit.load(Ordering::Relaxed), 77);
            }
        })
    });
    threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().expect("it ends"));
    soon("it has ended", || TID.load(Ordering::Relaxed) == 0);
}

/// Each of many threads that wait is noted again and again, where no word follows its cursor and there is memory.
#[test]
fn threads_that_wait_are_noted_again_and_again() {
    const PAGE: usize = 4096;
    const THREADS: usize = 3 * BATCH + 5;
    let _guard = alone();
    // A page for the header and one for the words of each, and a last one that is no memory.
    let len = 2 * PAGE * THREADS;
    let memory = sys::map_anonymous(len + PAGE).expect("memory");
    // SAFETY: the pages are ours.
    assert_eq!(unsafe { libc::munmap(memory.add(len).cast(), PAGE) }, 0);
    let [no_memory, a_word_follows] = [40, 41];
    let ring = |thread: usize| {
        let start = memory.addr() + 2 * PAGE * thread;
        let data = if thread == no_memory { memory.addr() + len } else { start + PAGE };
        Ring { header: memory.wrapping_add(2 * PAGE * thread).cast(), addresses: data..data + PAGE }
    };
    // SAFETY: the page is ours.
    unsafe { memory.add((2 * a_word_follows + 1) * PAGE).cast::<u16>().write(7) };
    let threads: Vec<Words> = (0..THREADS).map(Words::at).collect();
    for words in &threads {
        let ring = ring(words.slot);
        words.cursor.store(ring.addresses.start, Ordering::Relaxed);
        words.limit.store(0, Ordering::Relaxed);
        // SAFETY: as in `Words::register`; the pages stay mapped until they are unregistered.
        unsafe { register(words.slot, words.cursor.as_ptr(), words.limit.as_ptr(), Some(ring)) };
    }
    // The last pause of a thread, if it is whole.
    let until = |thread: usize| {
        let pauses = memory.wrapping_add(2 * PAGE * thread + layout::PAUSES_OFFSET).cast::<[u64; 4]>();
        let pauses = (0..layout::PAUSES).map(|pause| {
            // SAFETY: the page is ours, and the ticker writes it through the kernel.
            unsafe { pauses.add(pause).read_volatile() }
        });
        pauses.filter(|[at, _, until, check]| *at == 1 && !until == *check).map(|pause| pause[2]).max()
    };
    for _ in 0..3 {
        let since = now();
        let is_noted = |thread: &usize| until(*thread).is_some_and(|until| until > since);
        // The ticker may look meanwhile.
        for _ in 0..20 {
            look_at_all(sys::tid());
            sleep(millis(1));
        }
        assert_eq!((0..THREADS).filter(is_noted).count(), THREADS - 2);
    }
    assert_eq!((until(no_memory), until(a_word_follows)), (None, None));
    threads.iter().for_each(|words| unregister(words.slot));
    // SAFETY: nobody uses the pages any longer.
    unsafe { libc::munmap(memory.cast(), len) };
}

/// What the ticker costs beside threads that wait, while another moves all the time, or not at all:
/// `cargo test -p xhist-rt --release --features std,trace --lib ticker::tests::beside -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn beside_threads_that_wait() {
    const PAGE: usize = 4096;
    let _guard = alone();
    for waiting in [1, 16, 64, 200, 1000] {
        let memory = sys::map_anonymous(2 * PAGE * waiting).expect("memory");
        let threads: Vec<Words> = (0..waiting).map(Words::at).collect();
        let busy = Words::at(waiting);
        busy.register();
        for words in &threads {
            let header = memory.wrapping_add(2 * PAGE * words.slot);
            let data = header.addr() + PAGE;
            words.cursor.store(data, Ordering::Relaxed);
            words.limit.store(0, Ordering::Relaxed);
            let ring = Ring { header: header.cast(), addresses: data..data + PAGE };
            // SAFETY: as in `Words::register`; the pages stay mapped until they are unregistered.
            unsafe { register(words.slot, words.cursor.as_ptr(), words.limit.as_ptr(), Some(ring)) };
        }
        let tid = TID.load(Ordering::Relaxed);
        let nanos = || -> u64 {
            let text = fs::read_to_string(format!("/proc/self/task/{tid}/schedstat")).expect("a thread");
            text.split_whitespace().next().and_then(|nanos| nanos.parse().ok()).expect("a number")
        };
        for is_moving in [true, false] {
            sleep(millis(50));
            let (before, times, begun) = (nanos(), sleeps(tid), Instant::now());
            while begun.elapsed() < millis(2000) {
                if is_moving {
                    busy.cursor.fetch_add(2, Ordering::Relaxed);
                    busy.check();
                } else {
                    sleep(millis(100));
                }
            }
            let seconds = begun.elapsed().as_secs_f64();
            println!(
                "{waiting} threads wait, {}: {:.2} % of a core, {:.0} ticks/s",
                if is_moving { "one moves" } else { "none moves" },
                (nanos() - before) as f64 / 1e7 / seconds,
                (sleeps(tid) - times) as f64 / seconds,
            );
        }
        threads.iter().chain([&busy]).for_each(|words| unregister(words.slot));
        // SAFETY: nobody uses the pages any longer.
        unsafe { libc::munmap(memory.cast(), 2 * PAGE * waiting) };
    }
}

/// What the ticker costs two busy threads, and what it would cost them to reach the limit in shared memory:
/// `cargo test -p xhist-rt --release --features std,trace --lib ticker::tests::cost -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn cost() {
    const BYTES: usize = 1 << 18;
    const ROUNDS: u32 = 15;
    /// A thread's words, as the hot path has them.
    #[repr(C)]
    struct Hot {
        cursor: *mut u16,
        limit: usize,
        shared: *mut usize,
    }
    /// Writes three words a round, with a check at its head. `IS_FAR`: the limit is reached through a pointer.
    #[inline(never)]
    fn write<const IS_FAR: bool>(hot: &mut Hot, start: *mut u16, rounds: u64) -> u64 {
        let (mut turns, mut sum) = (0, 0u64);
        for round in 0..rounds {
            let mut cursor = hot.cursor;
            // SAFETY: the words are this thread's and the ticker's; the ring has room behind its limit.
            unsafe {
                let limit = match IS_FAR {
                    true => (&raw const hot.shared).read_volatile().read_volatile(),
                    false => (&raw const hot.limit).read_volatile(),
                };
                if cursor.addr() >= limit {
                    turns += 1;
                    if cursor.addr() >= start.addr() + BYTES - 4096 {
                        cursor = start;
                    }
                    let limit = start.addr() + BYTES - 4096;
                    (&raw mut hot.limit).write_volatile(limit);
                    hot.shared.write_volatile(limit);
                    std::hint::black_box((sys::counter(), on_turn()));
                }
                for word in 0..3 {
                    cursor.add(word).write((round as u16) | 1);
                }
                (&raw mut hot.cursor).write_volatile(cursor.add(3));
            }
            // Something that the program does.
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(round));
        }
        turns
    }
    fn cpu() -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is writable.
        unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
    /// CPU time of two threads in nanoseconds, and their turns.
    fn run(is_far: bool, is_ticked: bool) -> (u64, u64) {
        let go = AtomicBool::new(false);
        let (mut nanos, mut turns) = (0, 0);
        std::thread::scope(|scope| {
            let thread = |slot: usize| {
                let go = &go;
                scope.spawn(move || {
                    let mut ring = vec![0u16; BYTES / 2];
                    let mut shared = Box::new(0usize);
                    let start = ring.as_mut_ptr();
                    let mut hot = Box::new(Hot { cursor: start, limit: 0, shared: &mut *shared });
                    let limit = if is_far { hot.shared } else { &raw mut hot.limit };
                    if is_ticked {
                        // SAFETY: both words live until the thread unregisters.
                        unsafe { register(slot, (&raw const hot.cursor).cast(), limit, None) };
                    }
                    while !go.load(Ordering::Relaxed) {
                        std::thread::yield_now();
                    }
                    const WORK: u64 = 60_000_000;
                    let turns = match is_far {
                        true => write::<true>(&mut hot, start, WORK),
                        false => write::<false>(&mut hot, start, WORK),
                    };
                    unregister(slot);
                    turns
                })
            };
            let threads = [thread(0), thread(1)];
            let before = cpu();
            go.store(true, Ordering::Relaxed);
            turns = threads.into_iter().map(|thread| thread.join().expect("it ends")).sum();
            nanos = cpu() - before;
        });
        (nanos, turns)
    }
    let _guard = alone();
    let kinds = [(false, false), (false, true), (true, false), (true, true)];
    let mut all = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        for (kind, runs) in kinds.iter().zip(&mut all) {
            runs.push(run(kind.0, kind.1));
        }
    }
    let best = |runs: &[(u64, u64)]| runs.iter().map(|run| run.0).min().expect("some") as f64;
    let plain = best(&all[0]);
    for (kind, runs) in kinds.iter().zip(&all) {
        let mut ratios: Vec<f64> =
            runs.iter().zip(&all[0]).map(|(run, plain)| run.0 as f64 / plain.0 as f64).collect();
        ratios.sort_by(f64::total_cmp);
        println!(
            "limit {}, {}: {:.1} ms, {:.3} times plain (median of ratios {:.3}), {} turns",
            if kind.0 { "in shared memory" } else { "in the thread's words" },
            if kind.1 { "ticked" } else { "plain" },
            best(runs) / 1e6,
            best(runs) / plain,
            ratios[ratios.len() / 2],
            runs[0].1,
        );
    }
}
