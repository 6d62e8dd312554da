//! The system's side of a ring file: opening it without harm to what it holds, and mapping parts of it. One of the files
//! that may be `unsafe`. It knows no ring.

use core::ffi::{CStr, c_int, c_void};

use super::cut::{watch, watch_regions};
use super::mirror::Region;
use super::sys::{errno, identity, identity_of, stat_by, user, while_signals_wait};

/// A file opened for rings; remembers which file its descriptor means.
#[derive(Clone, Copy)]
pub(crate) struct RingFile {
    pub(crate) fd: c_int,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// Why there is no ring file of a name.
#[derive(Clone, Copy)]
pub(crate) enum NoFile {
    /// Another process has its rings in it.
    Held,
    /// What it holds is to be kept.
    Kept,
    /// It cannot be used.
    Refused(Refusal),
}

/// Why a file cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The last part of the name is a symbolic link, which may lead anywhere.
    Link,
    Directory,
    /// A device, a pipe, a socket.
    NotAFile,
    /// It holds something else.
    Foreign,
    /// Its owner could read what is recorded.
    OtherOwner,
    /// Other processes have their rings in it.
    InUse,
    /// The path does not fit where it is kept.
    TooLong,
    /// The disk is full, or the file must not grow.
    NoRoom,
    /// An error of the system.
    System(c_int),
}

/// What a file may hold, by the first bytes that it holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Rings that may be overwritten, or nothing.
    Free,
    /// Rings that are to be kept.
    Kept,
    /// Anything else.
    Foreign,
}

/// The first bytes of a file that holds anything.
pub(crate) type Begin = [u8; 128];

impl RingFile {
    /// Opens and empties the file, unless another process has its rings in it, or `judge` says that it holds something
    /// else. Only its owner may read it. All is asked of the opened file, so that none can be put in its place.
    pub(crate) fn create(path: &CStr, judge: fn(&Begin) -> Content) -> Result<RingFile, NoFile> {
        let (low, is_new) = open_for_rings(path).map_err(NoFile::Refused)?;
        // Programs expect the low descriptors to be free, and some close them all.
        // SAFETY: the descriptor is ours.
        let high = unsafe { libc::fcntl(low, libc::F_DUPFD_CLOEXEC, 200) };
        let fd = if high < 0 { low } else { high };
        if fd != low {
            // SAFETY: as above.
            unsafe { libc::close(low) };
        }
        let taken = take(fd, is_new, judge);
        if taken.is_err() {
            // SAFETY: as above.
            unsafe { libc::close(fd) };
        }
        taken
    }

    /// Reserves `len` bytes at `offset` and puts them in the place of as much memory, which starts a page. They hold what
    /// the memory held if `keeps`, and zeros otherwise. Frames begin at `frames_at` of them. Reserving first means that a
    /// full disk is an answer here, and not a fatal signal at some later statement.
    ///
    /// Only this thread may use the memory; its signals wait meanwhile.
    pub(crate) fn map_over(
        self,
        offset: u64,
        len: usize,
        memory: *mut u8,
        keeps: bool,
        frames_at: usize,
    ) -> bool {
        // SAFETY: the memory is a mapping of the recorder's, replaced by one with the same content.
        let put = || unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_SHARED | libc::MAP_FIXED;
            let offset = offset as libc::off_t;
            (!keeps || libc::pwrite(self.fd, memory.cast::<c_void>(), len, offset) == len as isize)
                && libc::mmap(memory.cast::<c_void>(), len, access, flags, self.fd, offset)
                    != libc::MAP_FAILED
        };
        let is_put = self.reserve(offset, len) && while_signals_wait(put);
        if is_put {
            watch(memory, len, frames_at);
        }
        is_put
    }

    /// The file of an open descriptor.
    #[cfg(test)]
    pub(crate) fn of_descriptor(fd: c_int) -> RingFile {
        let (device, inode) = identity(fd).expect("an open file");
        RingFile { fd, device, inode }
    }

    /// The same for a region: reserves its bytes at `offset`, and puts them in the place of its memory, mirrors included.
    /// They hold what the region held if `keeps`, and zeros otherwise.
    ///
    /// Only this thread may use the region; its signals wait meanwhile.
    pub(crate) fn move_region(self, offset: u64, region: Region, keeps: bool) -> bool {
        let (memory, len) = (region.header(), region.len());
        // SAFETY: the region has these bytes.
        let copy = || unsafe { libc::pwrite(self.fd, memory.cast::<c_void>(), len, offset as libc::off_t) };
        let put = || (!keeps || copy() == len as isize) && region.put_file(self.fd, offset);
        let is_put = self.reserve(offset, len) && while_signals_wait(put);
        if is_put {
            watch_regions();
        }
        is_put
    }

    /// Sees to it that the file has these bytes, in case somebody cut it; false when it cannot.
    pub(crate) fn restore(self, offset: u64, len: usize) -> bool {
        // SAFETY: there is a place for the answer.
        match stat_by(|stat| unsafe { libc::fstat(self.fd, stat) }) {
            Ok(stat) if identity_of(&stat) == (self.device, self.inode) => {
                stat.st_size as u64 >= offset + len as u64 || self.reserve(offset, len)
            }
            // The program closed the descriptor. What is mapped stays so.
            _ => true,
        }
    }

    /// Closes the descriptor, unless the program did.
    pub(crate) fn close(self) {
        if self.is_open() {
            // SAFETY: the descriptor is our file's.
            unsafe { libc::close(self.fd) };
        }
    }

    /// The program may have closed our descriptor and opened a file of its own in its place.
    fn is_open(self) -> bool {
        identity(self.fd) == Some((self.device, self.inode))
    }

    /// Whether this is the file of that name.
    pub(crate) fn is_at(self, path: &CStr) -> bool {
        // SAFETY: the path is a C string, and there is a place for the answer.
        let named = stat_by(|stat| unsafe { libc::lstat(path.as_ptr(), stat) });
        named.is_ok_and(|stat| identity_of(&stat) == (self.device, self.inode))
    }

    fn reserve(self, offset: u64, len: usize) -> bool {
        // Growing beyond the limit of this process would be a signal that ends it.
        if !self.is_open() || offset + len as u64 > longest_file() {
            return false;
        }
        // SAFETY: the descriptor is our file's; the byte that is written is zero, as it is.
        unsafe {
            #[cfg(any(target_os = "linux", target_os = "android"))]
            loop {
                if libc::fallocate(self.fd, 0, offset as libc::off_t, len as libc::off_t) == 0 {
                    return true;
                }
                match errno() {
                    // A debugger came, or a stop: signals that nobody can hold back.
                    libc::EINTR => {}
                    libc::EOPNOTSUPP => break,
                    _ => return false,
                }
            }
            // No shorter, whoever is faster: what lies behind may be mapped.
            let end = (offset + len as u64) as libc::off_t;
            libc::lseek(self.fd, 0, libc::SEEK_END) >= end
                || libc::pwrite(self.fd, [0u8].as_ptr().cast::<c_void>(), 1, end - 1) == 1
        }
    }
}

/// Opens a file to keep rings in, and says whether it was made. What is no regular file is not opened, because opening
/// a device or a pipe has effects.
fn open_for_rings(path: &CStr) -> Result<(c_int, bool), Refusal> {
    let flags = libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    // SAFETY: the path is a C string.
    let made = unsafe { libc::open(path.as_ptr(), flags | libc::O_CREAT | libc::O_EXCL, 0o600) };
    if made >= 0 {
        return Ok((made, true));
    }
    if errno() != libc::EEXIST {
        return Err(Refusal::System(errno()));
    }
    // SAFETY: the path is a C string, and there is a place for the answer.
    let stat = stat_by(|stat| unsafe { libc::lstat(path.as_ptr(), stat) }).map_err(Refusal::System)?;
    check_kind(&stat)?;
    // SAFETY: as above.
    match unsafe { libc::open(path.as_ptr(), flags) } {
        fd if fd >= 0 => Ok((fd, false)),
        // It became one since.
        _ if errno() == libc::ELOOP => Err(Refusal::Link),
        _ => Err(Refusal::System(errno())),
    }
}

/// Takes an open file for the rings of this process, if it may hold them.
fn take(fd: c_int, is_new: bool, judge: fn(&Begin) -> Content) -> Result<RingFile, NoFile> {
    let system = |error| NoFile::Refused(Refusal::System(error));
    // SAFETY: there is a place for the answer.
    let stat = stat_by(|stat| unsafe { libc::fstat(fd, stat) }).map_err(system)?;
    check_kind(&stat).map_err(NoFile::Refused)?;
    if !is_new && stat.st_uid != user() {
        return Err(NoFile::Refused(Refusal::OtherOwner));
    }
    let is_foreign = || content(fd, judge).map(|content| content == Content::Foreign);
    // Before the lock, which is nobody's business but that of rings.
    if is_foreign().map_err(system)? {
        return Err(NoFile::Refused(Refusal::Foreign));
    }
    // SAFETY: the descriptor is ours.
    if unsafe { libc::flock(fd, libc::LOCK_EX | libc::LOCK_NB) } != 0 {
        let is_held = errno() == libc::EWOULDBLOCK;
        return Err(if is_held { NoFile::Held } else { system(errno()) });
    }
    match content(fd, judge).map_err(system)? {
        Content::Free => {}
        Content::Kept => return Err(NoFile::Kept),
        Content::Foreign => return Err(NoFile::Refused(Refusal::Foreign)),
    }
    // What is recorded is the program's data. Some file systems know no modes.
    if stat.st_mode & 0o7777 != 0o600 {
        // SAFETY: the descriptor is ours.
        unsafe { libc::fchmod(fd, 0o600) };
    }
    // SAFETY: as above.
    if unsafe { libc::ftruncate(fd, 0) } != 0 {
        return Err(system(errno()));
    }
    let (device, inode) = identity_of(&stat);
    Ok(RingFile { fd, device, inode })
}

/// What the file holds. A process that ended at once may have left one with room that nothing was written to.
fn content(fd: c_int, judge: fn(&Begin) -> Content) -> Result<Content, c_int> {
    let Some(start) = first_data(fd) else { return Ok(Content::Free) };
    let mut begin = [0; size_of::<Begin>()];
    loop {
        // SAFETY: the buffer is writable and as long as told.
        match unsafe { libc::pread(fd, begin.as_mut_ptr().cast(), begin.len(), start) } {
            0 => return Ok(Content::Free),
            len if len > 0 => return Ok(judge(&begin)),
            _ if errno() == libc::EINTR => {}
            _ => return Err(errno()),
        }
    }
}

/// Where a file holds its first bytes, as far as the system knows; `None` when it holds none.
fn first_data(fd: c_int) -> Option<libc::off_t> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        // SAFETY: the descriptor is ours, and nothing uses its position.
        let start = unsafe { libc::lseek(fd, 0, libc::SEEK_DATA) };
        if start >= 0 || errno() == libc::ENXIO {
            return Some(start).filter(|start| *start >= 0);
        }
    }
    let _ = fd;
    Some(0)
}

/// Whether a name is free, or that of a file of rings, so that another may take its place.
pub(crate) fn may_be_replaced(path: &CStr, judge: fn(&Begin) -> Content) -> bool {
    let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    // SAFETY: the path is a C string, and there is a place for the answer.
    let stat = match stat_by(|stat| unsafe { libc::lstat(path.as_ptr(), stat) }) {
        Ok(stat) => stat,
        Err(error) => return error == libc::ENOENT,
    };
    // SAFETY: the path is a C string.
    let fd = if check_kind(&stat).is_ok() { unsafe { libc::open(path.as_ptr(), flags) } } else { -1 };
    let may_be = fd >= 0 && content(fd, judge).is_ok_and(|content| content != Content::Foreign);
    if fd >= 0 {
        // SAFETY: the descriptor is ours.
        unsafe { libc::close(fd) };
    }
    may_be
}

fn check_kind(stat: &libc::stat) -> Result<(), Refusal> {
    match stat.st_mode & libc::S_IFMT {
        libc::S_IFREG => Ok(()),
        libc::S_IFLNK => Err(Refusal::Link),
        libc::S_IFDIR => Err(Refusal::Directory),
        _ => Err(Refusal::NotAFile),
    }
}

/// How long this process may make a file.
fn longest_file() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is writable.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    // The type differs from system to system.
    #[allow(clippy::unnecessary_cast)]
    return limit.rlim_cur as u64;
}
