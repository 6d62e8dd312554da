//! Reads the memory of an emulated target from the emulator's process, at the last moment of that process.
//!
//! An emulator may end in many ways: the program asks for it (semihosting), Ctrl-C, a key of its own, an abort, a time-out.
//! After each of them its memory is gone. So Linux holds the process just before it ends (`PTRACE_O_TRACEEXIT`), with all its
//! memory. Until then it runs as ever, and its command line is the user's. The emulator is the runner itself, or the runner
//! starts it: one for each test, or one behind `timeout`.

use std::io;
use std::process::{Child, ExitStatus};

use super::ring_place::{RingBytes, RingPlace};

/// An emulator that ended.
#[derive(Debug)]
pub(super) struct Emulator {
    pub(super) pid: u32,
    /// Its program and arguments.
    pub(super) words: Vec<String>,
    pub(super) memory: RingBytes,
}

/// Which processes are emulators.
#[derive(Clone, Copy, Debug)]
pub(super) enum Emulators {
    Runner,
    /// Those that the runner starts or becomes, by their names.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux reads their memory"))]
    Started(fn(&str) -> bool),
}

#[cfg(not(target_os = "linux"))]
pub(super) fn run_to_end(
    child: &mut Child,
    _: &RingPlace,
    _: Emulators,
) -> io::Result<(ExitStatus, Vec<Emulator>)> {
    let memory = Err("the memory of QEMU is read on Linux only".to_owned());
    let emulator = Emulator { pid: child.id(), words: Vec::new(), memory };
    Ok((child.wait()?, vec![emulator]))
}

#[cfg(target_os = "linux")]
pub(super) use self::linux::run_to_end;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::os::unix::fs::FileExt as _;
    use std::os::unix::process::ExitStatusExt as _;
    use std::time::Duration;

    use nix::errno::Errno;
    use nix::libc::PTRACE_EVENT_EXIT;
    use nix::sys::ptrace::{self, Options};
    use nix::sys::signal::Signal;
    use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
    use nix::unistd::Pid;
    use qs_core::ring::{self, MAGIC};

    use super::*;
    use crate::runner::firmware::ring_place::OVERWRITTEN;

    /// Host pages and the target's regions begin at multiples of this, so an address keeps its place in a page.
    const PAGE: u64 = 4096;
    /// Bytes that are read at a time.
    const CHUNK: usize = 1 << 20;

    pub(in crate::runner::firmware) fn run_to_end(
        child: &mut Child,
        place: &RingPlace,
        emulators: Emulators,
    ) -> io::Result<(ExitStatus, Vec<Emulator>)> {
        let child_id = child.id();
        let unread = |problem| Emulator { pid: child_id, words: Vec::new(), memory: Err(problem) };
        if let Err(error) = hold(child_id, emulators) {
            let problem = format!("this system does not let the memory of QEMU be read (ptrace: {error})");
            return Ok((child.wait()?, vec![unread(problem)]));
        }
        let mut ended = Vec::new();
        let status = loop {
            let status = match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::__WALL)) {
                Err(Errno::EINTR) => continue,
                status => status?,
            };
            let id = status.pid().map_or(0, |pid| pid.as_raw().cast_unsigned());
            let deliver = match status {
                WaitStatus::Exited(_, code) if id == child_id => break ExitStatus::from_raw(code << 8),
                WaitStatus::Signaled(_, signal, _) if id == child_id => {
                    break ExitStatus::from_raw(signal as i32);
                }
                // A thread, or a process that the runner had started.
                WaitStatus::Exited(..) | WaitStatus::Signaled(..) => continue,
                WaitStatus::PtraceEvent(_, _, PTRACE_EVENT_EXIT) => {
                    ended.extend(words(id, child_id, emulators).map(|words| {
                        wait_for_threads(id);
                        Emulator { pid: id, words, memory: read(id, place) }
                    }));
                    None
                }
                // A signal on its way to the process.
                WaitStatus::Stopped(_, signal) => Some(signal),
                // A stop of the whole process ends with the same event as its start.
                _ => None,
            };
            resume(id, deliver)?;
        };
        if ended.is_empty() {
            ended.push(unread("QEMU was killed, and its memory with it".to_owned()));
        }
        Ok((status, ended))
    }

    fn resume(id: u32, deliver: Option<Signal>) -> io::Result<()> {
        match ptrace::cont(Pid::from_raw(id.cast_signed()), deliver) {
            // It is gone; the next wait says how.
            Ok(()) | Err(Errno::ESRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Has the system hold the runner at its end, or each process that it starts. What it started before is taken as well.
    fn hold(runner: u32, emulators: Emulators) -> nix::Result<()> {
        let mut options = Options::PTRACE_O_TRACEEXIT;
        let starts_them = matches!(emulators, Emulators::Started(_));
        if starts_them {
            options |= Options::PTRACE_O_TRACEFORK;
            options |= Options::PTRACE_O_TRACEVFORK;
            options |= Options::PTRACE_O_TRACECLONE;
        }
        ptrace::seize(Pid::from_raw(runner.cast_signed()), options)?;
        let mut processes: Vec<u32> = starts_them.then_some(runner).into_iter().collect();
        while let Some(process) = processes.pop() {
            for thread in threads(process) {
                // One that is held already refuses.
                let _ = ptrace::seize(Pid::from_raw(thread.cast_signed()), options);
                let children = std::fs::read_to_string(format!("/proc/{process}/task/{thread}/children"));
                processes
                    .extend(children.unwrap_or_default().split(' ').filter_map(|id| id.parse::<u32>().ok()));
            }
        }
        Ok(())
    }

    fn threads(process: u32) -> Vec<u32> {
        let entries = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    /// The words of an emulator; `None` for any other process, and for a thread that is not the first one of its process.
    fn words(id: u32, runner: u32, emulators: Emulators) -> Option<Vec<String>> {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let process = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim();
        if process != id.to_string() {
            return None;
        }
        let line = std::fs::read(format!("/proc/{id}/cmdline")).ok()?;
        let words = line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        let words: Vec<String> = words.collect();
        let is_emulator = match emulators {
            Emulators::Runner => id == runner,
            Emulators::Started(is) => is(words.first()?.rsplit('/').next()?),
        };
        is_emulator.then_some(words)
    }

    /// The first thread is held at its end. The others, which run the target, end by themselves at the same time, and each that
    /// is held goes on.
    fn wait_for_threads(process: u32) {
        const STEPS: usize = 100;
        for _ in 0..STEPS {
            let others: Vec<u32> = threads(process).into_iter().filter(|thread| *thread != process).collect();
            if others.is_empty() {
                return;
            }
            for thread in others {
                let pid = Pid::from_raw(thread.cast_signed());
                if waitpid(pid, Some(WaitPidFlag::__WALL | WaitPidFlag::WNOHANG))
                    .is_ok_and(|status| status.pid().is_some())
                {
                    let _ = resume(thread, None);
                }
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The ring, wherever the emulator has the target's memory.
    fn read(process: u32, place: &RingPlace) -> RingBytes {
        let problem = |error: io::Error| format!("the memory of QEMU cannot be read: {error}");
        let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).map_err(problem)?;
        let file = File::open(format!("/proc/{process}/mem")).map_err(problem)?;
        maps.lines()
            .filter_map(writable)
            .find_map(|(start, end)| find(&file, start, end, place))
            .ok_or_else(|| OVERWRITTEN.to_owned())
    }

    /// The addresses of a region of data: `7f00-7fff rw-p ...`. Machine code that QEMU makes is executable.
    fn writable(line: &str) -> Option<(u64, u64)> {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let address = |text| u64::from_str_radix(text, 16).ok();
        rest.starts_with("rw-").then_some((address(start)?, address(end)?))
    }

    /// The ring in this region. It begins at the same place of a page as in the target.
    fn find(file: &File, start: u64, end: u64, place: &RingPlace) -> Option<Vec<u8>> {
        let (inside, half) = ((place.start % PAGE) as usize, place.len / 2);
        let mut chunk = vec![0; CHUNK + place.len + PAGE as usize];
        let mut at = start;
        while at < end {
            let wanted = chunk.len().min(usize::try_from(end - at).unwrap_or(usize::MAX));
            let read = file.read_at(&mut chunk[..wanted], at).unwrap_or(0);
            for page in (0..CHUNK.min(read)).step_by(PAGE as usize) {
                let Some(image) = chunk[..read].get(page + inside..page + inside + place.len) else { break };
                // With two rings the first may be empty.
                let may_be = image.starts_with(&MAGIC) || image[half..].starts_with(&MAGIC);
                if may_be && ring::find(image).any(|found| found.header.is_ok()) {
                    return Some(image.to_vec());
                }
            }
            at += CHUNK as u64;
        }
        None
    }
}
