//! The processor time that a command takes, with all that it starts and waits for.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::process::Stdio;

use xhist_tests::Run;

/// A command that has ended well.
pub struct Used {
    /// Seconds, user and system.
    pub seconds: f64,
    pub stdout: String,
}

/// Runs a command to its end, which must be a success.
#[expect(clippy::zombie_processes, reason = "wait4 waits for it")]
pub fn used(run: Run) -> Used {
    let mut command = run.into_command();
    let [mut stdout, mut stderr] = [0; 2].map(|_| tempfile::tempfile().expect("a temporary file"));
    command.stdin(Stdio::null());
    command.stdout(stdout.try_clone().expect("a descriptor"));
    command.stderr(stderr.try_clone().expect("a descriptor"));
    let child = command.spawn().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let (status, usage) = wait4(child.id());
    let [stdout, stderr] = [&mut stdout, &mut stderr].map(text);
    assert_eq!(status, 0, "{command:?}\n{stdout}\n{stderr}");
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Used { seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime), stdout }
}

fn wait4(child: u32) -> (i32, libc::rusage) {
    let child = libc::pid_t::try_from(child).expect("a process id");
    let mut status = 0;
    // SAFETY: every field of `rusage` is a number, and 0 is a value of each.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers lead to local variables of the types that wait4 writes.
    let ended = unsafe { libc::wait4(child, &mut status, 0, &mut usage) };
    assert_eq!(ended, child, "the child ends: {}", std::io::Error::last_os_error());
    (status, usage)
}

fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("a temporary file");
    String::from_utf8_lossy(&bytes).into_owned()
}
