//! Reads the memory of an emulated target from the emulator's process, at the last moment of that process.
//!
//! An emulator may end in many ways: the program asks for it (semihosting), Ctrl-C, a key of its own, an abort. After each of
//! them its memory is gone. So Linux holds the process just before it ends (`PTRACE_O_TRACEEXIT`), with all its memory. Until
//! then it runs as ever, and its command line is the user's.

use std::io;
use std::process::{Child, ExitStatus};

use super::ring_place::{RingBytes, RingPlace};

#[cfg(not(target_os = "linux"))]
pub(super) fn run_to_end(child: &mut Child, _: &RingPlace) -> io::Result<(ExitStatus, RingBytes)> {
    Ok((child.wait()?, Err("the memory of QEMU is read on Linux only".to_owned())))
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
    use nix::sys::wait::{WaitStatus, waitpid};
    use nix::unistd::Pid;
    use qs_core::ring::{self, MAGIC};

    use super::*;
    use crate::firmware::ring_place::OVERWRITTEN;

    /// Host pages and the target's regions begin at multiples of this, so an address keeps its place in a page.
    const PAGE: u64 = 4096;
    /// Bytes that are read at a time.
    const CHUNK: usize = 1 << 20;

    pub(in crate::firmware) fn run_to_end(
        child: &mut Child,
        place: &RingPlace,
    ) -> io::Result<(ExitStatus, RingBytes)> {
        let child_id = child.id();
        let pid = Pid::from_raw(child_id.cast_signed());
        if let Err(error) = ptrace::seize(pid, Options::PTRACE_O_TRACEEXIT) {
            let problem = format!("this system does not let the memory of QEMU be read (ptrace: {error})");
            return Ok((child.wait()?, Err(problem)));
        }
        let mut memory = Err("QEMU was killed, and its memory with it".to_owned());
        loop {
            let deliver = match waitpid(pid, None) {
                Err(Errno::EINTR) => continue,
                Err(error) => return Err(error.into()),
                Ok(WaitStatus::Exited(_, code)) => return Ok((ExitStatus::from_raw(code << 8), memory)),
                Ok(WaitStatus::Signaled(_, signal, _)) => {
                    return Ok((ExitStatus::from_raw(signal as i32), memory));
                }
                Ok(WaitStatus::PtraceEvent(_, _, PTRACE_EVENT_EXIT)) => {
                    wait_for_threads(child_id);
                    memory = read(child_id, place);
                    None
                }
                // A signal on its way to the emulator.
                Ok(WaitStatus::Stopped(_, signal)) => Some(signal),
                // A stop of the whole process ends with the same event as its start.
                Ok(_) => None,
            };
            match ptrace::cont(pid, deliver) {
                // It is gone; the next wait says how.
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The first thread is held at its end. The others, which run the target, end by themselves at the same time.
    fn wait_for_threads(process: u32) {
        const STEPS: usize = 100;
        for _ in 0..STEPS {
            let threads = std::fs::read_dir(format!("/proc/{process}/task")).map(Iterator::count);
            if threads.is_ok_and(|threads| threads <= 1) {
                return;
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
