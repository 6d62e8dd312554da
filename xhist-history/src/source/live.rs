//! A file that a running program writes: its current bytes, and whether the program still runs.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Reads the current bytes from an offset on. Returns whether the buffer was filled.
pub fn read_at(mut file: &File, offset: usize, bytes: &mut [u8]) -> bool {
    file.seek(SeekFrom::Start(offset as u64)).is_ok() && file.read_exact(bytes).is_ok()
}

/// Overwrites bytes of a file; its length stays.
pub fn write_at(path: &Path, offset: usize, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).open(path)?;
    file.seek(SeekFrom::Start(offset as u64))?;
    file.write_all(bytes)
}

/// Whether the path still names this open file.
#[cfg(unix)]
pub fn is_at(path: &Path, file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let (there, here) = (std::fs::metadata(path)?, file.metadata()?);
    Ok((there.dev(), there.ino()) == (here.dev(), here.ino()))
}

/// Not known on this system.
#[cfg(not(unix))]
pub fn is_at(path: &Path, _: &File) -> io::Result<bool> {
    std::fs::metadata(path).map(|_| true)
}

/// Whether the process runs on this machine. A zombie does not run.
#[cfg(target_os = "linux")]
pub fn is_running(pid: u32) -> bool {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // The state is behind the name.
    text.rsplit(") ").next().is_some_and(|rest| !rest.starts_with(['Z', 'X']))
}

/// The same. A zombie runs.
#[cfg(all(unix, not(target_os = "linux")))]
pub fn is_running(pid: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};

    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // Without the right to send it a signal it is there, too.
    pid.is_some_and(|pid| !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH)))
}
