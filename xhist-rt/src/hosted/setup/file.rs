//! The file that keeps the rings: its name, and messages if it cannot be used.

use core::ffi::CStr;
use core::fmt::{self, Display};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use qs_core::ring;

use crate::hosted::setup::settings::{self, EVER, FILE};
use crate::hosted::setup::spectra_file;
use crate::hosted::system::mapped::Mapped;
use crate::hosted::system::message;
use crate::hosted::system::message::Shown;
use crate::hosted::system::refusal::{Content, FirstBytes, NoFile, Refusal};
use crate::hosted::system::sys;
use crate::hosted::system::sys::{RingFile, may_be_replaced};

/// Length of the longest path of a ring file, with a zero behind it.
const PATH_LEN: usize = 1024;

/// The ring file, its path, and the request for it: the directory in which the pattern starts, and the pattern. A daemon
/// changes its directory and its environment before it forks.
pub(crate) struct Opened {
    pub(crate) file: RingFile,
    /// Its number among the files of this process, from 2 on, as in a [`Home`](crate::hosted::system::shared_state::Home).
    pub(crate) number: u64,
    asked: Path,
    directory: usize,
    path: Path,
    /// The environment made the request, not the program.
    by_setting: bool,
}

impl Opened {
    /// The path of the file, as seen from the directory in which the file was opened.
    pub(crate) fn path(&self) -> &[u8] {
        &self.path.as_c_str().to_bytes()[self.directory..]
    }
}

static OPENED: Mapped<Opened> = Mapped::new();
/// The number of the next file.
static NEXT: AtomicU64 = AtomicU64::new(2);

/// The file, if there is one and it could be opened.
pub(crate) fn get() -> Option<&'static Opened> {
    OPENED.get()
}

/// Whether the program has closed the descriptor of the file.
pub(crate) fn is_closed() -> bool {
    get().is_some_and(|opened| !opened.file.is_open())
}

/// Opens the file that `pattern` names, or a file beside it if another process uses that one. If it cannot be used,
/// prints the reason on standard error. `by_setting`: the environment made the request, not the program.
pub(crate) fn open(pattern: &[u8], by_setting: bool) -> Option<&'static Opened> {
    let mut asked = Path::new();
    if !sys::is_absolute(pattern) {
        asked.push_working_directory(pattern.len());
    }
    let directory = asked.len;
    asked.push(pattern);
    if asked.is_cut {
        refuse(pattern, by_setting, &asked, Refusal::TooLong);
        return None;
    }
    open_asked(&asked, directory, by_setting, false)
}

fn open_asked(asked: &Path, directory: usize, by_setting: bool, in_child: bool) -> Option<&'static Opened> {
    let pattern = &asked.bytes[directory..asked.len];
    let mut path = Path::new();
    path.push(&asked.bytes[..directory]);
    let is_own = path.expand(pattern);
    let created = create(&mut path, in_child && !is_own).and_then(|file| {
        let known = get().filter(|known| known.file.is_same(file)).map(|known| known.number);
        if known.is_none() && EVER.text().is_some_and(settings::is_threads) {
            spectra_file::open(path.as_c_str());
        }
        let number = known.unwrap_or_else(|| NEXT.fetch_add(1, Ordering::Relaxed));
        let opened = Opened { file, number, asked: asked.clone(), directory, path: path.clone(), by_setting };
        if OPENED.set(opened) { Ok(()) } else { Err(Refusal::NoMemory) }
    });
    if let Err(refusal) = created {
        refuse(pattern, by_setting, &path, refusal);
        return None;
    }
    get()
}

/// Opens the file of a name. `is_of_parent`: the first parent chose the name, though it may have ended. Afterwards
/// the path is the one that was tried last.
fn create(path: &mut Path, is_of_parent: bool) -> Result<RingFile, Refusal> {
    let create = |path: &Path| match get() {
        _ if path.is_cut => Err(NoFile::Refused(Refusal::TooLong)),
        // A second set-up: the process already holds the lock itself.
        Some(opened) if opened.file.is_at(path.as_c_str()) => Ok(opened.file),
        _ => RingFile::create(path.as_c_str(), judge),
    };
    let mut file = if is_of_parent { Err(NoFile::Held) } else { create(path) };
    if matches!(file, Err(NoFile::Held)) {
        path.push_pid();
        file = create(path);
    }
    if matches!(file, Err(NoFile::Kept)) {
        let mut aside = path.clone();
        aside.push_pid();
        if !aside.is_cut && may_be_replaced(aside.as_c_str(), judge) {
            sys::rename(path.as_c_str(), aside.as_c_str());
            file = create(path);
        }
    }
    file.map_err(|no_file| match no_file {
        NoFile::Refused(refusal) => refusal,
        NoFile::Held | NoFile::Kept => Refusal::InUse,
    })
}

/// Prints on standard error that a file cannot be used.
#[cold]
fn refuse(pattern: &[u8], by_setting: bool, path: &Path, refusal: Refusal) {
    let (name, is_text) = if by_setting { (FILE.name(), "=") } else { ("ring file", " ") };
    let tried = path.as_c_str().to_bytes();
    let shown = Shown(pattern);
    if refusal == Refusal::TooLong || tried.ends_with(pattern) {
        message::print(format_args!("{name}{is_text}{shown}: {refusal}; the history stays in memory"));
    } else {
        let tried = Shown(tried);
        message::print(format_args!(
            "{name}{is_text}{shown} ({tried}): {refusal}; the history stays in memory"
        ));
    }
}

/// The file has no room for the first ring, so it cannot show what it lacks.
#[cold]
pub(crate) fn has_no_room() {
    static IS_SAID: AtomicBool = AtomicBool::new(false);
    if let Some(opened) = get()
        && !IS_SAID.swap(true, Ordering::Relaxed)
    {
        let asked = &opened.asked;
        let pattern = &asked.bytes[opened.directory..asked.len];
        let refusal = if is_closed() { Refusal::Closed } else { Refusal::NoRoom };
        refuse(pattern, opened.by_setting, asked, refusal);
    }
}

/// The program named the file when other threads had rings already.
#[cold]
pub(crate) fn lacks(rings: u32) {
    message::print(format_args!(
        "the ring file was set when {rings} other threads ran already: their history stays in memory"
    ));
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Refusal::Link => "it is a symbolic link",
            Refusal::Directory => "it is a directory",
            Refusal::NotAFile => "it is not a regular file",
            Refusal::Foreign => "it is not empty and not a ring file",
            Refusal::OtherOwner => "it belongs to another user",
            Refusal::InUse => "another process uses it",
            Refusal::TooLong => return write!(f, "the path is longer than {} bytes", PATH_LEN - 1),
            Refusal::NoRoom => "there is no room for a ring",
            Refusal::Closed => "the program has closed its descriptor",
            Refusal::NoDirectory => "its directory does not exist",
            Refusal::NotADirectory => "a part of the path is not a directory",
            Refusal::Permission => "permission denied",
            Refusal::ReadOnly => "the file system is read-only",
            Refusal::NameTooLong => "its name is too long",
            Refusal::NoSpace => "no space is left",
            Refusal::TooManyFiles => "too many files are open",
            Refusal::TooManyLinks => "too many symbolic links",
            Refusal::NoMemory => "there is no memory",
            Refusal::System(error) => return write!(f, "error {error} of the system"),
        })
    }
}

/// The content of a file that begins with these bytes. Rings of this process are from the program that it ran before
/// an `exec`.
fn judge(begin: &FirstBytes) -> Content {
    let pid_at = match begin.first_chunk() {
        Some(&ring::MAGIC) => ring::PID_OFFSET,
        Some(&ring::executed::MAGIC) => ring::executed::PID_AT,
        _ => return Content::Foreign,
    };
    if begin[pid_at..].starts_with(&sys::pid().to_ne_bytes()) { Content::Kept } else { Content::Free }
}

/// In a forked child, where the file is the parent's. Returns the parent's, if there is one.
pub(crate) fn forget() -> Option<&'static Opened> {
    let of_parent = get();
    OPENED.forget();
    sys::forget_cuts();
    spectra_file::forget();
    of_parent.inspect(|opened| opened.file.close())
}

/// In a forked child: the parent's file stays the parent's, and is locked while the parent lives.
pub(crate) fn reopen_in_child() {
    if let Some(Opened { asked, directory, by_setting, .. }) = forget() {
        open_asked(asked, *directory, *by_setting, true);
    }
}

/// A C string on the stack.
#[derive(Clone)]
struct Path {
    bytes: [u8; PATH_LEN],
    len: usize,
    /// The text was cut.
    is_cut: bool,
}

impl Path {
    fn new() -> Path {
        Path { bytes: [0; PATH_LEN], len: 0, is_cut: false }
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = PATH_LEN - 1 - self.len;
        self.is_cut |= bytes.len() > room;
        let bytes = &bytes[..bytes.len().min(room)];
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Adds a slash, if there is room for that many more bytes.
    fn push_working_directory(&mut self, more: usize) {
        let mut directory = [0; PATH_LEN];
        let len = sys::working_directory(&mut directory);
        if len > 0 && len + 1 + more < PATH_LEN {
            self.push(&directory[..len]);
            self.push(b"/");
        }
    }

    fn push_pid(&mut self) {
        self.push(b".");
        self.push_number(sys::pid());
    }

    fn push_number(&mut self, number: u32) {
        let mut digits = [0; 10];
        let mut at = digits.len();
        let mut rest = number;
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.push(&digits[at..]);
    }

    /// Fills in `%p` and `%e`, and copies any other `%x`. Returns whether there was a `%p`, so that the name belongs
    /// to this process alone.
    fn expand(&mut self, pattern: &[u8]) -> bool {
        let mut rest = pattern;
        let mut is_own = false;
        while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
            self.push(&rest[..at]);
            match rest.get(at + 1) {
                Some(b'p') => {
                    self.push_number(sys::pid());
                    is_own = true;
                }
                Some(b'e') => {
                    let mut name = [0; 256];
                    let len = sys::program_name(&mut name);
                    self.push(&name[..len]);
                }
                Some(other) => self.push(&[b'%', *other]),
                None => self.push(b"%"),
            }
            rest = rest.get(at + 2..).unwrap_or(&[]);
        }
        self.push(rest);
        is_own
    }

    fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_the_process() {
        let mut path = Path::new();
        path.expand(b"/tmp/%e-%p-%q%");
        let text = path.as_c_str().to_str().expect("UTF-8").to_owned();
        assert!(text.starts_with("/tmp/xhist_rt-"), "{text}");
        assert!(text.ends_with(&format!("-{}-%q%", std::process::id())), "{text}");
    }

    #[test]
    fn a_directory_gets_no_ring_file_beside_it() {
        let name = format!("xhist-no-file-{}", std::process::id());
        let directory = std::env::temp_dir().join(&name);
        std::fs::create_dir(&directory).expect("a new directory");
        assert!(open(directory.as_os_str().as_encoded_bytes(), false).is_none());
        std::fs::remove_dir(&directory).expect("it is empty");
        let entries = std::fs::read_dir(std::env::temp_dir()).expect("a directory").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        assert_eq!(names.filter(|other| other.starts_with(&name)).count(), 0);
    }

    #[test]
    fn a_long_pattern_is_known_to_be_cut() {
        let mut path = Path::new();
        path.expand(&[b'a'; 5000]);
        assert!(path.is_cut);
        assert_eq!(path.as_c_str().count_bytes(), PATH_LEN - 1);
        let mut path = Path::new();
        path.expand(&[b'a'; PATH_LEN - 1]);
        assert!(!path.is_cut);
    }
}
