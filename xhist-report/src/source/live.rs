//! A file that a running program writes: its bytes as they are now, and whether the program still runs.
//! It must not know what is in it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Fills the buffer with the bytes from an offset on, read anew; whether there were that many.
pub fn read_at(mut file: &File, offset: usize, bytes: &mut [u8]) -> bool {
    file.seek(SeekFrom::Start(offset as u64)).is_ok() && file.read_exact(bytes).is_ok()
}

/// Writes some bytes of a file, which stays as long as it is.
pub fn write_at(path: &Path, offset: usize, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).open(path)?;
    file.seek(SeekFrom::Start(offset as u64))?;
    file.write_all(bytes)
}

/// Whether this open file is the one at the path.
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

/// Whether the process runs here; one that only waits to be noticed by its parent does not.
#[cfg(target_os = "linux")]
pub fn is_running(pid: u32) -> bool {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // The state stands behind the name.
    text.rsplit(") ").next().is_some_and(|rest| !rest.starts_with(['Z', 'X']))
}

/// Not known on this system, so the rings have to tell.
#[cfg(not(target_os = "linux"))]
pub fn is_running(pid: u32) -> bool {
    pid != 0
}
