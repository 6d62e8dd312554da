//! The clock of time stamps: the processor's counter where it can be trusted, else the system's monotonic clock. And
//! its rate, which is known from the first ring on, so that a dump of a killed program has it.
//!
//! The rate is that of the counter between two readings of both clocks: one when the environment is read, and one when
//! the first ring is made, some microseconds later. It is measured again a few times in the first second, when a frame
//! is stamped.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use super::settings::CLOCK;
use super::sys;

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;
/// A reading of both clocks takes at most this part of the time between two readings: so exact is the rate.
const EXACT: u64 = 512;
/// The first rate is not waited for any longer, in nanoseconds.
const PATIENCE: u64 = 1_000_000;

/// Kernel clocks that read the counter: the kernel has found that it runs steadily, and alike on all processors.
const ON_COUNTER: [&[u8]; 5] = [b"tsc", b"tsc-early", b"kvm-clock", b"hyperv_clocksource_tsc_page", b"xen"];

static IS_COUNTER: AtomicBool = AtomicBool::new(false);
/// Ticks a second; 0 = not known.
static RATE: AtomicU32 = AtomicU32::new(0);
/// The first reading: ticks and nanoseconds.
static START: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
/// From these ticks on the rate is measured again.
static NEXT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Both clocks, read at one time.
#[derive(Clone, Copy)]
struct Reading {
    ticks: u64,
    nanos: u64,
    /// Ticks that the reading took.
    width: u64,
}

impl Reading {
    /// The fastest of some, because a thread may lose its processor in the middle of one.
    fn now() -> Reading {
        let read = || {
            let before = sys::counter();
            let nanos = sys::nanos();
            let width = sys::counter().saturating_sub(before);
            Reading { ticks: before + width / 2, nanos, width }
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

/// Chooses the clock. Called when the environment is read, before anything is stamped.
pub(super) fn choose() {
    let monotonic = CLOCK.is(&["monotonic"]);
    let is_counter = !monotonic && sys::has_steady_counter() && is_trusted_by_kernel();
    IS_COUNTER.store(is_counter, Relaxed);
    if is_counter {
        let start = Reading::now();
        START[0].store(start.ticks, Relaxed);
        START[1].store(start.nanos, Relaxed);
    }
    let known = if is_counter { sys::counter_rate() } else { SECOND as u32 };
    RATE.store(known, Relaxed);
    NEXT.store(if known == 0 { 0 } else { u64::MAX }, Relaxed);
}

/// A kernel that has found the counter to stop, to change its rate, or to differ between processors uses another clock.
/// Where it does not say, the processor's word is taken.
fn is_trusted_by_kernel() -> bool {
    let mut name = [0; 64];
    let len = sys::kernel_clock(&mut name);
    is_on_counter(&name[..len])
}

fn is_on_counter(kernel_clock: &[u8]) -> bool {
    kernel_clock.is_empty() || ON_COUNTER.contains(&kernel_clock.trim_ascii())
}

/// Whether it is the processor's counter.
pub(super) fn is_counter() -> bool {
    IS_COUNTER.load(Relaxed)
}

/// The clock.
#[inline(always)]
pub(super) fn ticks() -> u64 {
    if is_counter() { sys::counter() } else { sys::nanos() }
}

/// Its ticks a second. The first call waits until two readings are far enough apart to tell, some microseconds.
pub(super) fn rate() -> u32 {
    let mut now = Reading { ticks: 0, nanos: 0, width: 0 };
    while RATE.load(Relaxed) == 0 && now.passed().1 < PATIENCE {
        now = Reading::now();
        if now.is_exact() || now.passed().1 >= PATIENCE {
            note(now);
        }
    }
    RATE.load(Relaxed)
}

/// Its ticks in so many microseconds, at least one; where the rate is not known, a few.
#[inline(always)]
pub(super) fn ticks_in(micros: u32) -> u64 {
    1 + u64::from(RATE.load(Relaxed) / 1_000_000) * u64::from(micros)
}

/// Whether the rate is to be measured again at this time.
#[inline(always)]
pub(super) fn is_due(ticks: u64) -> bool {
    ticks >= NEXT.load(Relaxed)
}

/// Measures the rate again, over a longer time than before.
#[cold]
pub(super) fn measure() -> u32 {
    if NEXT.load(Relaxed) != u64::MAX {
        let now = Reading::now();
        if now.is_exact() {
            note(now);
        } else {
            wait_from(now);
        }
    }
    RATE.load(Relaxed)
}

/// Notes the rate. After a second it is exact; later the system may sleep, which the two clocks see differently.
fn note(now: Reading) {
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

/// Four times as much time as until now has to pass before the next measurement, so that there are few.
fn wait_from(now: Reading) {
    NEXT.store(now.ticks.saturating_add(now.passed().0.saturating_mul(3)), Relaxed);
}

/// With one order for all threads: how many places in it were given.
static TICKET: AtomicU64 = AtomicU64::new(0);

/// The next place in the one order of all threads.
pub(super) fn ticket() -> u64 {
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
    fn the_rate_is_known_at_once_and_soon_exactly() {
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
