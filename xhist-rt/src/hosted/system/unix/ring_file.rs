//! The ring file: opens it without harm to a file of another kind, reserves space in it, and maps it.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use super::cut::{report_loss, watch, watch_regions};
use super::errors::{errno, keeping_errno};
use super::files::{identity, identity_of, stat_by, write_all};
use super::masks::with_signals_blocked;
use super::process::user;
use crate::hosted::system::mirror::{self, Region};
use crate::hosted::system::refusal::{Content, FirstBytes, NoFile, Refusal};

/// A file opened for rings, and the identity of the file that its descriptor refers to.
#[derive(Clone, Copy)]
pub(crate) struct RingFile {
    fd: c_int,
    device: u64,
    inode: u64,
}

/// Replaces a new descriptor by a high one: programs expect the low ones to be free, and some close them all.
fn high_copy(low: c_int) -> c_int {
    // SAFETY: the caller has just opened the descriptor.
    let high = unsafe { libc::fcntl(low, libc::F_DUPFD_CLOEXEC, 200) };
    if high < 0 {
        return low;
    }
    // SAFETY: the caller has opened the descriptor, and continues with its copy.
    unsafe { libc::close(low) };
    high
}

impl RingFile {
    /// Opens an empty file to append to.
    pub(crate) fn open_to_append(path: &CStr) -> Option<RingFile> {
        let flags = libc::O_WRONLY
            | libc::O_CREAT
            | libc::O_APPEND
            | libc::O_TRUNC
            | libc::O_NOFOLLOW
            | libc::O_CLOEXEC;
        // SAFETY: the path is a C string.
        let low = unsafe { libc::open(path.as_ptr(), flags, 0o600) };
        if low < 0 {
            return None;
        }
        let fd = high_copy(low);
        identity(fd).map(|(device, inode)| RingFile { fd, device, inode })
    }

    /// Appends the bytes in one call of the system, so that those of several threads do not mix. The program may have closed
    /// the descriptor and opened another file.
    pub(crate) fn append(self, bytes: &[u8]) {
        if self.is_open() {
            keeping_errno(|| write_all(self.fd, bytes.as_ptr(), bytes.len()));
        }
    }

    /// Opens and empties the file, unless another process has its rings in it or `judge` finds other content. Only
    /// its owner may read it. All checks use the opened file, so no other file can replace it meanwhile.
    pub(crate) fn create(path: &CStr, judge: fn(&FirstBytes) -> Content) -> Result<RingFile, NoFile> {
        let (low, is_new) = open_for_rings(path).map_err(NoFile::Refused)?;
        let fd = high_copy(low);
        let claimed = claim(fd, is_new, judge);
        if claimed.is_err() {
            // SAFETY: this function has opened the descriptor and returns no copy of it.
            unsafe { libc::close(fd) };
        }
        claimed
    }

    /// Reserves `len` bytes at `offset` and replaces the memory, which starts a page, with them. With `keeps` they
    /// get the content of the memory, otherwise zeros. Frames begin at `frames_at` of them. Because the bytes are
    /// reserved first, a full disk is an error here and not a fatal signal at a later statement.
    ///
    /// Only this thread may use the memory. Its signals are blocked meanwhile.
    pub(crate) fn map_over(
        self,
        offset: u64,
        len: usize,
        memory: *mut u8,
        keeps: bool,
        frames_at: usize,
    ) -> bool {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        // SAFETY: the memory is a mapping of the recorder. The new mapping has the same content.
        let put = || unsafe {
            (!keeps || self.write_at(offset, memory, len))
                && libc::mmap(memory.cast::<c_void>(), len, access, flags, self.fd, offset as libc::off_t)
                    != libc::MAP_FAILED
        };
        let is_mapped = self.reserve(offset, len) && with_signals_blocked(put);
        if is_mapped {
            watch(memory, len, frames_at, grow_again);
        }
        is_mapped
    }

    /// The file of an open descriptor.
    #[cfg(test)]
    pub(crate) fn of_descriptor(fd: c_int) -> RingFile {
        let (device, inode) = identity(fd).expect("an open file");
        RingFile { fd, device, inode }
    }

    /// Writes what the memory has to this offset.
    ///
    /// # Safety
    /// The memory has `len` bytes.
    unsafe fn write_at(self, offset: u64, memory: *const u8, len: usize) -> bool {
        // SAFETY: the caller's memory has these bytes.
        unsafe { libc::pwrite(self.fd, memory.cast::<c_void>(), len, offset as libc::off_t) == len as isize }
    }

    /// Moves a region into the file: replaces its memory with bytes of the file, from `offset` on, mirrors included. With `keeps`
    /// they get the content of the region, otherwise zeros. Returns false if the file has no room.
    ///
    /// Only this thread may use the region. Its signals are blocked meanwhile.
    pub(crate) fn move_region(self, offset: u64, region: Region, keeps: bool) -> bool {
        // SAFETY: the region has these bytes.
        let copy = || unsafe { self.write_at(offset, region.header(), region.len()) };
        let put = || (!keeps || copy()) && region.put_file(self.fd, offset);
        let is_moved = self.reserve(offset, region.len()) && with_signals_blocked(put);
        if is_moved {
            watch_regions(grow_again);
        }
        is_moved
    }

    /// Makes sure that the file has these bytes, in case another process has cut it. Returns false if that is not
    /// possible.
    pub(crate) fn restore(self, offset: u64, len: usize) -> bool {
        // SAFETY: `stat` is writable.
        match stat_by(|stat| unsafe { libc::fstat(self.fd, stat) }) {
            Ok(stat) if identity_of(&stat) == (self.device, self.inode) => {
                stat.st_size as u64 >= offset + len as u64 || self.reserve(offset, len)
            }
            // The program has closed the descriptor. Mappings stay.
            _ => true,
        }
    }

    /// Closes the descriptor, unless the program has closed it.
    pub(crate) fn close(self) {
        if self.is_open() {
            // SAFETY: the descriptor still refers to the ring file, as `is_open` has checked.
            unsafe { libc::close(self.fd) };
        }
    }

    /// Whether the descriptor is still that of the ring file: the program may have closed it and opened another file.
    pub(crate) fn is_open(self) -> bool {
        identity(self.fd) == Some((self.device, self.inode))
    }

    /// Whether both are the same open file.
    pub(crate) fn is_same(self, other: RingFile) -> bool {
        (self.fd, self.device, self.inode) == (other.fd, other.device, other.inode)
    }

    /// Whether the file of that name is this file.
    pub(crate) fn is_at(self, path: &CStr) -> bool {
        // SAFETY: the path is a C string, and `stat` is writable.
        let named = stat_by(|stat| unsafe { libc::lstat(path.as_ptr(), stat) });
        named.is_ok_and(|stat| identity_of(&stat) == (self.device, self.inode))
    }

    /// Makes the file long enough for `len` bytes at `offset`, with space on the disk where the system can reserve it.
    /// Reports a file that another process has cut: the new bytes make all others zeros, so no signal will come for them.
    fn reserve(self, offset: u64, len: usize) -> bool {
        let cut = LATEST.cut().flatten().filter(|cut| cut.file.is_same(self));
        cut.inspect(Cut::report);
        let is_reserved = self.reserve_bytes(offset, len);
        if is_reserved {
            LATEST.keep(self, offset + len as u64);
            if cut.is_some() {
                report_loss();
            }
        }
        is_reserved
    }

    fn reserve_bytes(self, offset: u64, len: usize) -> bool {
        // If the file grew beyond the limit of this process, a signal would end the process.
        if !self.is_open() || offset + len as u64 > max_file_size() {
            return false;
        }
        // SAFETY: the descriptor still refers to the ring file, as `is_open` has checked. The byte that is written is
        // zero before and after.
        unsafe {
            #[cfg(any(target_os = "linux", target_os = "android"))]
            loop {
                if libc::fallocate(self.fd, 0, offset as libc::off_t, len as libc::off_t) == 0 {
                    return true;
                }
                match errno() {
                    // A debugger has attached, or a stop signal has come. These cannot be blocked.
                    libc::EINTR => {}
                    libc::EOPNOTSUPP => break,
                    _ => return false,
                }
            }
            // Racing threads never shorten the file here: the bytes behind may be mapped.
            let end = (offset + len as u64) as libc::off_t;
            let now = libc::lseek(self.fd, 0, libc::SEEK_END);
            now >= end
                || self.has_room(now, end)
                    && libc::pwrite(self.fd, [0u8].as_ptr().cast::<c_void>(), 1, end - 1) == 1
        }
    }

    /// Reserves space on the disk from the end of the file on. Returns false if the disk is full: a file system may be unable
    /// to reserve any.
    #[cfg(target_vendor = "apple")]
    fn has_room(self, now: libc::off_t, end: libc::off_t) -> bool {
        let mut wanted = libc::fstore_t {
            fst_flags: libc::F_ALLOCATEALL,
            fst_posmode: libc::F_PEOFPOSMODE,
            fst_offset: 0,
            fst_length: end - now,
            fst_bytesalloc: 0,
        };
        // SAFETY: the description is writable.
        let result = unsafe { libc::fcntl(self.fd, libc::F_PREALLOCATE, &raw mut wanted) };
        result != -1 || errno() != libc::ENOSPC
    }

    /// The same.
    #[cfg(target_os = "freebsd")]
    fn has_room(self, now: libc::off_t, end: libc::off_t) -> bool {
        // SAFETY: has no conditions.
        let error = unsafe { libc::posix_fallocate(self.fd, now, end - now) };
        error != libc::ENOSPC
    }

    /// Space was reserved, or the system cannot do it.
    #[cfg(not(any(target_vendor = "apple", target_os = "freebsd")))]
    #[allow(clippy::unused_self, reason = "the same name as where there is one")]
    const fn has_room(self, _: libc::off_t, _: libc::off_t) -> bool {
        true
    }
}

/// The file that got bytes last, and how many it has, for a signal handler.
struct Latest {
    fd: AtomicI32,
    device: AtomicU64,
    inode: AtomicU64,
    len: AtomicU64,
}

static LATEST: Latest = Latest {
    fd: AtomicI32::new(-1),
    device: AtomicU64::new(0),
    inode: AtomicU64::new(0),
    len: AtomicU64::new(0),
};

impl Latest {
    fn keep(&self, file: RingFile, len: u64) {
        if !self.file().is_same(file) {
            self.len.store(0, Ordering::Relaxed);
            self.fd.store(file.fd, Ordering::Relaxed);
            self.device.store(file.device, Ordering::Relaxed);
            self.inode.store(file.inode, Ordering::Relaxed);
        }
        self.len.fetch_max(len, Ordering::Relaxed);
    }

    /// If another thread changes it meanwhile, the identity does not fit the descriptor.
    fn file(&self) -> RingFile {
        RingFile {
            fd: self.fd.load(Ordering::Relaxed),
            device: self.device.load(Ordering::Relaxed),
            inode: self.inode.load(Ordering::Relaxed),
        }
    }

    /// The file if it is shorter than it was. `None` if the program has closed its descriptor.
    fn cut(&self) -> Option<Option<Cut>> {
        // The length is read first: another thread may make the file longer meanwhile.
        let (file, len) = (self.file(), self.len.load(Ordering::Relaxed));
        // SAFETY: `stat` is writable.
        let stat = stat_by(|stat| unsafe { libc::fstat(file.fd, stat) }).ok()?;
        let left = stat.st_size as u64;
        (identity_of(&stat) == (file.device, file.inode))
            .then_some((left < len).then_some(Cut { file, left }))
    }
}

/// A ring file that another process has cut to this length.
#[derive(Clone, Copy)]
struct Cut {
    file: RingFile,
    left: u64,
}

impl Cut {
    /// Reports the ring of which a part is left.
    fn report(&self) {
        mirror::cut_in_two(self.file.fd, self.left);
    }
}

/// Makes the file as long as it was before another process cut it, and fills its holes if asked to. Returns whether it
/// was shorter; `None` if it cannot grow.
fn grow_again(fills_holes: bool) -> Option<bool> {
    let cut = LATEST.cut()?;
    cut.inspect(Cut::report);
    let (file, len) = (LATEST.file(), LATEST.len.load(Ordering::Relaxed) as usize);
    (cut.is_none() && !fills_holes || file.reserve_bytes(0, len)).then_some(cut.is_some())
}

/// The reason for an error number.
fn refusal(error: c_int) -> Refusal {
    match error {
        libc::ENOENT => Refusal::NoDirectory,
        libc::ENOTDIR => Refusal::NotADirectory,
        libc::EACCES | libc::EPERM => Refusal::Permission,
        libc::EROFS => Refusal::ReadOnly,
        libc::ENAMETOOLONG => Refusal::NameTooLong,
        libc::ENOSPC | libc::EDQUOT => Refusal::NoSpace,
        libc::EMFILE | libc::ENFILE => Refusal::TooManyFiles,
        libc::ELOOP => Refusal::TooManyLinks,
        error => Refusal::System(error),
    }
}

/// Opens a file for rings, and returns whether it is new. It only opens regular files, because opening a device or a
/// pipe has effects.
fn open_for_rings(path: &CStr) -> Result<(c_int, bool), Refusal> {
    let flags = libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    // SAFETY: the path is a C string.
    let made = unsafe { libc::open(path.as_ptr(), flags | libc::O_CREAT | libc::O_EXCL, 0o600) };
    if made >= 0 {
        return Ok((made, true));
    }
    if errno() != libc::EEXIST {
        return Err(refusal(errno()));
    }
    // SAFETY: the path is a C string, and `stat` is writable.
    let stat = stat_by(|stat| unsafe { libc::lstat(path.as_ptr(), stat) }).map_err(refusal)?;
    check_kind(&stat)?;
    // SAFETY: the path is a C string.
    match unsafe { libc::open(path.as_ptr(), flags) } {
        fd if fd >= 0 => Ok((fd, false)),
        // The file has become a link since the check.
        _ if errno() == libc::ELOOP => Err(Refusal::Link),
        _ => Err(refusal(errno())),
    }
}

/// Locks and empties an open file for the rings of this process, if the file may hold them.
fn claim(fd: c_int, is_new: bool, judge: fn(&FirstBytes) -> Content) -> Result<RingFile, NoFile> {
    let system = |error| NoFile::Refused(refusal(error));
    // SAFETY: `stat` is writable.
    let stat = stat_by(|stat| unsafe { libc::fstat(fd, stat) }).map_err(system)?;
    check_kind(&stat).map_err(NoFile::Refused)?;
    if !is_new && stat.st_uid != user() {
        return Err(NoFile::Refused(Refusal::OtherOwner));
    }
    let is_foreign = || content(fd, judge).map(|content| content == Content::Foreign);
    // This comes before the lock, because only ring files may be locked.
    if is_foreign().map_err(system)? {
        return Err(NoFile::Refused(Refusal::Foreign));
    }
    // SAFETY: the caller has opened the descriptor.
    if unsafe { libc::flock(fd, libc::LOCK_EX | libc::LOCK_NB) } != 0 {
        let is_held = errno() == libc::EWOULDBLOCK;
        return Err(if is_held { NoFile::Held } else { system(errno()) });
    }
    match content(fd, judge).map_err(system)? {
        Content::Free => {}
        Content::Kept => return Err(NoFile::Kept),
        Content::Foreign => return Err(NoFile::Refused(Refusal::Foreign)),
    }
    // The recorded data belong to the program. Some file systems have no modes.
    if stat.st_mode & 0o7777 != 0o600 {
        // SAFETY: the caller has opened the descriptor.
        unsafe { libc::fchmod(fd, 0o600) };
    }
    // SAFETY: the caller has opened the descriptor.
    if unsafe { libc::ftruncate(fd, 0) } != 0 {
        return Err(system(errno()));
    }
    let (device, inode) = identity_of(&stat);
    Ok(RingFile { fd, device, inode })
}

/// The kind of content that the file has. If a process ended right after it had reserved room, the file has room
/// without content.
fn content(fd: c_int, judge: fn(&FirstBytes) -> Content) -> Result<Content, c_int> {
    let Some(start) = first_data(fd) else { return Ok(Content::Free) };
    let mut begin = [0; size_of::<FirstBytes>()];
    loop {
        // SAFETY: the buffer is writable and has the length that is passed.
        match unsafe { libc::pread(fd, begin.as_mut_ptr().cast(), begin.len(), start) } {
            0 => return Ok(Content::Free),
            len if len > 0 => return Ok(judge(&begin)),
            _ if errno() == libc::EINTR => {}
            _ => return Err(errno()),
        }
    }
}

/// Where the content of a file begins, as far as the system knows; `None` if the file has none.
fn first_data(fd: c_int) -> Option<libc::off_t> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        // SAFETY: the caller has opened the descriptor, and no code uses its position.
        let start = unsafe { libc::lseek(fd, 0, libc::SEEK_DATA) };
        if start >= 0 || errno() == libc::ENXIO {
            return Some(start).filter(|start| *start >= 0);
        }
    }
    let _ = fd;
    Some(0)
}

/// Whether the name is free or that of a ring file, so that another file may replace it.
pub(crate) fn may_be_replaced(path: &CStr, judge: fn(&FirstBytes) -> Content) -> bool {
    let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    // SAFETY: the path is a C string, and `stat` is writable.
    let stat = match stat_by(|stat| unsafe { libc::lstat(path.as_ptr(), stat) }) {
        Ok(stat) => stat,
        Err(error) => return error == libc::ENOENT,
    };
    // SAFETY: the path is a C string.
    let fd = if check_kind(&stat).is_ok() { unsafe { libc::open(path.as_ptr(), flags) } } else { -1 };
    let may_be = fd >= 0 && content(fd, judge).is_ok_and(|content| content != Content::Foreign);
    if fd >= 0 {
        // SAFETY: this function has just opened the descriptor.
        unsafe { libc::close(fd) };
    }
    may_be
}

/// Refuses everything but a regular file.
fn check_kind(stat: &libc::stat) -> Result<(), Refusal> {
    match stat.st_mode & libc::S_IFMT {
        libc::S_IFREG => Ok(()),
        libc::S_IFLNK => Err(Refusal::Link),
        libc::S_IFDIR => Err(Refusal::Directory),
        _ => Err(Refusal::NotAFile),
    }
}

/// The largest size of a file that this process may write.
fn max_file_size() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is writable.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    // The type differs from system to system.
    #[allow(clippy::unnecessary_cast)]
    return limit.rlim_cur as u64;
}
