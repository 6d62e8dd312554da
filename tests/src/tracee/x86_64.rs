//! ptrace on x86-64 Linux.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use libc::{c_int, iovec, pid_t};

use super::Stop;

/// The kernel's code for a trap that an instruction of the program made.
const SI_KERNEL: c_int = 0x80;
/// All registers of the floating-point and vector units.
const NT_X86_XSTATE: usize = 0x202;
/// Requests that `libc` does not name.
const GETSIGMASK: libc::c_uint = 0x420a;
const SETSIGMASK: libc::c_uint = 0x420b;
const XSTATE_LEN: usize = 16 << 10;
/// Bytes of the blocks in which memory is compared and put back.
const BLOCK: usize = 4096;
/// Bytes below the stack pointer that belong to the function at hand.
const RED_ZONE: u64 = 128;

/// Whether programs can be traced here, and why not.
pub fn may_trace() -> Result<(), String> {
    let mut command = Command::new("true");
    match Tracee::try_start(&mut command) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("programs may not be traced here ({error}): allow ptrace")),
    }
}

/// A traced program, stopped; killed when dropped. Belongs to the thread that started it.
pub struct Tracee {
    child: Child,
    /// The thread at hand: of those of the program, the one that stopped last.
    thread: pid_t,
    regions: Vec<(u64, u64)>,
    stack_end: u64,
}

/// A state of a program's registers, memory and signal mask, not of what else the kernel knows of it.
pub struct Snapshot {
    registers: libc::user_regs_struct,
    vectors: Vec<u8>,
    /// Signals that wait.
    mask: u64,
    regions: Vec<(u64, u64)>,
    memory: Vec<u8>,
}

impl Tracee {
    /// Starts it; it stops before its first instruction.
    pub fn start(command: &mut Command) -> Tracee {
        Tracee::try_start(command).unwrap_or_else(|error| panic!("cannot trace {command:?}: {error}"))
    }

    fn try_start(command: &mut Command) -> std::io::Result<Tracee> {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        // SAFETY: the call is async-signal-safe.
        unsafe {
            command.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            });
        }
        let child = command.spawn()?;
        let thread = child.id() as pid_t;
        let mut tracee = Tracee { child, thread, regions: Vec::new(), stack_end: 0 };
        if tracee.wait() != Stop::Signal(libc::SIGTRAP) {
            return Err(std::io::Error::other("it did not stop"));
        }
        let options = libc::PTRACE_O_EXITKILL | libc::PTRACE_O_TRACECLONE;
        // SAFETY: the program is stopped and ours.
        let set = unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, thread, 0, options) };
        if set == 0 { Ok(tracee) } else { Err(std::io::Error::last_os_error()) }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// One instruction; or, when a signal is given, into its handler.
    pub fn step(&mut self, signal: i32) -> Stop {
        self.request(libc::PTRACE_SINGLESTEP, signal);
        self.wait()
    }

    /// Up to the next mark or signal, also of a thread that it starts or that ends.
    pub fn run(&mut self, signal: i32) -> Stop {
        self.request(libc::PTRACE_CONT, signal);
        self.wait()
    }

    /// As [`Tracee::run`], or up to where a handler ends, if that comes before.
    pub fn run_to_return(&mut self, signal: i32) -> Stop {
        let mut signal = signal;
        loop {
            self.request(libc::PTRACE_SYSCALL, signal);
            let stop = self.wait();
            if stop != Stop::Step || self.call() == libc::SYS_rt_sigreturn {
                return stop;
            }
            signal = 0;
        }
    }

    /// The system call at hand.
    fn call(&self) -> libc::c_long {
        let mut registers = MaybeUninit::<libc::user_regs_struct>::zeroed();
        // SAFETY: the thread is stopped and ours; zeros are registers.
        unsafe {
            libc::ptrace(libc::PTRACE_GETREGS, self.thread, 0, registers.as_mut_ptr());
            registers.assume_init().orig_rax as libc::c_long
        }
    }

    fn request(&self, request: libc::c_uint, signal: i32) {
        // SAFETY: the thread is stopped and ours.
        let done = unsafe { libc::ptrace(request, self.thread, 0, signal as usize) };
        assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
    }

    fn wait(&mut self) -> Stop {
        let main = self.child.id() as pid_t;
        loop {
            let status = self.wait_for(self.thread);
            if libc::WIFSTOPPED(status) {
                let signal = libc::WSTOPSIG(status);
                if signal != libc::SIGTRAP {
                    return Stop::Signal(signal);
                }
                if status >> 16 == libc::PTRACE_EVENT_CLONE {
                    // From here on the new thread is at hand, until it ends.
                    let starter = self.thread;
                    self.thread = self.new_thread();
                    self.wait_for(self.thread);
                    for thread in [starter, self.thread] {
                        // SAFETY: the threads are stopped and ours.
                        unsafe { libc::ptrace(libc::PTRACE_CONT, thread, 0, 0) };
                    }
                    continue;
                }
                return match self.trap_code() {
                    SI_KERNEL => Stop::Mark,
                    code if code > 0 => Stop::Step,
                    _ => Stop::Signal(signal),
                };
            }
            if self.thread == main {
                let by_signal = libc::WIFSIGNALED(status);
                return Stop::Ended(if by_signal {
                    128 + libc::WTERMSIG(status)
                } else {
                    libc::WEXITSTATUS(status)
                });
            }
            self.thread = main;
        }
    }

    fn wait_for(&self, thread: pid_t) -> c_int {
        let mut status = 0;
        // SAFETY: the status is writable.
        let waited = unsafe { libc::waitpid(thread, &mut status, libc::__WALL) };
        assert_eq!(waited, thread, "{}", std::io::Error::last_os_error());
        status
    }

    fn new_thread(&self) -> pid_t {
        let mut thread: libc::c_ulong = 0;
        // SAFETY: the thread is stopped and ours, and the number is writable.
        unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, self.thread, 0, &raw mut thread) };
        thread as pid_t
    }

    fn trap_code(&self) -> c_int {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: as in `new_thread`; zeros are a siginfo.
        unsafe {
            libc::ptrace(libc::PTRACE_GETSIGINFO, self.thread, 0, info.as_mut_ptr());
            info.assume_init().si_code
        }
    }

    /// Where it is, to come back to. It maps no memory from the first snapshot on.
    pub fn snapshot(&mut self) -> Snapshot {
        let mut registers = MaybeUninit::<libc::user_regs_struct>::zeroed();
        let mut vectors = vec![0u8; XSTATE_LEN];
        let mut vector = iovec { iov_base: vectors.as_mut_ptr().cast(), iov_len: XSTATE_LEN };
        let mut mask = 0u64;
        // SAFETY: the thread is stopped and traced by this process. All zeros are valid registers. `vector` has the length of
        // its buffer.
        let registers = unsafe {
            let got = libc::ptrace(libc::PTRACE_GETREGS, self.thread, 0, registers.as_mut_ptr())
                | libc::ptrace(libc::PTRACE_GETREGSET, self.thread, NT_X86_XSTATE, &raw mut vector)
                | libc::ptrace(GETSIGMASK, self.thread, size_of::<u64>(), &raw mut mask);
            assert_eq!(got, 0, "{}", std::io::Error::last_os_error());
            registers.assume_init()
        };
        vectors.truncate(vector.iov_len);
        if self.regions.is_empty() {
            self.find_regions(registers.rsp);
        }
        let mut regions = self.regions.clone();
        regions.push((registers.rsp - RED_ZONE, self.stack_end));
        let memory = self.read(&regions);
        Snapshot { registers, vectors, mask, regions, memory }
    }

    /// Puts it back to where it was.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        let now = self.read(&snapshot.regions);
        let (mut local, mut remote) = (Vec::new(), Vec::new());
        let mut at = 0;
        for (start, end) in &snapshot.regions {
            for address in (*start..*end).step_by(BLOCK) {
                let len = BLOCK.min((end - address) as usize);
                let was = &snapshot.memory[at..at + len];
                if was != &now[at..at + len] {
                    local.push(iovec { iov_base: was.as_ptr().cast_mut().cast(), iov_len: len });
                    remote.push(iovec { iov_base: address as *mut c_void, iov_len: len });
                }
                at += len;
            }
        }
        let mut vector =
            iovec { iov_base: snapshot.vectors.as_ptr().cast_mut().cast(), iov_len: snapshot.vectors.len() };
        // SAFETY: the thread is stopped and traced by this process. The lengths in `local`, `remote` and `vector` are those of
        // their buffers, which only the kernel reads.
        unsafe {
            for (local, remote) in local.chunks(512).zip(remote.chunks(512)) {
                let count = local.len() as libc::c_ulong;
                let written =
                    libc::process_vm_writev(self.thread, local.as_ptr(), count, remote.as_ptr(), count, 0);
                assert!(written > 0, "{}", std::io::Error::last_os_error());
            }
            let set = libc::ptrace(libc::PTRACE_SETREGS, self.thread, 0, &raw const snapshot.registers)
                | libc::ptrace(libc::PTRACE_SETREGSET, self.thread, NT_X86_XSTATE, &raw mut vector)
                | libc::ptrace(SETSIGMASK, self.thread, size_of::<u64>(), &raw const snapshot.mask);
            assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
        }
    }

    /// All that the program may write, its stack aside.
    fn find_regions(&mut self, stack: u64) {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.thread)).expect("maps");
        for line in maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|r| r.starts_with("rw"))) {
            let (start, end) =
                line.split(' ').next().and_then(|range| range.split_once('-')).expect("a range");
            let number = |text| u64::from_str_radix(text, 16).expect("an address");
            let range = (number(start), number(end));
            if (range.0..range.1).contains(&stack) {
                self.stack_end = range.1;
            } else {
                self.regions.push(range);
            }
        }
    }

    fn read(&self, regions: &[(u64, u64)]) -> Vec<u8> {
        let len = |(start, end): &(u64, u64)| (end - start) as usize;
        let mut memory = vec![0u8; regions.iter().map(len).sum()];
        let local = iovec { iov_base: memory.as_mut_ptr().cast(), iov_len: memory.len() };
        let remote: Vec<iovec> = regions
            .iter()
            .map(|region| iovec { iov_base: region.0 as *mut c_void, iov_len: len(region) })
            .collect();
        // SAFETY: `local` has the length of `memory`, which lives through the call.
        let read = unsafe {
            libc::process_vm_readv(self.thread, &local, 1, remote.as_ptr(), remote.len() as libc::c_ulong, 0)
        };
        assert_eq!(read, memory.len() as isize, "{}", std::io::Error::last_os_error());
        memory
    }
}

impl Drop for Tracee {
    fn drop(&mut self) {
        // A process is not gone before all its traced threads were waited for, those of the recorder too.
        let main = self.child.id();
        let tasks = std::fs::read_dir(format!("/proc/{main}/task")).into_iter().flatten().flatten();
        let threads: Vec<u32> =
            tasks.filter_map(|task| task.file_name().to_str().and_then(|name| name.parse().ok())).collect();
        let _ = self.child.kill();
        for thread in threads.into_iter().filter(|thread| *thread != main) {
            let (thread, mut status) = (thread as pid_t, 0);
            // SAFETY: the status is writable.
            while unsafe { libc::waitpid(thread, &mut status, libc::__WALL) } == thread
                && libc::WIFSTOPPED(status)
            {}
        }
        let _ = self.child.wait();
    }
}
