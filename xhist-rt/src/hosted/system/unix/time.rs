//! Clocks and sleep.

use core::ptr::null_mut;

/// Sleeps, so that any other thread may use the processor.
pub(crate) fn sleep(nanos: u32) {
    let time = libc::timespec { tv_sec: 0, tv_nsec: nanos.into() };
    // SAFETY: `time` is readable, and the call does not write the remaining time.
    unsafe { libc::nanosleep(&time, null_mut()) };
}

/// The clock of [`nanos`]. On Apple's systems the usual one counts microseconds only; this is that of the standard library.
#[cfg(target_vendor = "apple")]
const MONOTONIC: libc::clockid_t = libc::CLOCK_UPTIME_RAW;
/// The clock of [`nanos`].
#[cfg(not(target_vendor = "apple"))]
const MONOTONIC: libc::clockid_t = libc::CLOCK_MONOTONIC;

/// Nanoseconds of the monotonic clock.
pub(crate) fn nanos() -> u64 {
    read(MONOTONIC)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds of the monotonic clock at the last tick of the kernel, some milliseconds ago at most. It is read from
/// memory: no system call, and no instruction that a process may forbid. 0 if the kernel has no such memory.
pub(crate) fn coarse_nanos() -> u64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    return coarse(libc::CLOCK_MONOTONIC_COARSE);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    nanos()
}

/// Nanoseconds since 1970, on Linux read in the same way. 0: not known.
pub(crate) fn wall_nanos() -> u64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    return coarse(libc::CLOCK_REALTIME_COARSE);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    read(libc::CLOCK_REALTIME)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn coarse(clock: libc::clockid_t) -> u64 {
    // SAFETY: has no conditions.
    if unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } != 0 { read(clock) } else { 0 }
}

/// Whether this thread may read [`counter`]: a process may forbid the instruction.
pub(crate) fn may_read_counter() -> bool {
    #[cfg(all(target_arch = "x86_64", any(target_os = "linux", target_os = "android")))]
    {
        let mut mode: core::ffi::c_int = libc::PR_TSC_ENABLE;
        // SAFETY: `mode` is writable.
        unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode) };
        mode == libc::PR_TSC_ENABLE
    }
    #[cfg(not(all(target_arch = "x86_64", any(target_os = "linux", target_os = "android"))))]
    true
}

/// The name of the clock that the kernel uses. The length is 0 if the kernel does not say.
pub(crate) fn kernel_clock(name: &mut [u8]) -> usize {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    {
        let path = c"/sys/devices/system/clocksource/clocksource0/current_clocksource";
        // SAFETY: the path is a C string, the buffer has the length that is passed, and this function owns the
        // descriptor.
        let len = unsafe {
            let fd = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            if fd < 0 {
                return 0;
            }
            let len = libc::read(fd, name.as_mut_ptr().cast(), name.len());
            libc::close(fd);
            len
        };
        usize::try_from(len).unwrap_or(0)
    }
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    {
        let _ = name;
        0
    }
}
