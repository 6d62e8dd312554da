//! Tests of the ticker with threads that only have cursor and limit. One process has one ticker, so the tests run one
//! after another.

use std::cell::UnsafeCell;
use std::fs;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::*;
use crate::hosted::setup::clock;

static ONE: Mutex<()> = Mutex::new(());

/// Until the guard is dropped, no other test has threads for the ticker.
pub(in crate::hosted) fn alone() -> MutexGuard<'static, ()> {
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    clock::choose();
    guard
}

/// Cursor and limit of a thread, in a slot.
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
        // SAFETY: the words are atomic, and the tests unregister them before they drop them.
        unsafe { register(self.slot, self.cursor.as_ptr(), self.limit.as_ptr(), None) };
    }

    /// A check, at which the thread rolls over if it has to.
    fn check(&self) {
        if self.limit.load(Ordering::Relaxed) == 0 {
            self.limit.store(9, Ordering::Relaxed);
            on_roll_over();
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

/// Number of times that the ticker slept.
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
    let (begun, mut roll_overs) = (Instant::now(), 0);
    // On a busy machine the ticker runs more rarely.
    while roll_overs < 100 && begun.elapsed() < millis(20_000) {
        busy.cursor.fetch_add(2, Ordering::Relaxed);
        roll_overs += u32::from(busy.limit.load(Ordering::Relaxed) == 0);
        busy.check();
    }
    let taken = begun.elapsed();
    assert!(roll_overs == 100 && taken > millis(60), "{roll_overs} roll-overs in {taken:?}");
    assert_eq!(idle.limit.load(Ordering::Relaxed), 0, "it is stamped when it wakes");
    unregister(busy.slot);
    unregister(idle.slot);
}

#[test]
fn it_sleeps_while_nothing_moves_and_the_next_roll_over_wakes_it() {
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
    // SAFETY: the child only makes calls that are allowed between fork and exit.
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
        // SAFETY: the call ends the child.
        unsafe { libc::_exit(if is_good { 7 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: the test has forked the child, and the status is writable.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(libc::WEXITSTATUS(status), 7, "{status:#x}");
    unregister(first.slot);
    unregister(second.slot);
}

/// Threads come and go while others move. The words of each are freed at once.
#[test]
fn the_ticker_leaves_words_of_ended_threads_alone() {
    let _guard = alone();
    let threads = (0..4).map(|slot| {
        std::thread::spawn(move || {
            for round in 0..200 {
                // The words are in memory that holds other values afterwards.
                let words = Box::new(UnsafeCell::new(Words::at(slot)));
                // SAFETY: besides the ticker, only this thread has a reference to the two words.
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

/// Each of many waiting threads is noted repeatedly, if no word follows its cursor and there is memory.
#[test]
fn waiting_threads_are_noted_repeatedly() {
    const PAGE: usize = 4096;
    const THREADS: usize = 3 * BATCH + 5;
    let _guard = alone();
    // A page for the header and one for the words of each, and a last one without memory.
    let len = 2 * PAGE * THREADS;
    let memory = sys::map_anonymous(len + PAGE).expect("memory");
    // SAFETY: the test has mapped the pages.
    assert_eq!(unsafe { libc::munmap(memory.add(len).cast(), PAGE) }, 0);
    let [no_memory, a_word_follows] = [40, 41];
    let ring = |thread: usize| {
        let start = memory.addr() + 2 * PAGE * thread;
        let data = if thread == no_memory { memory.addr() + len } else { start + PAGE };
        WatchedRing { header: memory.wrapping_add(2 * PAGE * thread).cast(), addresses: data..data + PAGE }
    };
    // SAFETY: the test has mapped the page.
    unsafe { memory.add((2 * a_word_follows + 1) * PAGE).cast::<u16>().write(7) };
    let threads: Vec<Words> = (0..THREADS).map(Words::at).collect();
    for words in &threads {
        let ring = ring(words.slot);
        words.cursor.store(ring.addresses.start, Ordering::Relaxed);
        words.limit.store(0, Ordering::Relaxed);
        // SAFETY: the words are atomic, and the pages stay mapped until the slots are unregistered.
        unsafe { register(words.slot, words.cursor.as_ptr(), words.limit.as_ptr(), Some(ring)) };
    }
    // The last pause of a thread, if it is complete.
    let until = |thread: usize| {
        let pauses = memory.wrapping_add(2 * PAGE * thread + layout::PAUSES_OFFSET).cast::<[u64; 4]>();
        let pauses = (0..layout::PAUSES).map(|pause| {
            // SAFETY: the test has mapped the page, and the ticker writes it through the kernel.
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
    // SAFETY: the slots are unregistered, so the pages have no user.
    unsafe { libc::munmap(memory.cast(), len) };
}

/// The cost of the ticker beside waiting threads, while another thread moves all the time, or not at all:
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
            let ring = WatchedRing { header: header.cast(), addresses: data..data + PAGE };
            // SAFETY: the words are atomic, and the pages stay mapped until the slots are unregistered.
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
        // SAFETY: the slots are unregistered, so the pages have no user.
        unsafe { libc::munmap(memory.cast(), 2 * PAGE * waiting) };
    }
}

/// The cost of the ticker for two busy threads, and the cost if the limit were in shared memory:
/// `cargo test -p xhist-rt --release --features std,trace --lib ticker::tests::cost -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn cost() {
    const BYTES: usize = 1 << 18;
    const ROUNDS: u32 = 15;
    /// Cursor and limit of a thread, as the fast path has them.
    #[repr(C)]
    struct Hot {
        cursor: *mut u16,
        limit: usize,
        shared: *mut usize,
    }
    /// Writes three words per round, with a check at its head. `IS_FAR`: the limit is reached through a pointer.
    #[inline(never)]
    fn write<const IS_FAR: bool>(hot: &mut Hot, start: *mut u16, rounds: u64) -> u64 {
        let (mut roll_overs, mut sum) = (0, 0u64);
        for round in 0..rounds {
            let mut cursor = hot.cursor;
            // SAFETY: only this thread and the ticker use the words. The ring has room behind its limit.
            unsafe {
                let limit = match IS_FAR {
                    true => (&raw const hot.shared).read_volatile().read_volatile(),
                    false => (&raw const hot.limit).read_volatile(),
                };
                if cursor.addr() >= limit {
                    roll_overs += 1;
                    if cursor.addr() >= start.addr() + BYTES - 4096 {
                        cursor = start;
                    }
                    let limit = start.addr() + BYTES - 4096;
                    (&raw mut hot.limit).write_volatile(limit);
                    hot.shared.write_volatile(limit);
                    std::hint::black_box((counter::counter(), on_roll_over()));
                }
                for word in 0..3 {
                    cursor.add(word).write((round as u16) | 1);
                }
                (&raw mut hot.cursor).write_volatile(cursor.add(3));
            }
            // The program's own work.
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(round));
        }
        roll_overs
    }
    fn cpu() -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is writable.
        unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
    /// CPU time of two threads in nanoseconds, and their roll-overs.
    fn run(is_far: bool, is_ticked: bool) -> (u64, u64) {
        let go = AtomicBool::new(false);
        let (mut nanos, mut roll_overs) = (0, 0);
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
                    let roll_overs = match is_far {
                        true => write::<true>(&mut hot, start, WORK),
                        false => write::<false>(&mut hot, start, WORK),
                    };
                    unregister(slot);
                    roll_overs
                })
            };
            let threads = [thread(0), thread(1)];
            let before = cpu();
            go.store(true, Ordering::Relaxed);
            roll_overs = threads.into_iter().map(|thread| thread.join().expect("it ends")).sum();
            nanos = cpu() - before;
        });
        (nanos, roll_overs)
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
            "limit {}, {}: {:.1} ms, {:.3} times plain (median of ratios {:.3}), {} roll-overs",
            if kind.0 { "in shared memory" } else { "in the thread's words" },
            if kind.1 { "ticked" } else { "plain" },
            best(runs) / 1e6,
            best(runs) / plain,
            ratios[ratios.len() / 2],
            runs[0].1,
        );
    }
}
