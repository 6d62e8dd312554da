//! The clock of time stamps: the processor's counter if it can be trusted, otherwise the system's monotonic clock.
//! Its rate is known from the first ring on, so that a dump of a killed program has it.
//!
//! The rate is that of the counter between two readings of both clocks: one when the environment is read, and one
//! when the first ring is made, some microseconds later. A few more readings follow in the first second, when a chunk
//! is stamped.
//!
//! A process may forbid the counter (`PR_SET_TSC`, the strict mode of seccomp), and the kernel's function that reads
//! the monotonic clock uses it as well. From then on the clock continues with the kernel's coarse clock, which some
//! milliseconds apart, is a word in memory: no instruction that faults, and no system call.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use crate::hosted::setup::settings::CLOCK;
use crate::hosted::system::{counter, sys};

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;
/// A reading of both clocks takes at most this fraction of the time between two readings, which bounds the error of
/// the rate.
const EXACT: u64 = 512;
/// The longest wait for the first rate, in nanoseconds.
const PATIENCE: u64 = 1_000_000;

/// Kernel clocks that read the counter. The kernel has found that it runs steadily and alike on all processors.
const ON_COUNTER: [&[u8]; 5] = [b"tsc", b"tsc-early", b"kvm-clock", b"hyperv_clocksource_tsc_page", b"xen"];

/// Ticks are those of the counter.
static IS_COUNTER: AtomicBool = AtomicBool::new(false);
/// Each time is read from the counter.
static IS_DIRECT: AtomicBool = AtomicBool::new(false);
/// The program has given another clock for stamps.
static IS_REPLACED: AtomicBool = AtomicBool::new(false);
/// The counter may fault, and so may the monotonic clock.
static IS_FORBIDDEN: AtomicBool = AtomicBool::new(false);
/// Ticks, and nanoseconds of the coarse clock, when the counter was forbidden.
static FORBIDDEN_AT: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
/// Ticks per second; 0 = not known.
static RATE: AtomicU32 = AtomicU32::new(0);
/// The first reading: ticks and nanoseconds.
static START: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
/// The rate is measured again when the clock has passed these ticks.
static NEXT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Both clocks, read at the same time.
#[derive(Clone, Copy)]
struct ClockReading {
    ticks: u64,
    nanos: u64,
    /// Number of ticks that the reading took.
    width: u64,
}

impl ClockReading {
    /// The fastest of several readings, because a thread may lose its processor during one.
    fn now() -> ClockReading {
        let read = || {
            let before = counter::counter();
            let nanos = sys::nanos();
            let width = counter::counter().saturating_sub(before);
            ClockReading { ticks: before + width / 2, nanos, width }
        };
        let (first, second, third) = (read(), read(), read());
        let faster = if second.width < first.width { second } else { first };
        if third.width < faster.width { third } else { faster }
    }

    /// Ticks and nanoseconds since the first reading.
    fn passed(self) -> (u64, u64) {
        let since = |now: u64, start: &AtomicU64| now.saturating_sub(start.load(Relaxed));
        (since(self.ticks, &START[0]), since(self.nanos, &START[1]))
    }

    fn is_exact(self) -> bool {
        self.passed().0 >= self.width.saturating_mul(EXACT)
    }
}

/// Chooses the clock. Called when the environment is read, before the first stamp.
pub(crate) fn choose() {
    if !sys::may_read_counter() {
        forbid();
    }
    let is_allowed = !is_forbidden() && !CLOCK.is(&["monotonic"]);
    let is_counter = is_allowed && counter::has_steady_counter() && is_trusted_by_kernel();
    IS_COUNTER.store(is_counter, Relaxed);
    IS_DIRECT.store(is_counter && !IS_REPLACED.load(Relaxed), Relaxed);
    if is_counter {
        let start = ClockReading::now();
        START[0].store(start.ticks, Relaxed);
        START[1].store(start.nanos, Relaxed);
    }
    let known = if is_counter { counter::counter_rate() } else { SECOND as u32 };
    RATE.store(known, Relaxed);
    NEXT.store(if known == 0 { 0 } else { u64::MAX }, Relaxed);
}

/// If the kernel has found that the counter stops, changes its rate, or differs between processors, it uses another
/// clock. If the kernel does not say which clock it uses, the processor decides.
fn is_trusted_by_kernel() -> bool {
    let mut name = [0; 64];
    let len = sys::kernel_clock(&mut name);
    is_on_counter(&name[..len])
}

fn is_on_counter(kernel_clock: &[u8]) -> bool {
    kernel_clock.is_empty() || ON_COUNTER.contains(&kernel_clock.trim_ascii())
}

/// Whether the clock is the processor's counter.
pub(crate) fn is_counter() -> bool {
    IS_COUNTER.load(Relaxed)
}

/// Whether each stamp is the counter as it is.
#[inline(always)]
pub(crate) fn is_direct() -> bool {
    IS_DIRECT.load(Relaxed)
}

/// The program has given another clock for stamps.
pub(crate) fn replace() {
    IS_REPLACED.store(true, Relaxed);
    IS_DIRECT.store(false, Relaxed);
}

/// Whether the counter may fault.
#[inline(always)]
pub(crate) fn is_forbidden() -> bool {
    IS_FORBIDDEN.load(Acquire)
}

/// From now on the counter may fault. The clock continues from its present time.
pub(crate) fn forbid() {
    if is_forbidden() {
        return;
    }
    let coarse = sys::coarse_nanos();
    // Until the clock is chosen its rate is not known, and nothing is stamped.
    let ticks = match RATE.load(Relaxed) {
        0 if !is_counter() => coarse,
        _ => {
            rate();
            ticks()
        }
    };
    FORBIDDEN_AT[0].store(ticks, Relaxed);
    FORBIDDEN_AT[1].store(coarse, Relaxed);
    NEXT.store(u64::MAX, Relaxed);
    IS_FORBIDDEN.store(true, Release);
    IS_DIRECT.store(false, Relaxed);
}

/// The time now.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    if is_direct() { counter::counter() } else { ticks_otherwise() }
}

#[inline(never)]
fn ticks_otherwise() -> u64 {
    if is_forbidden() {
        let [ticks, coarse] = [0, 1].map(|at: usize| FORBIDDEN_AT[at].load(Relaxed));
        let passed = u128::from(sys::coarse_nanos().saturating_sub(coarse));
        return ticks + (passed * u128::from(RATE.load(Relaxed)) / u128::from(SECOND)) as u64;
    }
    if is_counter() { counter::counter() } else { sys::nanos() }
}

/// The ticks of the clock per second. The first call waits some microseconds, until two readings are far enough
/// apart.
pub(crate) fn rate() -> u32 {
    let mut now = ClockReading { ticks: 0, nanos: 0, width: 0 };
    while RATE.load(Relaxed) == 0 && now.passed().1 < PATIENCE {
        now = ClockReading::now();
        if now.is_exact() || now.passed().1 >= PATIENCE {
            note(now);
        }
    }
    RATE.load(Relaxed)
}

/// The number of ticks in this number of microseconds, at least one. If the rate is not known, a few.
#[inline(always)]
pub(crate) fn ticks_in(micros: u32) -> u64 {
    1 + u64::from(RATE.load(Relaxed) / 1_000_000) * u64::from(micros)
}

/// Whether the rate has to be measured again at this time.
#[inline(always)]
pub(crate) fn is_due(ticks: u64) -> bool {
    ticks >= NEXT.load(Relaxed)
}

/// Measures the rate again, over a longer time.
#[cold]
pub(crate) fn measure() -> u32 {
    if NEXT.load(Relaxed) != u64::MAX {
        let now = ClockReading::now();
        if now.is_exact() {
            note(now);
        } else {
            wait_from(now);
        }
    }
    RATE.load(Relaxed)
}

/// Stores the rate. After a second it is exact. Later the system may sleep, which the two clocks measure differently.
fn note(now: ClockReading) {
    let (ticks, nanos) = now.passed();
    if nanos == 0 {
        return;
    }
    let rate = u128::from(ticks) * u128::from(SECOND) / u128::from(nanos);
    RATE.store(u32::try_from(rate).unwrap_or(0), Relaxed);
    if nanos >= SECOND {
        NEXT.store(u64::MAX, Relaxed);
    } else {
        wait_from(now);
    }
}

/// The next measurement comes after four times the time that has passed, so that there are few.
fn wait_from(now: ClockReading) {
    NEXT.store(now.ticks.saturating_add(now.passed().0.saturating_mul(3)), Relaxed);
}

/// Number of places given so far in the one order of all threads.
static TICKET: AtomicU64 = AtomicU64::new(0);

/// The next place in the one order of all threads.
pub(crate) fn ticket() -> u64 {
    TICKET.fetch_add(1, SeqCst) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_the_kernel_does_not_use_is_not_trusted() {
        assert!(is_on_counter(b"tsc\n") && is_on_counter(b"kvm-clock\n") && is_on_counter(b""));
        assert!(!is_on_counter(b"hpet\n") && !is_on_counter(b"acpi_pm\n") && !is_on_counter(b"jiffies\n"));
    }

    #[test]
    fn the_rate_is_known_at_once_and_exact_soon_after() {
        choose();
        let first = f64::from(rate());
        let (ticks, began) = (ticks(), std::time::Instant::now());
        while began.elapsed().as_millis() < 100 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let exact = f64::from(measure());
        let seconds = began.elapsed().as_secs_f64();
        let counted = (super::ticks() - ticks) as f64 / seconds;
        assert!((first / exact - 1.0).abs() < 0.01, "{first}, then {exact}");
        assert!((counted / exact - 1.0).abs() < 0.01, "{counted}, not {exact}");
    }
}
