//! The ring file: opens it without harm to a file of another kind, and makes room in it.
//!
//! The system refuses to cut a file while parts of it are in memory, so no ring loses its file. What is mapped is in the file when
//! the process is terminated.

use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::ptr::{null, null_mut, without_provenance_mut};

use windows_sys::Win32::Foundation::{
    CloseHandle, ERROR_ACCESS_DENIED, ERROR_ALREADY_EXISTS, ERROR_DIRECTORY, ERROR_DISK_FULL,
    ERROR_FILE_NOT_FOUND, ERROR_FILENAME_EXCED_RANGE, ERROR_HANDLE_DISK_FULL, ERROR_INVALID_NAME,
    ERROR_PATH_NOT_FOUND, ERROR_SHARING_VIOLATION, ERROR_TOO_MANY_OPEN_FILES, ERROR_WRITE_PROTECT,
    GENERIC_READ, GENERIC_WRITE, GetLastError, HANDLE, INVALID_HANDLE_VALUE,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, CREATE_ALWAYS, CreateFileW, FILE_APPEND_DATA, FILE_ATTRIBUTE_DIRECTORY,
    FILE_ATTRIBUTE_NORMAL, FILE_ATTRIBUTE_REPARSE_POINT, FILE_BEGIN, FILE_END_OF_FILE_INFO,
    FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_SHARE_DELETE, FILE_SHARE_READ,
    FILE_SHARE_WRITE, FILE_TYPE_DISK, FileEndOfFileInfo, GetFileInformationByHandle, GetFileSizeEx,
    GetFileType, OPEN_ALWAYS, OPEN_EXISTING, ReadFile, SetEndOfFile, SetFileInformationByHandle,
    SetFilePointerEx, WriteFile,
};
use windows_sys::Win32::System::IO::{OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0};

use super::pages;
use super::text::wide;
use crate::hosted::system::mirror::Region;
use crate::hosted::system::refusal::{Content, FirstBytes, NoFile, Refusal};

/// A file opened for rings. Its handle is never closed while it may be in use.
#[derive(Clone, Copy)]
pub(crate) struct RingFile {
    handle: usize,
    volume: u32,
    index: u64,
}

impl RingFile {
    /// Opens and empties the file, unless another process has its rings in it or `judge` finds other content. While it is open,
    /// other processes may read and delete it, but not open it to write.
    pub(crate) fn create(path: &CStr, judge: fn(&FirstBytes) -> Content) -> Result<RingFile, NoFile> {
        let access = GENERIC_READ | GENERIC_WRITE;
        let (handle, is_new) = open(path, access, FILE_SHARE_READ | FILE_SHARE_DELETE, OPEN_ALWAYS)?;
        let claimed = claim(handle, is_new, judge);
        if claimed.is_err() {
            // SAFETY: this function has opened the handle and returns no copy of it.
            unsafe { CloseHandle(handle) };
        }
        claimed
    }

    /// Opens an empty file to append to.
    pub(crate) fn open_to_append(path: &CStr) -> Option<RingFile> {
        let share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
        let (handle, _) = open(path, FILE_APPEND_DATA, share, CREATE_ALWAYS).ok()?;
        Some(RingFile::of(handle, &information(handle)?))
    }

    fn of(handle: HANDLE, information: &BY_HANDLE_FILE_INFORMATION) -> RingFile {
        let index = u64::from(information.nFileIndexHigh) << 32 | u64::from(information.nFileIndexLow);
        RingFile { handle: handle.addr(), volume: information.dwVolumeSerialNumber, index }
    }

    const fn handle(self) -> HANDLE {
        without_provenance_mut(self.handle)
    }

    /// Appends the bytes in one call of the system, so that those of several threads do not mix.
    pub(crate) fn append(self, bytes: &[u8]) {
        let mut written = 0;
        // SAFETY: the bytes have this length, and the handle is open.
        unsafe { WriteFile(self.handle(), bytes.as_ptr(), bytes.len() as u32, &mut written, null_mut()) };
    }

    /// Makes room for `len` bytes at `offset` and replaces the memory, which [`map_with_end`](super::memory::map_with_end) has
    /// mapped, with them. With `keeps` they get the content of the memory, otherwise zeros.
    ///
    /// Only this thread may use the memory.
    pub(crate) fn map_over(self, offset: u64, len: usize, memory: *mut u8, keeps: bool, _: usize) -> bool {
        let len = len.next_multiple_of(super::memory::page_size());
        // SAFETY: the memory is a view of the recorder with this length. The new view has the same content.
        self.reserve(offset, len)
            && unsafe {
                (!keeps || self.write_at(offset, memory, len))
                    && pages::map_file_alone(memory, len, self.handle, offset)
            }
    }

    /// Writes what the memory has to this offset.
    ///
    /// # Safety
    /// The memory has `len` bytes.
    unsafe fn write_at(self, offset: u64, memory: *const u8, len: usize) -> bool {
        let (mut place, mut written) = (place(offset), 0);
        // SAFETY: the caller's memory has these bytes, and the handle is open.
        let is_written =
            unsafe { WriteFile(self.handle(), memory, len as u32, &mut written, &mut place) != 0 };
        is_written && written as usize == len
    }

    /// Makes the file long enough for `len` bytes at `offset`.
    fn reserve(self, offset: u64, len: usize) -> bool {
        let Ok(end) = i64::try_from(offset + len as u64) else { return false };
        let mut size = 0;
        let information = FILE_END_OF_FILE_INFO { EndOfFile: end };
        // SAFETY: there are places for the answers, and the handle is open. Racing threads never shorten the file: the system
        // refuses that where it is mapped.
        unsafe {
            GetFileSizeEx(self.handle(), &mut size) != 0
                && (size >= end
                    || SetFileInformationByHandle(
                        self.handle(),
                        FileEndOfFileInfo,
                        (&raw const information).cast(),
                        size_of::<FILE_END_OF_FILE_INFO>() as u32,
                    ) != 0)
        }
    }

    /// Moves a region into the file: replaces its memory with bytes of the file, from `offset` on, mirrors included. With `keeps`
    /// they get the content of the region, otherwise zeros. Returns false if the file has no room.
    ///
    /// Only this thread may use the region.
    pub(crate) fn move_region(self, offset: u64, region: Region, keeps: bool) -> bool {
        // SAFETY: the region has these bytes.
        let copy = || unsafe { self.write_at(offset, region.header(), region.len()) };
        let put = || (!keeps || copy()) && region.put_file(self.handle, offset);
        self.reserve(offset, region.len()) && put()
    }

    /// Makes sure that the file has these bytes.
    pub(crate) fn restore(self, offset: u64, len: usize) -> bool {
        self.reserve(offset, len)
    }

    /// Closes the handle.
    pub(crate) fn close(self) {
        // SAFETY: the caller uses the file no more.
        unsafe { CloseHandle(self.handle()) };
    }

    /// Whether the handle is still that of the ring file.
    pub(crate) fn is_open(self) -> bool {
        information(self.handle()).is_some_and(|found| self.is_same(RingFile::of(self.handle(), &found)))
    }

    /// Whether both are the same open file.
    pub(crate) fn is_same(self, other: RingFile) -> bool {
        (self.handle, self.volume, self.index) == (other.handle, other.volume, other.index)
    }

    /// Whether the file of that name is this file.
    pub(crate) fn is_at(self, path: &CStr) -> bool {
        let share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
        let Ok((handle, _)) = open(path, 0, share, OPEN_EXISTING) else { return false };
        let named = information(handle).map(|found| RingFile::of(handle, &found));
        // SAFETY: this function has opened the handle.
        unsafe { CloseHandle(handle) };
        named.is_some_and(|named| (named.volume, named.index) == (self.volume, self.index))
    }
}

/// An offset for the system.
fn place(offset: u64) -> OVERLAPPED {
    let parts = OVERLAPPED_0_0 { Offset: offset as u32, OffsetHigh: (offset >> 32) as u32 };
    OVERLAPPED {
        Internal: 0,
        InternalHigh: 0,
        Anonymous: OVERLAPPED_0 { Anonymous: parts },
        hEvent: null_mut(),
    }
}

fn information(handle: HANDLE) -> Option<BY_HANDLE_FILE_INFORMATION> {
    let mut found = MaybeUninit::zeroed();
    // SAFETY: there is a place for the answer, for which all zeros are valid.
    unsafe { (GetFileInformationByHandle(handle, found.as_mut_ptr()) != 0).then(|| found.assume_init()) }
}

/// Opens a name and not what it links to. Returns whether the file is new.
fn open(path: &CStr, access: u32, share: u32, how: u32) -> Result<(HANDLE, bool), NoFile> {
    let Some(path) = wide(path.to_bytes()) else { return Err(NoFile::Refused(Refusal::NameTooLong)) };
    let flags = FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;
    // SAFETY: the name ends with a zero.
    let (handle, error) = unsafe {
        (CreateFileW(path.as_ptr(), access, share, null(), how, flags, null_mut()), GetLastError())
    };
    match error {
        error if handle != INVALID_HANDLE_VALUE => {
            Ok((handle, how == OPEN_ALWAYS && error != ERROR_ALREADY_EXISTS))
        }
        ERROR_SHARING_VIOLATION => Err(NoFile::Held),
        error => Err(NoFile::Refused(refusal(error))),
    }
}

/// The reason for an error number.
fn refusal(error: u32) -> Refusal {
    match error {
        ERROR_PATH_NOT_FOUND => Refusal::NoDirectory,
        ERROR_DIRECTORY => Refusal::NotADirectory,
        ERROR_ACCESS_DENIED => Refusal::Permission,
        ERROR_WRITE_PROTECT => Refusal::ReadOnly,
        ERROR_FILENAME_EXCED_RANGE | ERROR_INVALID_NAME => Refusal::NameTooLong,
        ERROR_DISK_FULL | ERROR_HANDLE_DISK_FULL => Refusal::NoSpace,
        ERROR_TOO_MANY_OPEN_FILES => Refusal::TooManyFiles,
        error => Refusal::System(error.cast_signed()),
    }
}

/// Empties an open file for the rings of this process, if the file may hold them.
fn claim(handle: HANDLE, is_new: bool, judge: fn(&FirstBytes) -> Content) -> Result<RingFile, NoFile> {
    // SAFETY: has no conditions.
    let system = || NoFile::Refused(refusal(unsafe { GetLastError() }));
    let found = check_kind(handle).map_err(NoFile::Refused)?;
    let content = if is_new { Some(Content::Free) } else { content(handle, judge) };
    match content.ok_or_else(system)? {
        Content::Free => {}
        Content::Kept => return Err(NoFile::Kept),
        Content::Foreign => return Err(NoFile::Refused(Refusal::Foreign)),
    }
    // SAFETY: the caller has opened the handle.
    let is_emptied =
        unsafe { SetFilePointerEx(handle, 0, null_mut(), FILE_BEGIN) != 0 && SetEndOfFile(handle) != 0 };
    if is_emptied { Ok(RingFile::of(handle, &found)) } else { Err(system()) }
}

/// Refuses everything but a regular file.
fn check_kind(handle: HANDLE) -> Result<BY_HANDLE_FILE_INFORMATION, Refusal> {
    // SAFETY: the caller has opened the handle.
    if unsafe { GetFileType(handle) } != FILE_TYPE_DISK {
        return Err(Refusal::NotAFile);
    }
    match information(handle) {
        None => Err(Refusal::NotAFile),
        Some(found) if found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT != 0 => Err(Refusal::Link),
        Some(found) if found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY != 0 => Err(Refusal::Directory),
        Some(found) => Ok(found),
    }
}

/// The kind of content that the file has; `None` if it cannot be read.
fn content(handle: HANDLE, judge: fn(&FirstBytes) -> Content) -> Option<Content> {
    let (mut size, mut len, mut begin) = (0, 0, [0; size_of::<FirstBytes>()]);
    // SAFETY: there are places for the answers, and the caller has opened the handle.
    unsafe {
        if GetFileSizeEx(handle, &mut size) == 0 {
            return None;
        }
        if size == 0 {
            return Some(Content::Free);
        }
        let room = begin.len() as u32;
        (ReadFile(handle, begin.as_mut_ptr(), room, &mut len, &mut place(0)) != 0).then(|| judge(&begin))
    }
}

/// Whether the name is free or that of a ring file, so that another file may replace it.
pub(crate) fn may_be_replaced(path: &CStr, judge: fn(&FirstBytes) -> Content) -> bool {
    let share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    match open(path, GENERIC_READ, share, OPEN_EXISTING) {
        Ok((handle, _)) => {
            let may_be = check_kind(handle).is_ok()
                && content(handle, judge).is_some_and(|content| content != Content::Foreign);
            // SAFETY: this function has opened the handle.
            unsafe { CloseHandle(handle) };
            may_be
        }
        Err(NoFile::Refused(Refusal::System(error))) => error.cast_unsigned() == ERROR_FILE_NOT_FOUND,
        Err(_) => false,
    }
}
