//! Every call of the operating system and every processor instruction that the hosted recorder
//! needs, each safe to call from a signal handler unless it says otherwise. One of the files
//! that may be `unsafe`. It knows no ring.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

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

/// The working directory; 0 bytes when it has no name, or none that fits.
pub(crate) fn working_directory(buffer: &mut [u8]) -> usize {
    // SAFETY: the buffer is as long as told; what is written is a C string.
    let name = unsafe { libc::getcwd(buffer.as_mut_ptr().cast::<c_char>(), buffer.len()) };
    if name.is_null() { 0 } else { buffer.iter().position(|byte| *byte == 0).unwrap_or(0) }
}

/// Sleeps, so that any other thread may have the processor.
pub(crate) fn sleep(nanos: u32) {
    let time = libc::timespec { tv_sec: 0, tv_nsec: nanos.into() };
    // SAFETY: `time` is readable; what is left of it is not asked for.
    unsafe { libc::nanosleep(&time, null_mut()) };
}

/// Process id.
pub(crate) fn pid() -> u32 {
    // SAFETY: has no conditions.
    unsafe { libc::getpid() as u32 }
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

/// The name that the kernel knows the thread by (15 bytes at most on Linux), and its length.
pub(crate) fn thread_name(name: &mut [u8]) -> usize {
    // SAFETY: the buffer is as long as told; both kinds write a C string into it.
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

/// Gives a file another name, in place of one that has it.
pub(crate) fn rename(from: &CStr, to: &CStr) {
    // SAFETY: both are C strings.
    unsafe { libc::rename(from.as_ptr(), to.as_ptr()) };
}

/// A file opened for rings; remembers which file its descriptor means.
#[derive(Clone, Copy)]
pub(crate) struct RingFile {
    pub(crate) fd: c_int,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// Why there is no ring file of a name.
#[derive(Clone, Copy)]
pub(crate) enum NoFile {
    /// Another process has its rings in it.
    Held,
    /// What it holds is to be kept.
    Kept,
    /// It cannot be opened, or is no file: a directory, a device.
    Unusable,
}

impl RingFile {
    /// Opens and empties the file, unless another process has its rings in it, or it begins with what is to be kept.
    pub(crate) fn create(path: &CStr, keep: fn(&[u8; 128]) -> bool) -> Result<RingFile, NoFile> {
        // SAFETY: the path is a C string; the descriptor is ours until the process ends.
        unsafe {
            let low = libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CREAT | libc::O_CLOEXEC, 0o644);
            if low < 0 {
                return Err(NoFile::Unusable);
            }
            // Programs expect the low descriptors to be free, and some close them all.
            let high = libc::fcntl(low, libc::F_DUPFD_CLOEXEC, 200);
            let fd = if high < 0 { low } else { high };
            if fd != low {
                libc::close(low);
            }
            let mut begin = [0; 128];
            let refused = if libc::flock(fd, libc::LOCK_EX | libc::LOCK_NB) != 0 {
                let is_held = std::io::Error::last_os_error().kind() == std::io::ErrorKind::WouldBlock;
                Some(if is_held { NoFile::Held } else { NoFile::Unusable })
            } else if libc::pread(fd, begin.as_mut_ptr().cast(), begin.len(), 0) > 0 && keep(&begin) {
                Some(NoFile::Kept)
            } else {
                (libc::ftruncate(fd, 0) != 0).then_some(NoFile::Unusable)
            };
            if let Some(refused) = refused {
                libc::close(fd);
                return Err(refused);
            }
            let (device, inode) = identity(fd).ok_or(NoFile::Unusable)?;
            Ok(RingFile { fd, device, inode })
        }
    }

    /// Reserves and maps `len` bytes at `offset`. Reserving first means that a full disk is an
    /// answer here, and not a fatal signal at some later statement.
    pub(crate) fn map(self, offset: u64, len: usize) -> Option<*mut u8> {
        if !self.reserve(offset, len) {
            return None;
        }
        // SAFETY: a new mapping touches no memory that exists.
        let map = unsafe {
            libc::mmap(
                null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                self.fd,
                offset as libc::off_t,
            )
        };
        (map != libc::MAP_FAILED).then_some(map.cast::<u8>())
    }

    /// Puts memory that starts a page, and what it holds, into the file. Only this thread may use it; its signals wait
    /// meanwhile.
    pub(crate) fn map_over(self, offset: u64, len: usize, memory: *mut u8) -> bool {
        // SAFETY: the memory is a mapping of the recorder's, replaced by one with the same content.
        let put = || unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_SHARED | libc::MAP_FIXED;
            let offset = offset as libc::off_t;
            let written = libc::pwrite(self.fd, memory.cast::<c_void>(), len, offset);
            written == len as isize
                && libc::mmap(memory.cast::<c_void>(), len, access, flags, self.fd, offset)
                    != libc::MAP_FAILED
        };
        self.reserve(offset, len) && while_signals_wait(put)
    }

    /// Closes the descriptor, unless the program did.
    pub(crate) fn close(self) {
        if self.is_open() {
            // SAFETY: the descriptor is our file's.
            unsafe { libc::close(self.fd) };
        }
    }

    /// The program may have closed our descriptor and opened a file of its own in its place.
    fn is_open(self) -> bool {
        identity(self.fd) == Some((self.device, self.inode))
    }

    /// Whether this is the file of that name.
    pub(crate) fn is_at(self, path: &CStr) -> bool {
        // SAFETY: the path is a C string, and there is a place for what is told.
        let named = identity_by(|stat| unsafe { libc::stat(path.as_ptr(), stat) });
        named == Some((self.device, self.inode))
    }

    fn reserve(self, offset: u64, len: usize) -> bool {
        // Growing beyond the limit of this process would be a signal that ends it.
        if !self.is_open() || offset + len as u64 > longest_file() {
            return false;
        }
        // SAFETY: the descriptor is our file's; the byte that is written is zero, as it is.
        unsafe {
            #[cfg(any(target_os = "linux", target_os = "android"))]
            loop {
                if libc::fallocate(self.fd, 0, offset as libc::off_t, len as libc::off_t) == 0 {
                    return true;
                }
                match errno() {
                    // A debugger came, or a stop: signals that nobody can hold back.
                    libc::EINTR => {}
                    libc::EOPNOTSUPP => break,
                    _ => return false,
                }
            }
            // No shorter, whoever is faster: what lies behind may be mapped.
            let end = (offset + len as u64) as libc::off_t;
            libc::lseek(self.fd, 0, libc::SEEK_END) >= end
                || libc::pwrite(self.fd, [0u8].as_ptr().cast::<c_void>(), 1, end - 1) == 1
        }
    }
}

/// How long this process may make a file.
fn longest_file() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is writable.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    // The type differs from system to system.
    #[allow(clippy::unnecessary_cast)]
    return limit.rlim_cur as u64;
}

fn identity(fd: c_int) -> Option<(u64, u64)> {
    // SAFETY: it is given a place for what it tells.
    identity_by(|stat| unsafe { libc::fstat(fd, stat) })
}

/// `tell` is one of the calls that tell of a file, and gives 0 when it did.
fn identity_by(tell: impl FnOnce(*mut libc::stat) -> c_int) -> Option<(u64, u64)> {
    let mut stat = core::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: `stat` is writable, and read only after the call said that it was written.
    unsafe {
        (tell(stat.as_mut_ptr()) == 0).then(|| {
            let stat = stat.assume_init();
            // The types differ from system to system.
            #[allow(clippy::unnecessary_cast)]
            (stat.st_dev as u64, stat.st_ino as u64)
        })
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn errno() -> c_int {
    // SAFETY: the location is always valid for the calling thread.
    unsafe { *libc::__errno_location() }
}

/// Bytes that a mapping of a file must start at a multiple of.
pub(crate) fn page_size() -> usize {
    // SAFETY: has no conditions.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(65536).max(4096)
}

/// Maps zeroed memory that lives until the process ends.
pub(crate) fn map_anonymous(len: usize) -> Option<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
    // SAFETY: a new mapping touches no memory that exists.
    let map = unsafe { libc::mmap(null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    (map != libc::MAP_FAILED).then_some(map.cast::<u8>())
}

/// Puts zeroed memory of this process alone in the place of a mapping; its first bytes stay.
pub(crate) fn unshare<const KEPT: usize>(memory: *mut u8, len: usize) {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED;
    // SAFETY: the memory is a mapping of the recorder's with `KEPT` bytes or more, and signals wait.
    while_signals_wait(|| unsafe {
        let kept = memory.cast::<[u8; KEPT]>().read_unaligned();
        let access = libc::PROT_READ | libc::PROT_WRITE;
        if libc::mmap(memory.cast::<c_void>(), len, access, flags, -1, 0) != libc::MAP_FAILED {
            memory.cast::<[u8; KEPT]>().write_unaligned(kept);
        }
    });
}

/// Writes all bytes, through interruptions; gives up at an error.
pub(crate) fn write_all(fd: c_int, bytes: *const u8, len: usize) -> bool {
    let mut done = 0;
    while done < len {
        // SAFETY: the caller gives memory of `len` bytes; the kernel reads it as it changes.
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

/// Runs a function with the program's `errno` as it was before.
pub(crate) fn keeping_errno<T>(run: impl FnOnce() -> T) -> T {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let saved = errno();
        let result = run();
        // SAFETY: as in `errno`.
        unsafe { *libc::__errno_location() = saved };
        result
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    run()
}

/// Runs a function that no signal handler interrupts on this thread.
pub(crate) fn while_signals_wait<T>(run: impl FnOnce() -> T) -> T {
    let mut all = core::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = core::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: both sets are writable, and read only after they were written.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = run();
    // SAFETY: as above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut()) };
    result
}

/// Handles a signal. Not for use in a signal handler.
pub(crate) fn on_signal(signal: c_int, handler: extern "C" fn(c_int)) -> bool {
    // SAFETY: the action is fully initialised, and the handler keeps to async-signal-safe calls.
    unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(signal, &action, null_mut()) == 0
    }
}

/// Runs a function when the process exits. Not for use in a signal handler.
pub(crate) fn at_exit(function: extern "C" fn()) -> bool {
    // SAFETY: the function lives as long as the program.
    unsafe { libc::atexit(function) == 0 }
}

/// Runs a function in every forked child. Not for use in a signal handler that may have interrupted the same.
pub(crate) fn at_fork_in_child(function: extern "C" fn()) {
    // SAFETY: the function lives as long as the program and keeps to async-signal-safe calls.
    unsafe {
        libc::pthread_atfork(
            None,
            None,
            Some(core::mem::transmute::<extern "C" fn(), unsafe extern "C" fn()>(function)),
        )
    };
}

/// Makes a key whose destructor runs when a thread that set it ends.
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

/// Name of the running program, the last part of its path.
pub(crate) fn program_name(buffer: &mut [u8]) -> usize {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        // SAFETY: the buffer is as long as told.
        let len = unsafe {
            libc::readlink(c"/proc/self/exe".as_ptr(), buffer.as_mut_ptr().cast::<c_char>(), buffer.len())
        };
        let len = usize::try_from(len).unwrap_or(0);
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

/// Sixteen cycles a tick: 32 bits of ticks last for half a minute, a few nanoseconds each.
#[cfg(target_arch = "x86_64")]
const TICK_SHIFT: u32 = 4;

/// The processor's counter of time; 0 where it has none that programs may read.
#[inline(always)]
pub(crate) fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction.
    return unsafe { core::arch::x86_64::_rdtsc() } >> TICK_SHIFT;
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: user programs may read the virtual counter; the instruction touches nothing else.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    0
}

/// Whether [`counter`] runs at one rate, whatever the processor does, and this program may read it.
pub(crate) fn has_steady_counter() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        const LEAF: u32 = 0x8000_0007;
        const INVARIANT: u32 = 1 << 8;
        use core::arch::x86_64::__cpuid;
        let is_invariant = __cpuid(0x8000_0000).eax >= LEAF && __cpuid(LEAF).edx & INVARIANT != 0;
        is_invariant && may_read_counter()
    }
    // The architecture promises it.
    #[cfg(not(target_arch = "x86_64"))]
    cfg!(target_arch = "aarch64")
}

/// A program may have the instruction that reads the counter end it.
#[cfg(target_arch = "x86_64")]
fn may_read_counter() -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let mut mode: c_int = libc::PR_TSC_ENABLE;
        // SAFETY: `mode` is writable.
        unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode) };
        mode == libc::PR_TSC_ENABLE
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    true
}

/// Ticks of [`counter`] a second, where the processor says so; otherwise 0.
pub(crate) fn counter_rate() -> u32 {
    #[cfg(target_arch = "aarch64")]
    {
        let rate: u64;
        // SAFETY: readable where the counter is; the instruction touches nothing else.
        unsafe { core::arch::asm!("mrs {}, cntfrq_el0", out(reg) rate, options(nomem, nostack)) };
        u32::try_from(rate).unwrap_or(0)
    }
    #[cfg(not(target_arch = "aarch64"))]
    0
}

/// Name of the clock that the kernel uses; 0 bytes where it does not say.
pub(crate) fn kernel_clock(name: &mut [u8]) -> usize {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    {
        let path = c"/sys/devices/system/clocksource/clocksource0/current_clocksource";
        // SAFETY: the path is a C string, the buffer is as long as given, and the descriptor is ours.
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
    // SAFETY: no stack is set, the place for the one there is is writable, and all zeros are one.
    unsafe {
        libc::sigaltstack(core::ptr::null(), stack.as_mut_ptr()) == 0
            && stack.assume_init().ss_flags & libc::SS_DISABLE == 0
    }
}

/// Runs a function that may need more stack than a small thread has: on x86-64 Linux on a stack of its own. Signals
/// must wait meanwhile, because their handlers would run there, too.
pub(crate) fn on_large_stack<T>(run: impl FnOnce() -> T) -> T {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    {
        /// The unoptimised recorder needs a quarter of it.
        const LEN: usize = 128 * 1024;
        /// What is to run, and what came of it.
        type Call<F, T> = (Option<F>, Option<T>);
        // No panic leaves a function of this kind.
        extern "C" fn call<T, F: FnOnce() -> T>(call: *mut Call<F, T>) {
            // SAFETY: the caller has the only other pointer, and waits.
            let (run, result) = unsafe { &mut *call };
            *result = run.take().map(|run| run());
        }
        let function = call::<T, _> as extern "C" fn(*mut Call<_, T>);
        let mut both: Call<_, T> = (Some(run), None);
        let Some(stack) = map_anonymous(LEN) else {
            function(&raw mut both);
            return both.1.expect("it ran");
        };
        // SAFETY: the stack pointer moves to the end of memory that nothing else uses, aligned as before a call, and back
        // from a register that the called function keeps.
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
    run()
}

/// Whether a thread of this process has that id.
pub(crate) fn has_thread(tid: u32) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: signal 0 is only asked about.
    return unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, 0) } == 0 || errno() != libc::ESRCH;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = tid;
        true
    }
}

/// A word that is 1, and 0 in a child that was forked since: the kernel wipes its page there (Linux 4.14 and later).
pub(crate) struct ForkMark(AtomicPtr<AtomicU32>);

/// Where there is no such page.
static NOT_FORKED: AtomicU32 = AtomicU32::new(1);

impl ForkMark {
    pub(crate) const fn new() -> ForkMark {
        ForkMark(AtomicPtr::new((&raw const NOT_FORKED).cast_mut()))
    }

    /// The current process is the one that forks are counted from.
    pub(crate) fn set(&self) {
        if core::ptr::eq(self.0.load(Ordering::Relaxed), &raw const NOT_FORKED)
            && let Some(page) = map_wiped_on_fork()
        {
            self.0.store(page.cast(), Ordering::Relaxed);
        }
        self.word().store(1, Ordering::Relaxed);
    }

    /// Whether this is a child, and nobody has called [`ForkMark::set`] in it.
    #[inline(always)]
    pub(crate) fn is_wiped(&self) -> bool {
        self.word().load(Ordering::Relaxed) == 0
    }

    #[inline(always)]
    fn word(&self) -> &AtomicU32 {
        // SAFETY: the pointer is that of a static, or of a page that stays mapped.
        unsafe { &*self.0.load(Ordering::Relaxed) }
    }
}

fn map_wiped_on_fork() -> Option<*mut u8> {
    #[cfg(target_os = "linux")]
    {
        let len = page_size();
        let page = map_anonymous(len)?;
        // SAFETY: the page is ours, and nothing is in it yet.
        unsafe {
            if libc::madvise(page.cast::<c_void>(), len, libc::MADV_WIPEONFORK) == 0 {
                return Some(page);
            }
            libc::munmap(page.cast::<c_void>(), len);
        }
    }
    None
}
