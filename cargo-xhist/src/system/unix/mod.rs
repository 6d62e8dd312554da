//! Linux, macOS and FreeBSD.

mod links;
mod signals;
mod streams;

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use rustix::fs::{OFlags, SeekFrom, seek};

pub(crate) use self::links::{link, link_library, remove_link};
pub(crate) use self::signals::{Caught, leave_signals, signal_name};
pub(crate) use self::streams::{Inner, Outer, channel, follow_size, nowhere, own_streams, wait_for_room};

/// `cargo run` becomes the program, under the process id of cargo.
pub(crate) const RUN_REPLACES_CARGO: bool = true;
/// A link to a program that runs can be removed.
pub(crate) const LINKS_RUNNING_PROGRAMS: bool = true;
/// A process is known to run by its id alone.
pub(crate) const KNOWS_PROCESSES: bool = true;
/// The most bytes of the arguments of one command; cargo has asked the system before.
pub(crate) const LONGEST_COMMAND: Option<usize> = None;

/// Runs a program in place of this one: pipes, descriptors and exit code are its own. Returns why it did not start.
pub(crate) fn become_program(command: &mut Command) -> io::Error {
    command.exec()
}

/// The exit code for how a process ended. A signal counts as 128 plus its number, as in shells.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(101);
    ExitCode::from(u8::try_from(code).unwrap_or(101))
}

/// Ends as the child did: its caller must see the same signal.
pub(crate) fn end_as(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    exit_code(status)
}

/// The name of the signal that ended a process.
pub(crate) fn cause_of_death(status: ExitStatus) -> Option<String> {
    status.signal().map(|number| signal_name(number).map_or_else(|| format!("signal {number}"), String::from))
}

/// The number that a cause of death has on this system.
pub(crate) fn signal_number(name: &str) -> Option<i32> {
    (1..=64).find(|number| signal_name(*number) == Some(name))
}

/// The file itself, whatever its name: device and inode.
pub(crate) fn identity(meta: &Metadata) -> [u64; 2] {
    [meta.dev(), meta.ino()]
}

/// When the contents were written.
pub(crate) fn modified(meta: &Metadata) -> [i64; 2] {
    [meta.mtime(), meta.mtime_nsec()]
}

/// When anything about the file changed, which no program can set back.
pub(crate) fn changed(meta: &Metadata) -> [i64; 2] {
    [meta.ctime(), meta.ctime_nsec()]
}

/// The bytes that a file takes on the disk.
pub(crate) fn bytes_on_disk(meta: &Metadata) -> u64 {
    meta.blocks() * 512
}

/// The name of a program without what this system appends; `None`: the file is no program.
pub(crate) fn program_name<'n>(name: &'n str, meta: &Metadata) -> Option<&'n str> {
    (meta.is_file() && meta.permissions().mode() & 0o111 != 0).then_some(name)
}

/// Who runs this process.
pub(crate) fn user() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

/// Whom a file belongs to.
pub(crate) fn owner(meta: &Metadata) -> u32 {
    meta.uid()
}

/// A builder of files that others may read.
pub(crate) fn readable_files() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.permissions(PermissionsExt::from_mode(0o644));
    builder
}

/// The file of the running program, also if it was replaced or removed since.
pub(crate) fn running_program() -> io::Result<PathBuf> {
    let named = std::env::current_exe()?;
    let running = PathBuf::from("/proc/self/exe");
    let file = |path: &Path| path.metadata().map(|meta| identity(&meta)).ok();
    Ok(if file(&running).is_some() && file(&running) != file(&named) { running } else { named })
}

/// Opens a path for reading. Does not block, even on a FIFO.
pub(crate) fn open(path: &Path, follow_links: bool) -> io::Result<File> {
    let links = if follow_links { OFlags::empty() } else { OFlags::NOFOLLOW };
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY | links).bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Whether a process has its rings in this file, which the recorder locks. `None`: the file system has no locks.
pub(crate) fn is_ring_used(_: &Path, file: &File) -> Option<bool> {
    let lock = file.try_lock_shared();
    if lock.is_ok() {
        let _ = file.unlock();
    }
    is_refused(lock)
}

/// The same. If no process uses it, none can as long as the file is open.
pub(crate) fn hold_ring(_: &Path, file: &File) -> Option<bool> {
    is_refused(file.try_lock())
}

fn is_refused(lock: Result<(), TryLockError>) -> Option<bool> {
    match lock {
        Ok(()) => Some(false),
        Err(TryLockError::WouldBlock) => Some(true),
        Err(TryLockError::Error(_)) => None,
    }
}

/// The next offset that is no hole.
pub(crate) fn next_data(file: &File, from: u64) -> Option<u64> {
    match seek(file, SeekFrom::Data(from)) {
        Ok(offset) => Some(offset.max(from)),
        Err(rustix::io::Errno::NXIO) => None,
        // A file system that does not know of holes.
        Err(_) => Some(from),
    }
}

/// Reads at an offset.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(bytes, at)
}

/// The line that starts a program with a variable, for a shell. Each part is a word of it.
pub(crate) fn with_variable(name: &str, value: &str, program: &str) -> String {
    format!("{name}={value} {program}")
}
