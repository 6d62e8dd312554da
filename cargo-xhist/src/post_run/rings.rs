//! Ring files, read in pieces: the headers of all rings, and the newest part of one ring at a time.
//!
//! Memory does not depend on the size of a file. A path is only read when it leads to a regular file.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use qs_core::record::Statement;
use qs_core::ring::{HOSTED_HEADER_LEN, Header, Item, MAGIC, Reader, Status};

use crate::system;

/// The recorder places each ring at a multiple of the page size, which is a multiple of this.
const PAGE: u64 = 4096;
/// Bytes that are searched at a time.
const CHUNK: usize = 1 << 20;
/// Bytes of a ring that are read for its last statements. More than the longest record and what a writer may be
/// overwriting.
const WINDOW: usize = 4 << 20;
/// More rings than a recorder makes in one file.
const MOST_RINGS: usize = 1 << 12;

/// How a process ended, as its rings show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It still runs.
    Running,
    /// It ran its exit handlers.
    Clean,
    /// It ran its exit handlers, and a thread had panicked.
    Panicked,
    /// It did not run its exit handlers: a signal or `_exit` ended it.
    Died,
}

/// A ring file.
pub(super) struct Process {
    pub(super) path: PathBuf,
    pub(super) pid: u32,
    pub(super) end: End,
    pub(super) rings: Vec<Ring>,
    file: File,
}

/// A ring in a file.
pub(super) struct Ring {
    /// Which one of its file, as `xhist-report --ring` counts.
    pub(super) number: usize,
    pub(super) header: Header,
    offset: u64,
}

/// Opens a path if it leads to a regular file. Does not block, even on a FIFO.
pub(super) fn open(path: &Path, follow_links: bool) -> io::Result<File> {
    let file = system::open(path, follow_links)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file)
}

/// Whether a process has its rings in this file. The recorder locks it.
fn is_in_use(path: &Path, file: &File, pid: u32) -> bool {
    system::is_ring_used(path, file).unwrap_or_else(|| xhist_history::source::is_running(pid))
}

impl Process {
    /// Reads the headers. `None` if all rings are empty.
    pub(super) fn read(path: &Path, follow_links: bool) -> Option<Process> {
        let file = open(path, follow_links).ok()?;
        let mut rings = find(&file, file.metadata().ok()?.len());
        // What handlers recorded is part of their thread's history, which xhist-report prints as one.
        rings.retain(|ring| ring.header.words.parent.is_none() && !ring.is_empty(&file));
        let pid = rings.first()?.header.pid;
        let has = |status: Status| rings.iter().any(|ring| ring.header.status == status);
        let end = match is_in_use(path, &file, pid) {
            _ if has(Status::Killed) => End::Died,
            false if has(Status::Live) => End::Died,
            true => End::Running,
            false if has(Status::Panicked) => End::Panicked,
            false => End::Clean,
        };
        Some(Process { path: path.to_path_buf(), pid, end, rings, file })
    }

    /// The program's name, without the process id.
    pub(super) fn program(&self) -> &str {
        program_of(&self.path)
    }

    /// Whether a panic ended the main thread.
    pub(super) fn has_panicked_in_main(&self) -> bool {
        let is_main = |ring: &&Ring| ring.header.thread_name() == Some("main");
        self.rings.iter().filter(is_main).any(|ring| ring.header.status == Status::Panicked)
    }

    /// Whether one of these statements is in the newest part of a ring.
    pub(super) fn has_any(&self, ring: &Ring, statements: &[Statement]) -> bool {
        let Ok((header, image)) = ring.window(&self.file) else { return false };
        let mut reader = Reader::new(header, &image);
        while let Some(item) = reader.next() {
            if let Item::Statement(statement, _) = item
                && statements.contains(&statement)
            {
                return true;
            }
        }
        false
    }
}

/// By the name of a ring file: the program's, a hyphen, the process id.
pub(super) fn program_of(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = name.split(".xhist").next().unwrap_or_default();
    name.rsplit_once('-').map_or(name, |(program, _)| program)
}

/// The rings of a file: at its start, each a whole number of pages behind the one before. Where none is, the next
/// pages are searched, holes left out.
fn find(file: &File, len: u64) -> Vec<Ring> {
    let (mut rings, mut at) = (Vec::new(), 0);
    let mut chunk = Vec::new();
    while at < len && rings.len() < MOST_RINGS {
        if let Some(header) = header_at(file, at) {
            let ring_len = (header.header_len + header.size) as u64;
            rings.push(Ring { number: rings.len() + 1, header, offset: at });
            at += ring_len.next_multiple_of(PAGE);
            continue;
        }
        // A page that a program wrote by its mapping may count as a hole, but rings follow each other.
        let Some(data) = system::next_data(file, at + PAGE) else { break };
        chunk.resize(CHUNK, 0);
        at = data / PAGE * PAGE;
        let Ok(read) = read_at(file, &mut chunk, at) else { break };
        let pages = chunk[..read].chunks(PAGE as usize);
        match pages.clone().position(|page| page.starts_with(&MAGIC)) {
            Some(page) => at += page as u64 * PAGE,
            None if read < CHUNK => break,
            None => at += (CHUNK as u64) - PAGE,
        }
    }
    rings
}

fn header_at(file: &File, at: u64) -> Option<Header> {
    let mut bytes = [0; HOSTED_HEADER_LEN];
    let read = read_at(file, &mut bytes, at).ok()?;
    Header::parse(&bytes[..read]).ok()
}

/// As much as there is.
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    let mut read = 0;
    while read < bytes.len() {
        match system::read_at(file, &mut bytes[read..], at + read as u64) {
            Ok(0) => break,
            Ok(len) => read += len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

impl Ring {
    fn is_empty(&self, file: &File) -> bool {
        let state = self.header.state;
        let has_words = |open: usize| {
            // There is always an open chunk.
            let (mut unit, first) = ([0; 2], self.offset + (self.header.header_len + open) as u64);
            read_at(file, &mut unit, first).is_ok() && unit != [0; 2]
        };
        state.head() == 0 && !state.open().is_some_and(has_words)
    }

    /// Whether async tasks began in it.
    pub(super) fn has_tasks(&self) -> bool {
        self.header.words.tasks.0 > 0
    }

    /// The newest bytes, as if the ring were no larger: a position keeps its place modulo the size.
    fn window(&self, file: &File) -> io::Result<(Header, Vec<u8>)> {
        let header_len = self.header.header_len;
        if self.header.size <= WINDOW {
            let mut image = vec![0; header_len + self.header.size];
            let read = read_at(file, &mut image, self.offset)?;
            image.truncate(read);
            return Ok((self.header, image));
        }
        let mut header = self.header;
        header.size = WINDOW;
        let mut image = vec![0; header_len + WINDOW];
        let ring = &mut image[header_len..];
        // Both sizes are powers of two, so a part that does not cross a multiple of the window is one piece of both.
        let (start, window) = (header.kept(), WINDOW as u64);
        let turn = (start / window + 1) * window;
        let (low, high) = ring.split_at_mut((start % window) as usize);
        let place = |position: u64| self.offset + header_len as u64 + position % self.header.size as u64;
        read_at(file, high, place(start))?;
        read_at(file, low, place(turn))?;
        Ok((header, image))
    }
}

/// By its name: one that a process put aside has the process id behind.
pub(super) fn is_ring_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().contains(".xhist"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_the_name_without_the_process() {
        assert_eq!(program_of(Path::new("/a/many-d051f148-12.xhist")), "many-d051f148");
        assert_eq!(program_of(Path::new("a/many-12.xhist.12")), "many");
        assert_eq!(program_of(Path::new("ring.xhist")), "ring");
    }

    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_opened() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("file"), "x").expect("a file");
        std::os::unix::fs::symlink(path("file"), path("link")).expect("a link");
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).expect("a socket");
        let fifo = std::process::Command::new("mkfifo").arg(path("fifo")).status().expect("mkfifo");
        assert!(fifo.success());
        assert!(open(&path("file"), false).is_ok());
        assert!(open(&path("link"), true).is_ok());
        for name in ["link", "socket", "fifo", "."] {
            assert!(open(&path(name), false).is_err(), "{name}");
        }
        assert!(open(Path::new("/dev/zero"), true).is_err());
    }

    #[test]
    fn holes_are_not_searched() {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(1 << 40).expect("a file of 1 TiB");
        assert!(find(&file, 1 << 40).is_empty());
    }

    #[test]
    fn a_file_that_a_process_locks_is_in_use() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let other = File::open(file.path()).expect("the same");
        assert!(!is_in_use(file.path(), file.as_file(), 0));
        other.lock().expect("a lock");
        assert!(is_in_use(file.path(), file.as_file(), 0));
    }
}
