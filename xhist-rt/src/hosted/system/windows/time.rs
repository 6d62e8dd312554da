//! Clocks and sleep.

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::SystemInformation::GetSystemTimeAsFileTime;
use windows_sys::Win32::System::Threading::Sleep;

/// Sleeps, so that any other thread may use the processor: a millisecond at least.
pub(crate) fn sleep(nanos: u32) {
    // SAFETY: has no conditions.
    unsafe { Sleep(nanos.div_ceil(1_000_000)) };
}

/// Nanoseconds of the monotonic clock.
pub(crate) fn nanos() -> u64 {
    let (mut ticks, mut rate) = (0, 0);
    // SAFETY: there are places for the answers.
    unsafe {
        QueryPerformanceCounter(&mut ticks);
        QueryPerformanceFrequency(&mut rate);
    }
    let nanos = u128::from(ticks.unsigned_abs()) * 1_000_000_000 / u128::from(rate.unsigned_abs().max(1));
    nanos as u64
}

/// The same clock: no process may forbid it.
pub(crate) fn coarse_nanos() -> u64 {
    nanos()
}

/// Nanoseconds since 1970.
pub(crate) fn wall_nanos() -> u64 {
    /// Steps of 100 nanoseconds from 1601 to 1970.
    const BEFORE_1970: u64 = 116_444_736_000_000_000;
    let mut time = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    // SAFETY: there is a place for the answer.
    unsafe { GetSystemTimeAsFileTime(&mut time) };
    let steps = u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    steps.saturating_sub(BEFORE_1970) * 100
}

/// Whether this thread may read the processor's counter.
pub(crate) const fn may_read_counter() -> bool {
    true
}

/// The name of the clock that the kernel uses: it does not say, so the processor decides.
pub(crate) const fn kernel_clock(_: &mut [u8]) -> usize {
    0
}
