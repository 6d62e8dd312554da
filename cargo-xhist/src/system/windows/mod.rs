//! Windows. What it lacks is named where it is missing.

mod links;
mod signals;
mod streams;

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

pub(crate) use self::links::{link, link_library, remove_link};
pub(crate) use self::signals::{Caught, leave_signals, signal_name};
pub(crate) use self::streams::{Inner, Outer, channel, follow_size, nowhere, own_streams, wait_for_room};
use super::exceptions;

/// The program of `cargo run` is a child of cargo.
pub(crate) const RUN_REPLACES_CARGO: bool = false;
/// No name of a program that runs can be removed.
pub(crate) const LINKS_RUNNING_PROGRAMS: bool = false;
/// Whether a process with an id runs is not known without a handle of it.
pub(crate) const KNOWS_PROCESSES: bool = false;
/// The most UTF-16 units of a command line are 32,767.
pub(crate) const LONGEST_COMMAND: Option<usize> = Some(30_000);

/// `FILE_FLAG_OPEN_REPARSE_POINT`: a link is opened, and not what it leads to.
const OPEN_LINK: u32 = 0x0020_0000;
/// `ERROR_SHARING_VIOLATION`: another process has the file open and shares it less.
const SHARED_LESS: i32 = 32;

/// Runs a program to its end, and ends with its exit code. Returns why it did not start.
pub(crate) fn become_program(command: &mut Command) -> io::Error {
    leave_signals();
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(101)),
        Err(error) => error,
    }
}

/// The exit code for how a process ended. One of more than a byte is that of an exception: this process ends with it at once.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().unwrap_or(101);
    match u8::try_from(code) {
        Ok(code) => ExitCode::from(code),
        Err(_) => std::process::exit(code),
    }
}

/// Ends as the child did.
pub(crate) fn end_as(status: ExitStatus) -> ExitCode {
    exit_code(status)
}

/// The name of the exception that ended a process.
pub(crate) fn cause_of_death(status: ExitStatus) -> Option<String> {
    exceptions::name_of(status.code()?.cast_unsigned())
}

/// A cause of death has no number of a signal.
pub(crate) fn signal_number(_: &str) -> Option<i32> {
    None
}

/// What is known of the file itself without opening it: when it was made.
pub(crate) fn identity(meta: &Metadata) -> [u64; 2] {
    [meta.creation_time(), 0]
}

/// When the contents were written.
pub(crate) fn modified(meta: &Metadata) -> [i64; 2] {
    since_1970(meta.last_write_time())
}

/// The same: no other time comes without opening the file.
pub(crate) fn changed(meta: &Metadata) -> [i64; 2] {
    modified(meta)
}

/// Seconds and nanoseconds, of a time in steps of 100 nanoseconds since 1601.
fn since_1970(time: u64) -> [i64; 2] {
    const SECOND: u64 = 10_000_000;
    const FROM_1601: i64 = 11_644_473_600;
    [(time / SECOND).cast_signed() - FROM_1601, (time % SECOND * 100).cast_signed()]
}

/// The bytes of a file; what it takes on the disk is not known.
pub(crate) fn bytes_on_disk(meta: &Metadata) -> u64 {
    meta.file_size()
}

/// The name of a program without what this system appends; `None`: the file is no program.
pub(crate) fn program_name<'n>(name: &'n str, meta: &Metadata) -> Option<&'n str> {
    let (stem, end) = name.rsplit_once('.')?;
    (meta.is_file() && end.eq_ignore_ascii_case("exe")).then_some(stem)
}

/// Owners are not checked.
pub(crate) fn user() -> Option<u32> {
    None
}

/// Owners are not checked.
pub(crate) fn owner(_: &Metadata) -> u32 {
    0
}

/// A builder of files that others may read: as their directory says.
pub(crate) fn readable_files() -> tempfile::Builder<'static, 'static> {
    tempfile::Builder::new()
}

/// The file of the running program. It cannot be replaced while it runs.
pub(crate) fn running_program() -> io::Result<PathBuf> {
    std::env::current_exe().map(|path| dunce::simplified(&path).to_path_buf())
}

/// Opens a path for reading.
pub(crate) fn open(path: &Path, follow_links: bool) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(if follow_links { 0 } else { OPEN_LINK }).open(path)
}

/// Whether a process has its rings in this file: the recorder shares it with readers only.
pub(crate) fn is_ring_used(path: &Path, _: &File) -> Option<bool> {
    match OpenOptions::new().write(true).custom_flags(OPEN_LINK).open(path) {
        Ok(_) => Some(false),
        Err(error) => (error.raw_os_error() == Some(SHARED_LESS)).then_some(true),
    }
}

/// The same. A file in use is not removed, whatever is tried.
pub(crate) fn hold_ring(path: &Path, file: &File) -> Option<bool> {
    is_ring_used(path, file)
}

/// Holes are read as zeros.
pub(crate) fn next_data(_: &File, from: u64) -> Option<u64> {
    Some(from)
}

/// Reads at an offset.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek_read(bytes, at)
}

/// The lines that start a program with a variable, for PowerShell. Each part is a word of it.
pub(crate) fn with_variable(name: &str, value: &str, program: &str) -> String {
    format!("$env:{name}='{}'; & {program}", value.trim_matches(['"', '\'']))
}
