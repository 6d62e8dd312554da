//! The calls of the operating system and the processor instructions that the hosted recorder needs. Each is safe to
//! call from a signal handler unless its comment says otherwise.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, Ordering};

/// An environment variable. The bytes stay valid until the program changes its environment.
pub(crate) fn getenv(name: &CStr) -> Option<&'static [u8]> {
    // SAFETY: the name is a C string; `getenv` allocates nothing.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: `getenv` gives a C string.
    Some(unsafe { CStr::from_ptr(value) }.to_bytes())
}

/// Calls `visit` with the name of each variable of the environment, where the system has a list of them.
pub(crate) fn for_each_variable(mut visit: impl FnMut(&[u8])) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        unsafe extern "C" {
            static environ: *const *const c_char;
        }
        // SAFETY: `environ` is null, or points to C strings that end with a null pointer. No other thread changes it
        // while the environment is read, as for `getenv`.
        unsafe {
            let mut at = environ;
            while !at.is_null() && !(*at).is_null() {
                visit(CStr::from_ptr(*at).to_bytes().split(|byte| *byte == b'=').next().unwrap_or_default());
                at = at.add(1);
            }
        }
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = &mut visit;
}

/// Whether the program has rights that its caller does not have: setuid, setgid, file capabilities.
pub(crate) fn has_more_rights_than_its_caller() -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: has no conditions.
    return unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    // SAFETY: have no conditions.
    return unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() };
}

/// The file that standard error was when [`remember_stderr`] was called: device and inode.
static STDERR: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Remembers the file that standard error is now. Later a program may close it and open a file of its own in its
/// place.
pub(crate) fn remember_stderr() {
    if let Some((device, inode)) = identity(libc::STDERR_FILENO) {
        STDERR[0].store(device, Ordering::Relaxed);
        STDERR[1].store(inode, Ordering::Relaxed);
    }
}

/// Writes to standard error if it is still the same file. If its reader has gone or the file must not grow, no signal
/// is raised.
pub(crate) fn write_to_stderr(bytes: &[u8]) {
    let remembered = (STDERR[0].load(Ordering::Relaxed), STDERR[1].load(Ordering::Relaxed));
    if identity(libc::STDERR_FILENO) == Some(remembered) {
        keeping_errno(|| {
            without_signals_of_writes(|| write_all(libc::STDERR_FILENO, bytes.as_ptr(), bytes.len()));
        });
    }
}

/// Runs a function, and consumes the signals that its writes have raised.
fn without_signals_of_writes<T>(run: impl FnOnce() -> T) -> T {
    const RAISED: [c_int; 2] = [libc::SIGPIPE, libc::SIGXFSZ];
    let empty = || {
        let mut set = core::mem::MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: `set` is writable, and initialised by the call.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            set.assume_init()
        }
    };
    let pending = || {
        let mut set = empty();
        // SAFETY: `set` is writable.
        unsafe { libc::sigpending(&mut set) };
        // SAFETY: `set` is initialised.
        RAISED.map(|signal| unsafe { libc::sigismember(&set, signal) } == 1)
    };
    let (mut held, mut before) = (empty(), empty());
    // SAFETY: both sets are initialised.
    unsafe {
        RAISED.iter().for_each(|signal| {
            libc::sigaddset(&mut held, *signal);
        });
        libc::pthread_sigmask(libc::SIG_BLOCK, &held, &mut before);
    }
    let waited = pending();
    let result = run();
    for (at, signal) in RAISED.iter().enumerate() {
        if pending()[at] && !waited[at] {
            let (mut set, mut taken) = (empty(), 0);
            // SAFETY: the set is initialised and `taken` is writable. The signal is pending, so this does not wait.
            unsafe {
                libc::sigaddset(&mut set, *signal);
                libc::sigwait(&set, &mut taken);
            }
        }
    }
    // SAFETY: `before` is initialised.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, null_mut()) };
    result
}

/// The working directory. The length is 0 if it has no name, or a name that does not fit.
pub(crate) fn working_directory(buffer: &mut [u8]) -> usize {
    // SAFETY: the buffer has the length that is passed, and the call writes a C string.
    let name = unsafe { libc::getcwd(buffer.as_mut_ptr().cast::<c_char>(), buffer.len()) };
    if name.is_null() { 0 } else { buffer.iter().position(|byte| *byte == 0).unwrap_or(0) }
}

/// Sleeps, so that any other thread may use the processor.
pub(crate) fn sleep(nanos: u32) {
    let time = libc::timespec { tv_sec: 0, tv_nsec: nanos.into() };
    // SAFETY: `time` is readable, and the call does not write the remaining time.
    unsafe { libc::nanosleep(&time, null_mut()) };
}

/// Process id.
pub(crate) fn pid() -> u32 {
    // SAFETY: has no conditions.
    unsafe { libc::getpid() as u32 }
}

/// Id of the process that started this one, unless that has ended.
pub(crate) fn parent() -> u32 {
    // SAFETY: has no conditions.
    unsafe { libc::getppid() }.cast_unsigned()
}

/// The user whose rights the process has.
pub(crate) fn user() -> u32 {
    // SAFETY: has no conditions.
    unsafe { libc::geteuid() }
}

/// Thread id, as `ps -L` and debuggers show it.
pub(crate) fn tid() -> u32 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: has no conditions.
    return unsafe { libc::syscall(libc::SYS_gettid) as u32 };
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    // SAFETY: has no conditions.
    return unsafe { libc::pthread_self() as usize as u32 };
}

/// Writes the name that the kernel has for the thread (at most 15 bytes on Linux). Returns its length.
pub(crate) fn thread_name(name: &mut [u8]) -> usize {
    // SAFETY: the buffer has the length that is passed, and both calls write a C string into it.
    unsafe { libc::pthread_getname_np(libc::pthread_self(), name.as_mut_ptr().cast::<c_char>(), name.len()) };
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    name[end..].fill(0);
    end
}

/// Nanoseconds of the monotonic clock.
pub(crate) fn nanos() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
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

/// Nanoseconds since 1970, read in the same way. 0: not known.
pub(crate) fn wall_nanos() -> u64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    return coarse(libc::CLOCK_REALTIME_COARSE);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    0
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn coarse(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable; the other call has no conditions.
    unsafe {
        if libc::getauxval(libc::AT_SYSINFO_EHDR) != 0 {
            libc::clock_gettime(clock, &mut time);
        }
    }
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Renames a file, and replaces a file that has the new name.
pub(crate) fn rename(from: &CStr, to: &CStr) {
    // SAFETY: both are C strings.
    unsafe { libc::rename(from.as_ptr(), to.as_ptr()) };
}

pub(crate) fn identity(fd: c_int) -> Option<(u64, u64)> {
    // SAFETY: there is a place for the answer.
    stat_by(|stat| unsafe { libc::fstat(fd, stat) }).ok().map(|stat| identity_of(&stat))
}

pub(crate) fn identity_of(stat: &libc::stat) -> (u64, u64) {
    // The types differ from system to system.
    #[allow(clippy::unnecessary_cast)]
    (stat.st_dev as u64, stat.st_ino as u64)
}

/// `ask` is one of the calls that describe a file. It returns 0 if it has written the description.
pub(crate) fn stat_by(ask: impl FnOnce(*mut libc::stat) -> c_int) -> Result<libc::stat, c_int> {
    let mut stat = core::mem::MaybeUninit::<libc::stat>::uninit();
    if ask(stat.as_mut_ptr()) != 0 {
        return Err(errno());
    }
    // SAFETY: the call returned 0, so it has written the description.
    Ok(unsafe { stat.assume_init() })
}

pub(crate) fn errno() -> c_int {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the location is always valid for the calling thread.
    return unsafe { *libc::__errno_location() };
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    return std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
}

/// The start of a file mapping must be a multiple of this.
pub(crate) fn page_size() -> usize {
    // SAFETY: has no conditions.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(65536).max(4096)
}

/// Maps zeroed memory that stays until the process ends.
pub(crate) fn map_anonymous(len: usize) -> Option<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
    // SAFETY: a new mapping touches no memory that exists.
    let map = unsafe { libc::mmap(null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    (map != libc::MAP_FAILED).then_some(map.cast::<u8>())
}

/// Maps memory and a page behind it whose bytes are not free. A writer of frames that misses its end stops there:
/// other processes may write a file that is mapped over the memory.
pub(crate) fn map_with_end(len: usize) -> Option<*mut u8> {
    let (page, end) = (page_size(), len.next_multiple_of(page_size()));
    let memory = map_anonymous(end + page)?;
    // SAFETY: the mapping has this number of bytes.
    unsafe { memory.add(end).write_bytes(0xFF, page) };
    Some(memory)
}

/// Replaces a mapping with zeroed memory of this process alone. Its first bytes stay.
pub(crate) fn unshare<const KEPT: usize>(memory: *mut u8, len: usize) {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED;
    // SAFETY: the memory is a mapping of the recorder with at least `KEPT` bytes, and signals are blocked.
    with_signals_blocked(|| unsafe {
        let kept = memory.cast::<[u8; KEPT]>().read_unaligned();
        let access = libc::PROT_READ | libc::PROT_WRITE;
        if libc::mmap(memory.cast::<c_void>(), len, access, flags, -1, 0) != libc::MAP_FAILED {
            memory.cast::<[u8; KEPT]>().write_unaligned(kept);
        }
    });
}

/// Writes all bytes and continues after interruptions. Stops at an error.
pub(crate) fn write_all(fd: c_int, bytes: *const u8, len: usize) -> bool {
    let mut done = 0;
    while done < len {
        // SAFETY: the caller passes memory of `len` bytes. The kernel may read it while it changes.
        let n = unsafe { libc::write(fd, bytes.add(done).cast::<c_void>(), len - done) };
        if n > 0 {
            done += n as usize;
        } else if n == 0 || std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return false;
        }
    }
    true
}

/// The number of this thread's last error.
pub(crate) fn last_error() -> u64 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0).unsigned_abs().into()
}

/// Runs a function and restores the program's `errno` afterwards.
pub(crate) fn keeping_errno<T>(run: impl FnOnce() -> T) -> T {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let saved = errno();
        let result = run();
        // SAFETY: `errno_location` is valid for the calling thread.
        unsafe { *libc::__errno_location() = saved };
        result
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    run()
}

/// Runs a function while signal handlers are blocked on this thread, except those of SIGBUS and SIGSEGV. If the program
/// blocks these two, as its own handlers of them do, they stay blocked: otherwise such a handler would interrupt itself.
pub(crate) fn with_signals_blocked<T>(run: impl FnOnce() -> T) -> T {
    let before = block_signals();
    let result = run();
    // SAFETY: `block_signals` has returned an initialised set.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, null_mut()) };
    result
}

/// Blocks the signals of the calling thread. Returns what was blocked before.
fn block_signals() -> libc::sigset_t {
    let all = all_but_faults();
    let mut before = core::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is writable, and read only after it was written.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, before.as_mut_ptr());
        before.assume_init()
    }
}

/// All signals but SIGBUS and SIGSEGV: if SIGBUS were blocked, a cut ring file would end the program; with SIGSEGV, a
/// store behind a ring would.
pub(crate) fn all_but_faults() -> libc::sigset_t {
    let mut all = core::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is writable, and read only after it was written.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::sigdelset(all.as_mut_ptr(), libc::SIGBUS);
        libc::sigdelset(all.as_mut_ptr(), libc::SIGSEGV);
        all.assume_init()
    }
}

/// Handles a signal. Must not be called in a signal handler.
pub(crate) fn on_signal(signal: c_int, handler: extern "C" fn(c_int)) -> bool {
    // SAFETY: the action is initialised, and the handler only makes async-signal-safe calls.
    unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(signal, &action, null_mut()) == 0
    }
}

/// Runs a function when the process exits. Must not be called in a signal handler.
pub(crate) fn at_exit(function: extern "C" fn()) -> bool {
    // SAFETY: the function lives as long as the program.
    unsafe { libc::atexit(function) == 0 }
}

/// Runs a function in every forked child. Must not be called in a signal handler that may have interrupted the same
/// call.
pub(crate) fn at_fork_in_child(function: extern "C" fn()) {
    // SAFETY: the function lives as long as the program and only makes async-signal-safe calls.
    unsafe {
        libc::pthread_atfork(
            None,
            None,
            Some(core::mem::transmute::<extern "C" fn(), unsafe extern "C" fn()>(function)),
        )
    };
}

/// Keeps the shared object with the recorder in memory, even if the program closes it: ending threads and signals
/// call the recorder. Must not be called in a signal handler, because it takes the loader's lock.
pub(crate) fn stay_loaded() {
    // Without a loader nothing is unloaded.
    #[cfg(not(target_feature = "crt-static"))]
    // SAFETY: `dladdr` fills in the fields that it reports, and the name is a C string of the loader.
    unsafe {
        let object_of = |address: *const c_void| {
            let mut info = core::mem::MaybeUninit::<libc::Dl_info>::uninit();
            (libc::dladdr(address, info.as_mut_ptr()) != 0).then(|| info.assume_init())
        };
        let Some(own) = object_of(stay_loaded as *const c_void).filter(|own| !own.dli_fname.is_null()) else {
            return;
        };
        // The program itself is never unloaded, and its name may be that of another file here.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            let headers = libc::getauxval(libc::AT_PHDR) as *const c_void;
            if object_of(headers).is_some_and(|program| program.dli_fbase == own.dli_fbase) {
                return;
            }
        }
        // The object is loaded, so no file is opened. The handle is never closed.
        libc::dlopen(own.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE);
    }
}

/// Makes a key whose destructor runs when a thread that has set the key ends.
pub(crate) fn thread_exit_key(destructor: extern "C" fn(*mut c_void)) -> Option<libc::pthread_key_t> {
    let mut key = 0;
    // SAFETY: `key` is writable.
    let made = unsafe {
        let destructor =
            core::mem::transmute::<extern "C" fn(*mut c_void), unsafe extern "C" fn(*mut c_void)>(destructor);
        libc::pthread_key_create(&mut key, Some(destructor)) == 0
    };
    made.then_some(key)
}

/// Sets a key of [`thread_exit_key`] in this thread.
pub(crate) fn set_thread_exit_key(key: libc::pthread_key_t, value: *mut c_void) {
    // SAFETY: the key exists.
    unsafe { libc::pthread_setspecific(key, value) };
}

/// The name of the running program, which is the last part of its path.
pub(crate) fn program_name(buffer: &mut [u8]) -> usize {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        // SAFETY: the buffer has the length that is passed.
        let len = unsafe {
            libc::readlink(c"/proc/self/exe".as_ptr(), buffer.as_mut_ptr().cast::<c_char>(), buffer.len())
        };
        let len = usize::try_from(len).unwrap_or(0);
        // The kernel appends this to the name of a program file that was replaced since the program started.
        let len = buffer[..len].strip_suffix(b" (deleted)").map_or(len, <[u8]>::len);
        let start = buffer[..len].iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        buffer.copy_within(start..len, 0);
        len - start
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let name = b"program";
        buffer[..name.len()].copy_from_slice(name);
        name.len()
    }
}

/// Sixteen cycles per tick: 32 bits of ticks last for half a minute, and a tick is a few nanoseconds.
#[cfg(target_arch = "x86_64")]
const TICK_SHIFT: u32 = 4;

/// The processor's time counter; 0 if it has none that programs may read.
#[inline(always)]
pub(crate) fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction.
    return unsafe { core::arch::x86_64::_rdtsc() } >> TICK_SHIFT;
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: user programs may read the virtual counter, and the instruction has no other effect.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    0
}

/// Whether [`counter`] always runs at the same rate.
pub(crate) fn has_steady_counter() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        const LEAF: u32 = 0x8000_0007;
        const INVARIANT: u32 = 1 << 8;
        use core::arch::x86_64::__cpuid;
        __cpuid(0x8000_0000).eax >= LEAF && __cpuid(LEAF).edx & INVARIANT != 0
    }
    // The architecture guarantees it.
    #[cfg(not(target_arch = "x86_64"))]
    cfg!(target_arch = "aarch64")
}

/// Whether this thread may read [`counter`]: a process may forbid the instruction.
pub(crate) fn may_read_counter() -> bool {
    #[cfg(all(target_arch = "x86_64", any(target_os = "linux", target_os = "android")))]
    {
        let mut mode: c_int = libc::PR_TSC_ENABLE;
        // SAFETY: `mode` is writable.
        unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode) };
        mode == libc::PR_TSC_ENABLE
    }
    #[cfg(not(all(target_arch = "x86_64", any(target_os = "linux", target_os = "android"))))]
    true
}

/// Ticks of [`counter`] per second if the processor knows it; otherwise 0.
pub(crate) fn counter_rate() -> u32 {
    #[cfg(target_arch = "aarch64")]
    {
        let rate: u64;
        // SAFETY: the register is readable wherever the counter is, and the instruction has no other effect.
        unsafe { core::arch::asm!("mrs {}, cntfrq_el0", out(reg) rate, options(nomem, nostack)) };
        u32::try_from(rate).unwrap_or(0)
    }
    #[cfg(not(target_arch = "aarch64"))]
    0
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
            let len = libc::read(fd, name.as_mut_ptr().cast::<c_void>(), name.len());
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

/// Whether this thread has a stack of its own for signal handlers.
pub(crate) fn has_signal_stack() -> bool {
    let mut stack = core::mem::MaybeUninit::<libc::stack_t>::zeroed();
    // SAFETY: no stack is set, and `stack` is writable. All zeros are a valid value.
    unsafe {
        libc::sigaltstack(core::ptr::null(), stack.as_mut_ptr()) == 0
            && stack.assume_init().ss_flags & libc::SS_DISABLE == 0
    }
}

/// Runs a function that may need more stack than a small thread has. On x86-64 Linux it gets a stack of its own.
/// Signals must be blocked meanwhile, because their handlers would run on that stack, too.
pub(crate) fn on_large_stack<T>(run: impl FnOnce() -> T) -> T {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    {
        /// The unoptimised recorder needs a quarter of it.
        const LEN: usize = 128 * 1024;
        /// The function to run, and its result.
        type FunctionAndResult<F, T> = (Option<F>, Option<T>);
        // A panic never leaves an `extern "C"` function.
        extern "C" fn call<T, F: FnOnce() -> T>(call: *mut FunctionAndResult<F, T>) {
            // SAFETY: the caller has the only other pointer and waits for this call.
            let (run, result) = unsafe { &mut *call };
            *result = run.take().map(|run| run());
        }
        let function = call::<T, _> as extern "C" fn(*mut FunctionAndResult<_, T>);
        let mut both: FunctionAndResult<_, T> = (Some(run), None);
        let Some(stack) = map_anonymous(LEN) else {
            function(&raw mut both);
            return both.1.expect("it ran");
        };
        // SAFETY: the stack pointer moves to the end of memory that nothing else uses, aligned as before a call. It
        // moves back from a register that the called function keeps.
        unsafe {
            core::arch::asm!(
                "mov r12, rsp",
                "mov rsp, {stack}",
                "call {function}",
                "mov rsp, r12",
                stack = in(reg) stack.add(LEN),
                function = in(reg) function,
                in("rdi") &raw mut both,
                out("r12") _,
                clobber_abi("C"),
            );
            libc::munmap(stack.cast::<c_void>(), LEN);
        }
        both.1.expect("it ran")
    }
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    {
        run()
    }
}

/// Whether a thread of this process has that id.
pub(crate) fn has_thread(tid: u32) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: signal 0 only checks whether the thread exists.
    return unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, 0) } == 0 || errno() != libc::ESRCH;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = tid;
        true
    }
}
