//! Tests of lanes with a small user: one ring per thread, one lane per level, words of one unit.

use core::cell::{Cell, UnsafeCell};
use core::ffi::{c_int, c_void};
use core::hint::black_box;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicIsize, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::catch;
use super::entries::foreign_handlers;
use crate::hosted::system::lanes::{
    LANES, LaneUser, Lanes, WriteRange, frontier, set_lane_user, settle_lanes,
};
use crate::hosted::system::mirror::Region;
use crate::hosted::system::{mirror, scratch};

/// Bytes of a ring.
const SIZE: usize = 8 << 20;

/// A recorded thread.
struct Thread {
    words: UnsafeCell<WriteRange>,
    lanes: UnsafeCell<Lanes>,
    ring: Region,
    lane: [Region; LANES],
    /// Where the next handler of each level writes.
    next: [Cell<*mut u8>; LANES],
    /// For each handler: its level, and the frontier of the interrupted words.
    opened: AtomicUsize,
    last: Cell<(usize, *mut u8)>,
    closed: AtomicUsize,
}

std::thread_local! {
    static THREAD: Cell<*const Thread> = const { Cell::new(core::ptr::null()) };
}

static LOST: AtomicU32 = AtomicU32::new(0);

static LANE_USER: LaneUser = LaneUser {
    thread: || thread().map(|thread| (thread.words.get(), thread.lanes.get())),
    open: |level, interrupted| {
        let thread = thread().expect("a thread with lanes");
        thread.opened.fetch_add(1, Ordering::Relaxed);
        if scratch::scratch_again(interrupted).is_none() {
            // SAFETY: the cursor is in a ring with zeros behind the words.
            thread.last.set((level, unsafe { frontier(interrupted) }));
        }
        WriteRange { cursor: thread.next[level - 1].get(), limit: null_mut() }
    },
    close: |level, words| {
        let thread = thread().expect("a thread with lanes");
        thread.closed.fetch_add(1, Ordering::Relaxed);
        thread.next[level - 1].set(words.cursor);
        false
    },
    set_aside: |is_begin| {
        ASIDE.fetch_add(if is_begin { 1 } else { -1 }, Ordering::Relaxed);
        LOST.fetch_add(is_begin.into(), Ordering::Relaxed);
    },
    lose: |_| {
        LOST.fetch_add(1, Ordering::Relaxed);
    },
    end_early: |_| unreachable!("these threads have lanes"),
};
/// Number of handlers without a lane that have not ended.
static ASIDE: AtomicIsize = AtomicIsize::new(0);

fn thread() -> Option<&'static Thread> {
    // SAFETY: the pointer is null or that of a leaked thread.
    unsafe { THREAD.get().as_ref() }
}

/// Records the calling thread from now on.
fn record() -> &'static Thread {
    set_lane_user(&LANE_USER);
    let region = || mirror::map(SIZE, 0).expect("memory");
    let (ring, lane): (Region, [Region; LANES]) = (region(), core::array::from_fn(|_| region()));
    let thread = Box::leak(Box::new(Thread {
        words: UnsafeCell::new(WriteRange { cursor: ring.data(), limit: null_mut() }),
        // SAFETY: all zeros are valid lanes.
        lanes: UnsafeCell::new(unsafe { core::mem::zeroed() }),
        ring,
        next: lane.map(|lane| Cell::new(lane.data())),
        lane,
        opened: AtomicUsize::new(0),
        last: Cell::new((0, null_mut())),
        closed: AtomicUsize::new(0),
    }));
    THREAD.set(thread);
    thread
}

impl Thread {
    fn words(&self) -> WriteRange {
        // SAFETY: the words are this thread's, and handlers restore them.
        unsafe { self.words.get().read_volatile() }
    }

    fn level(&self) -> usize {
        // SAFETY: the lanes are this thread's, and handlers restore them.
        unsafe { (*self.lanes.get()).level() }
    }

    /// Does what a check does.
    #[inline(never)]
    fn roll_over(&self) -> bool {
        let here = 0usize;
        // SAFETY: words and lanes are this thread's.
        unsafe { settle_lanes(self.words.get(), self.lanes.get(), (&raw const here).addr()) }
    }

    /// Records a statement: a byte of 1 and this byte.
    fn s(&self, word: u8) {
        let WriteRange { cursor, limit } = self.words();
        // SAFETY: the cursor is in a ring or a lane, which are large.
        unsafe {
            cursor.cast::<[u8; 2]>().write_volatile([1, word]);
            self.words.get().write_volatile(WriteRange { cursor: cursor.wrapping_add(2), limit });
        }
    }

    fn clear(&self) {
        // SAFETY: the regions have these bytes, and no handler runs.
        unsafe {
            self.ring.data().write_bytes(0, self.words().cursor.addr() - self.ring.data().addr() + 64);
            for (lane, next) in self.lane.into_iter().zip(&self.next) {
                lane.data().write_bytes(0, next.get().addr() - lane.data().addr());
            }
        }
        self.next.iter().zip(self.lane).for_each(|(next, lane)| next.set(lane.data()));
        // SAFETY: the words are this thread's.
        unsafe { self.words.get().write(WriteRange { cursor: self.ring.data(), limit: null_mut() }) };
    }

    /// The words of a region up to a cursor, without the first byte of each word.
    fn read(region: Region, end: *mut u8) -> Vec<u8> {
        let len = end.addr() - region.data().addr();
        // SAFETY: the region has these bytes.
        let bytes = unsafe { core::slice::from_raw_parts(region.data(), len) };
        bytes.chunks(2).map(|unit| if unit[0] == 1 { unit[1] } else { 0 }).collect()
    }
}

unsafe extern "C-unwind" {
    fn raise(signal: c_int) -> c_int;
}

unsafe extern "C" {
    #[cfg_attr(target_os = "linux", link_name = "__sigsetjmp")]
    fn sigsetjmp(buffer: *mut c_int, savemask: c_int) -> c_int;
    fn siglongjmp(buffer: *mut c_int, value: c_int) -> !;
}

/// Installs a handler as a program does: through the C library's name, or directly if the recorder does not define
/// it.
fn handle(signal: c_int, handler: usize, flags: c_int) {
    // SAFETY: all zeros are a valid action, and the handler is a function that fits the flags.
    unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = flags;
        super::entries::to_kernel(signal, &mut action);
        assert!(super::actions::set_kernel_action(signal, &action));
    }
}

/// The tests run one after another, because actions belong to the process.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Number of statements of the storm's handler.
const IN_HANDLER: [u8; 6] = [101, 102, 103, 103, 103, 104];

extern "C" fn storms(_: c_int) {
    let Some(thread) = thread() else { return };
    thread.s(101);
    let n = black_box(3);
    thread.s(102);
    for _ in 0..n {
        thread.s(103);
        // This takes long enough for another signal.
        (0..n * 20).for_each(|at| _ = black_box(at));
    }
    thread.s(104);
}

/// A loop that keeps its cursor in a register from begin to end: the most that a compiler may do.
#[inline(never)]
fn works(thread: &Thread, data: &mut [u64; 64]) -> u64 {
    let mut cursor = thread.words().cursor;
    let mut s = |word: u8| {
        // SAFETY: the ring is large enough for all rounds.
        unsafe { cursor.cast::<[u8; 2]>().write([1, word]) };
        cursor = cursor.wrapping_add(2);
    };
    s(1);
    let mut sum = 0u64;
    for item in data.iter_mut() {
        s(2);
        sum = sum.wrapping_add(*item);
        if sum & 1 == 0 {
            s(3);
            *item ^= sum;
        } else {
            s(4);
            sum ^= 3;
        }
        s(5);
        sum = sum.rotate_left(7);
    }
    s(6);
    let limit = thread.words().limit;
    // SAFETY: words and lanes are this thread's.
    unsafe { thread.words.get().write_volatile(WriteRange { cursor, limit }) };
    sum
}

/// Starts a timer for the calling thread, which only Linux has: this signal at each interval, in nanoseconds.
#[cfg(target_os = "linux")]
fn start(signal: c_int, every: i64) -> libc::timer_t {
    // SAFETY: all zeros are a valid event, and all places are writable.
    unsafe {
        let (mut event, mut timer): (libc::sigevent, libc::timer_t) = core::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal;
        event.sigev_notify_thread_id = libc::syscall(libc::SYS_gettid) as c_int;
        assert_eq!(libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer), 0);
        let every = libc::timespec { tv_sec: 0, tv_nsec: every };
        let times = libc::itimerspec { it_interval: every, it_value: every };
        assert_eq!(libc::timer_settime(timer, 0, &times, null_mut()), 0);
        timer
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_storm_damages_neither_history() {
    let _alone = alone();
    let thread = record();
    let rounds = || {
        let mut data = [black_box(0x1234_5678_9ABC_DEF1u64); 64];
        let mut sum = 0;
        for _ in 0..8_000 {
            sum ^= works(thread, &mut data);
        }
        black_box(sum);
    };
    rounds();
    let end = thread.words().cursor;
    let len = end.addr() - thread.ring.data().addr();
    // SAFETY: the ring has these bytes.
    let truth = unsafe { core::slice::from_raw_parts(thread.ring.data(), len) }.to_vec();
    for signal in [libc::SIGUSR1, libc::SIGUSR2] {
        handle(signal, storms as *const () as usize, libc::SA_RESTART);
    }
    // 20,000 signals per second together, for this thread.
    let timers =
        [(libc::SIGUSR1, 130_000), (libc::SIGUSR2, 81_000)].map(|(signal, every)| start(signal, every));
    let (begin, mut runs, mut handlers, mut nested) = (Instant::now(), 0, 0, 0);
    while begin.elapsed() < Duration::from_secs(3) {
        let mut set = core::mem::MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: the set is initialised by the first call.
        unsafe {
            libc::sigfillset(set.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), null_mut());
            thread.clear();
            libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), null_mut());
            rounds();
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), null_mut());
        }
        assert_eq!(thread.words().cursor, end);
        // SAFETY: the ring has these bytes, and nothing writes them now.
        let words = unsafe { core::slice::from_raw_parts(thread.ring.data(), len) };
        assert!(words == truth, "the interrupted history is damaged in run {runs}");
        for (level, (lane, next)) in thread.lane.into_iter().zip(&thread.next).enumerate() {
            let words = Thread::read(lane, next.get());
            assert_eq!(words.len() % IN_HANDLER.len(), 0, "level {level}");
            assert!(
                words.chunks(IN_HANDLER.len()).all(|words| words == IN_HANDLER),
                "level {level} is damaged"
            );
            handlers += words.len() / IN_HANDLER.len();
            nested += if level > 0 { words.len() / IN_HANDLER.len() } else { 0 };
        }
        // SAFETY: the ring has these bytes, and nothing writes them now.
        unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), null_mut()) };
        runs += 1;
    }
    for timer in timers {
        // SAFETY: the timer exists.
        unsafe { libc::timer_delete(timer) };
    }
    println!("{runs} runs of {} bytes, {handlers} handlers, {nested} nested", truth.len());
    assert!(handlers > 1000 && nested > 10, "{handlers} handlers, {nested} nested");
    assert_eq!(thread.opened.load(Ordering::Relaxed), thread.closed.load(Ordering::Relaxed));
    THREAD.set(core::ptr::null());
}

/// What a handler observed: its level, and whether the roll-over left the lane.
static SEEN: AtomicUsize = AtomicUsize::new(0);
static LEFT: AtomicBool = AtomicBool::new(false);

/// The frames are small, as most are. If a frame has a large array that it never writes, a roll-over may find the
/// mark of the handler's old frame in it.
#[inline(never)]
fn deep(thread: &Thread, levels: usize) -> bool {
    let left = if levels == 0 { thread.roll_over() } else { deep(thread, levels - 1) };
    black_box(left)
}

extern "C" fn looks(_: c_int) {
    let Some(thread) = thread() else { return };
    thread.s(50);
    SEEN.store(thread.level(), Ordering::Relaxed);
    LEFT.store(thread.roll_over() || deep(thread, 300), Ordering::Relaxed);
    thread.s(51);
}

#[test]
fn a_roll_over_in_a_handler_stays_on_the_lane() {
    let _alone = alone();
    let thread = record();
    with_signal_stack(|| {
        for flags in [0, libc::SA_ONSTACK] {
            handle(libc::SIGUSR1, looks as *const () as usize, flags);
            thread.s(1);
            let before = thread.words();
            // SAFETY: has no conditions.
            unsafe { raise(libc::SIGUSR1) };
            assert_eq!(thread.words(), before);
            assert_eq!(
                (SEEN.load(Ordering::Relaxed), LEFT.load(Ordering::Relaxed), thread.level()),
                (1, false, 0)
            );
            assert_eq!(thread.last.get(), (1, before.cursor));
        }
    });
    assert_eq!(Thread::read(thread.lane[0], thread.next[0].get()), [50, 51, 50, 51]);
    assert_eq!(Thread::read(thread.ring, thread.words().cursor), [1, 1]);
    THREAD.set(core::ptr::null());
}

fn with_signal_stack(run: impl FnOnce()) {
    let room = vec![0u8; 1 << 18].leak();
    let stack = libc::stack_t { ss_sp: room.as_mut_ptr().cast(), ss_flags: 0, ss_size: room.len() };
    let mut before = libc::stack_t { ss_sp: null_mut(), ss_flags: 0, ss_size: 0 };
    // SAFETY: the stack is leaked, and the previous one is restored.
    unsafe {
        assert_eq!(libc::sigaltstack(&stack, &mut before), 0);
        run();
        assert_eq!(libc::sigaltstack(&before, null_mut()), 0);
    }
}

struct Buffer(UnsafeCell<[u64; 64]>);
// SAFETY: only one test at a time uses it.
unsafe impl Sync for Buffer {}
static BUFFER: Buffer = Buffer(UnsafeCell::new([0; 64]));

extern "C" fn jumps(_: c_int) {
    let Some(thread) = thread() else { return };
    thread.s(60);
    // SAFETY: the function of the buffer has not returned.
    unsafe { siglongjmp(BUFFER.0.get().cast(), 1) }
}

/// Raises a signal whose handler jumps back here.
#[inline(never)]
fn raise_and_come_back() {
    // SAFETY: no value here is needed after the second return.
    unsafe {
        if sigsetjmp(BUFFER.0.get().cast(), 1) == 0 {
            raise(libc::SIGUSR1);
            unreachable!("the handler jumps");
        }
    }
}

#[test]
fn the_end_of_a_handler_that_jumps_away_is_detected() {
    let _alone = alone();
    let thread = record();
    with_signal_stack(|| {
        for flags in [0, libc::SA_ONSTACK] {
            for turn_at in [0, 200, 1000] {
                handle(libc::SIGUSR1, jumps as *const () as usize, flags);
                thread.clear();
                thread.s(1);
                thread.s(2);
                let cursor = thread.words().cursor;
                // One word is not published yet.
                // SAFETY: the ring continues there.
                unsafe { cursor.cast::<[u8; 2]>().write_volatile([1, 3]) };
                raise_and_come_back();
                assert_eq!(thread.level(), 1, "no code has detected it yet");
                thread.s(4);
                assert!(if turn_at == 0 { thread.roll_over() } else { deep(thread, turn_at) });
                assert_eq!((thread.level(), thread.words().cursor), (0, cursor.wrapping_add(2)));
                thread.s(5);
                assert_eq!(Thread::read(thread.ring, thread.words().cursor), [1, 2, 3, 5]);
                assert_eq!(Thread::read(thread.lane[0], thread.next[0].get()), [60, 4]);
                assert!(!thread.roll_over(), "there is nothing left to do");
            }
            // The next handler detects that the last one has ended.
            for _ in 0..40 {
                raise_and_come_back();
                assert_eq!(thread.level(), 1);
            }
            handle(libc::SIGUSR1, looks as *const () as usize, flags);
            // SAFETY: has no conditions.
            unsafe { raise(libc::SIGUSR1) };
            assert_eq!((thread.level(), SEEN.load(Ordering::Relaxed)), (0, 1));
        }
    });
    THREAD.set(core::ptr::null());
}

#[test]
#[cfg(all(not(feature = "portable"), target_os = "linux", target_env = "gnu"))]
fn the_end_of_a_handler_that_unwinds_is_detected() {
    extern "C-unwind" fn unwinds(_: c_int) {
        if let Some(thread) = thread() {
            thread.s(70);
            std::panic::resume_unwind(Box::new(7));
        }
    }

    let _alone = alone();
    let thread = record();
    handle(libc::SIGUSR1, unwinds as *const () as usize, libc::SA_NODEFER);
    for round in 1..4 {
        thread.s(round);
        // SAFETY: has no conditions.
        let result = std::panic::catch_unwind(|| unsafe { raise(libc::SIGUSR1) });
        assert_eq!(result.expect_err("a panic").downcast_ref::<i32>(), Some(&7));
        assert_eq!(thread.level(), 1);
        assert!(thread.roll_over());
    }
    assert_eq!(Thread::read(thread.ring, thread.words().cursor), [1, 2, 3]);
    assert_eq!(Thread::read(thread.lane[0], thread.next[0].get()), [70; 3]);
    THREAD.set(core::ptr::null());
}

static DEPTH: AtomicUsize = AtomicUsize::new(0);

extern "C" fn nests(signal: c_int) {
    let Some(thread) = thread() else { return };
    let depth = DEPTH.fetch_add(1, Ordering::Relaxed) + 1;
    thread.s(depth as u8);
    if depth < 20 {
        // SAFETY: has no conditions.
        unsafe { raise(signal) };
    }
    thread.s(depth as u8);
}

#[test]
fn each_level_has_a_lane_while_there_are_lanes() {
    let _alone = alone();
    let thread = record();
    handle(libc::SIGUSR1, nests as *const () as usize, libc::SA_NODEFER);
    let (before, lost) = (thread.words(), LOST.load(Ordering::Relaxed));
    // SAFETY: has no conditions.
    unsafe { raise(libc::SIGUSR1) };
    assert_eq!((thread.words(), thread.level()), (before, 0));
    for level in 0..LANES {
        let words = Thread::read(thread.lane[level], thread.next[level].get());
        assert_eq!(words, [level as u8 + 1; 2]);
    }
    assert_eq!(LOST.load(Ordering::Relaxed) - lost, 20 - LANES as u32);
    assert_eq!(ASIDE.load(Ordering::Relaxed), 0);
    THREAD.set(core::ptr::null());
}

/// The handler of SIGBUS leaves the next signal pending. Then another handler starts, on a lane of its own.
#[test]
fn a_handler_of_faults_never_interrupts_itself() {
    static MOST: AtomicUsize = AtomicUsize::new(0);
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn raises_again(signal: c_int) {
        MOST.fetch_max(DEPTH.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        if STARTED.fetch_add(1, Ordering::Relaxed) < 20 {
            // SAFETY: has no conditions.
            unsafe {
                raise(signal);
                raise(libc::SIGUSR1);
            }
        }
        DEPTH.fetch_sub(1, Ordering::Relaxed);
    }
    let _alone = alone();
    let thread = record();
    DEPTH.store(0, Ordering::Relaxed);
    handle(libc::SIGUSR1, looks as *const () as usize, 0);
    for signal in [libc::SIGBUS, libc::SIGSEGV] {
        let before = super::actions::kernel_action(signal).expect("an action");
        [&MOST, &STARTED].into_iter().for_each(|count| count.store(0, Ordering::Relaxed));
        handle(signal, raises_again as *const () as usize, 0);
        // SAFETY: has no conditions.
        unsafe { raise(signal) };
        assert!(super::actions::set_kernel_action(signal, &before));
        let seen = [&STARTED, &MOST].map(|count| count.load(Ordering::Relaxed));
        assert_eq!((seen, thread.level()), ([21, 1], 0), "signal {signal}");
    }
    THREAD.set(core::ptr::null());
}

#[test]
fn a_ring_grows_when_a_store_finds_its_guard() {
    let _alone = alone();
    catch(libc::SIGSEGV, mirror::on_fault);
    let region = mirror::map(64 << 10, 4096).expect("memory");
    let (data, before) = (region.data(), mirror::times_grown());
    for at in (0..1 << 20).step_by(2) {
        // SAFETY: the handler maps more memory behind the mirror.
        unsafe { data.wrapping_add(at).cast::<u16>().write_volatile(1 + at as u16) };
    }
    assert_eq!(mirror::times_grown() - before, (1 << 20) / (64 << 10) - 2);
    // SAFETY: these are the data of the region.
    assert_eq!(unsafe { data.wrapping_add(16).cast::<u16>().read_volatile() }, 17);
    // A store far outside, like that of a program with a wild pointer.
    // SAFETY: the signal ends the child.
    let status = unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::signal(libc::SIGSEGV, libc::SIG_DFL);
            catch(libc::SIGSEGV, mirror::on_fault);
            data.wrapping_add((64 << 20) + (128 << 10) - 1).write_volatile(1);
            libc::_exit(0);
        }
        let mut status = 0;
        libc::waitpid(child, &mut status, 0);
        status
    };
    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSEGV, "{status:x}");
}

/// The signals that the calling thread blocks, among those of the next test.
fn blocked() -> [bool; 3] {
    // SAFETY: all zeros are a set, which the call fills.
    unsafe {
        let mut set: libc::sigset_t = core::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, core::ptr::null(), &mut set);
        [libc::SIGSEGV, libc::SIGUSR1, libc::SIGUSR2].map(|signal| libc::sigismember(&set, signal) == 1)
    }
}

/// The recorder looks at a fault with all signals blocked. The program notices nothing of that.
#[test]
fn a_handler_of_faults_runs_with_the_mask_of_the_program() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn see(_: c_int) {
        SEEN.store(
            blocked().iter().fold(1, |seen, is_blocked| seen << 1 | usize::from(*is_blocked)),
            Ordering::Relaxed,
        );
    }
    let _alone = alone();
    catch(libc::SIGSEGV, mirror::on_fault);
    let before = super::actions::kernel_action(libc::SIGSEGV).expect("an action");
    for (flags, seen) in [(0, 0b1101), (libc::SA_NODEFER, 0b1001)] {
        // SAFETY: all zeros are a valid action, and the handler only reads the mask.
        let (shown, in_kernel) = unsafe {
            let mut action: libc::sigaction = core::mem::zeroed();
            action.sa_sigaction = see as *const () as usize;
            action.sa_flags = flags;
            libc::sigaddset(&mut action.sa_mask, libc::SIGUSR2);
            super::entries::to_kernel(libc::SIGSEGV, &mut action);
            assert!(super::actions::set_kernel_action(libc::SIGSEGV, &action));
            raise(libc::SIGSEGV);
            let in_kernel = super::actions::kernel_action(libc::SIGSEGV).expect("an action");
            let mut shown = in_kernel;
            super::entries::to_program(&mut shown, super::entries::kept(libc::SIGSEGV));
            (shown, in_kernel)
        };
        assert_eq!(SEEN.load(Ordering::Relaxed), seen, "flags {flags:x}");
        assert_eq!(blocked(), [false; 3], "afterwards");
        // SAFETY: both are initialised.
        let has =
            |action: &libc::sigaction, signal| unsafe { libc::sigismember(&action.sa_mask, signal) == 1 };
        assert!(has(&in_kernel, libc::SIGUSR1) && has(&in_kernel, libc::SIGALRM));
        assert!(has(&shown, libc::SIGUSR2) && !has(&shown, libc::SIGUSR1));
    }
    assert!(super::actions::set_kernel_action(libc::SIGSEGV, &before));
}

#[test]
fn a_handler_installed_without_the_c_library_is_found() {
    let _alone = alone();
    let before = foreign_handlers();
    assert_eq!(before & 1 << (libc::SIGUSR2 - 1), 0);
    extern "C" fn nothing(_: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {}
    // SAFETY: all zeros are a valid action.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = nothing as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO;
    assert!(super::actions::set_kernel_action(libc::SIGUSR2, &action));
    assert_eq!(foreign_handlers() ^ before, 1 << (libc::SIGUSR2 - 1));
    handle(libc::SIGUSR2, libc::SIG_DFL, 0);
    assert_eq!(foreign_handlers(), before);
}

#[test]
fn words_end_at_the_first_byte_that_no_word_has() {
    let region = mirror::map(64 << 10, 0).expect("memory");
    for start in [0, 2, 6, 8, 4090] {
        for len in [0, 2, 4, 6, 8, 30, 5000] {
            for (byte, at) in [(0, 0), (0x7D, 1), (0x7E, 0), (0x7E, 1), (0, 1)] {
                let cursor = region.data().wrapping_add(start);
                // SAFETY: these are bytes of the region.
                unsafe {
                    cursor.write_bytes(0x7C, len + 16);
                    cursor.wrapping_add(len / 2).write(0x7F);
                    cursor.wrapping_add(len + at).write(byte);
                    assert_eq!(frontier(cursor).addr() - cursor.addr(), len, "{start} {len} {byte} {at}");
                }
            }
        }
    }
}
