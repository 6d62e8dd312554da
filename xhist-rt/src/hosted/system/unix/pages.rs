//! The pages of rings: addresses that are reserved, and pages that are mapped there several times.

use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicI32, AtomicU64};

/// How the system names an open file.
pub(crate) type FileNumber = c_int;

/// Where the pages of a region come from, for one more copy of them.
#[derive(Clone, Copy)]
pub(crate) enum Pages {
    /// The pages that header and data have now.
    Own,
    /// This file, from this offset on.
    File(c_int, u64),
}

/// The pages of a region. For later copies the kernel knows them by their address.
pub(crate) struct KeptPages {
    /// The file that they are part of, or -1, and where they begin in it.
    file: AtomicI32,
    offset: AtomicU64,
}

impl KeptPages {
    pub(crate) const fn new() -> KeptPages {
        KeptPages { file: AtomicI32::new(-1), offset: AtomicU64::new(0) }
    }

    pub(crate) const fn get(&self) -> Pages {
        Pages::Own
    }

    pub(crate) fn set(&self, pages: Pages) {
        let (file, offset) = match pages {
            Pages::Own => (-1, 0),
            Pages::File(file, offset) => (file, offset),
        };
        // A handler that comes between the two finds no file.
        self.file.store(-1, Relaxed);
        self.offset.store(offset, Release);
        self.file.store(file, Release);
    }

    /// Where the pages begin in that file, if they are part of it.
    pub(crate) fn offset_in(&self, file: FileNumber) -> Option<u64> {
        (self.file.load(Acquire) == file).then(|| self.offset.load(Relaxed))
    }
}

/// No swap space is kept for a mapping. FreeBSD keeps none for memory without access.
const NO_RESERVE: c_int = {
    #[cfg(any(target_os = "freebsd", target_os = "dragonfly"))]
    {
        0
    }
    #[cfg(not(any(target_os = "freebsd", target_os = "dragonfly")))]
    {
        libc::MAP_NORESERVE
    }
};

/// Reserves this number of addresses, without memory.
pub(crate) fn reserve_addresses(len: usize) -> Option<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | NO_RESERVE;
    // SAFETY: a new mapping changes no existing memory.
    let start = unsafe { libc::mmap(null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
    (start != libc::MAP_FAILED).then_some(start.cast())
}

/// Gives addresses of [`reserve_addresses`] back.
///
/// # Safety
/// No code uses memory there.
pub(crate) unsafe fn release_addresses(start: *mut u8, len: usize) {
    // SAFETY: the caller owns the reservation, which is unused.
    unsafe { libc::munmap(start.cast(), len) };
}

/// Gives header and data new, zeroed memory at `start`, and maps the data again behind it.
///
/// # Safety
/// The addresses are reserved, also those for the mirror, and no code relies on what is there.
pub(crate) unsafe fn map_new(start: *mut u8, header_len: usize, size: usize) -> Option<Pages> {
    let mirror = start.wrapping_add(header_len + size);
    // SAFETY: the caller owns the addresses and has given up their content.
    let is_mapped = unsafe {
        map_over(start, header_len + size, None)
            && (map_again(start.wrapping_add(header_len), mirror, size)
                || map_new_file(start, header_len, size))
    };
    if is_mapped {
        leave_out_of_dumps(mirror, size);
    }
    is_mapped.then_some(Pages::Own)
}

/// Replaces header and data by `len` bytes of a file, from `offset` on.
///
/// # Safety
/// As for [`map_new`]. The file has these bytes.
pub(crate) unsafe fn map_file(start: *mut u8, len: usize, file: FileNumber, offset: u64) -> Option<Pages> {
    // SAFETY: the caller owns the addresses and has given up their content.
    unsafe { map_over(start, len, Some((file, offset))) }.then_some(Pages::File(file, offset))
}

/// Maps `len` bytes of the data, which are behind `header_len` bytes, once more.
///
/// # Safety
/// As for [`map_new`]. Header and data have these pages.
pub(crate) unsafe fn map_copy(
    pages: Pages,
    header_len: usize,
    data: *mut u8,
    at: *mut u8,
    len: usize,
) -> bool {
    // SAFETY: the caller owns the addresses and has given up their content.
    let is_mapped = unsafe {
        match pages {
            Pages::Own => map_again(data, at, len),
            Pages::File(fd, offset) => {
                map_over(at, len, Some((fd, offset + header_len as u64))) || map_again(data, at, len)
            }
        }
    };
    if is_mapped {
        leave_out_of_dumps(at, len);
    }
    is_mapped
}

/// Takes the memory away there, and keeps the addresses.
///
/// # Safety
/// No code uses the memory.
pub(crate) unsafe fn unmap(at: *mut u8, len: usize) {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | NO_RESERVE | libc::MAP_FIXED;
    // SAFETY: the caller has given the memory up.
    unsafe { libc::mmap(at.cast(), len, libc::PROT_NONE, flags, -1, 0) };
}

/// Replaces a page by a new, zeroed one, and returns whether it could.
///
/// # Safety
/// No code relies on the content of the page.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) unsafe fn replace(at: *mut u8) -> bool {
    // SAFETY: the caller has given the page up.
    unsafe { map_over(at, super::memory::page_size(), None) }
}

/// Maps pages over `len` bytes of a reservation. Without a file the memory is new.
///
/// # Safety
/// The bytes belong to a region, and no code relies on their content.
unsafe fn map_over(at: *mut u8, len: usize, file: Option<(c_int, u64)>) -> bool {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let (fd, offset) = file.unwrap_or((-1, 0));
    let flags = libc::MAP_SHARED | libc::MAP_FIXED | if file.is_none() { libc::MAP_ANON } else { 0 };
    // SAFETY: the caller owns the bytes and has given up their content.
    unsafe { libc::mmap(at.cast(), len, access, flags, fd, offset as libc::off_t) != libc::MAP_FAILED }
}

/// Maps `len` bytes that are mapped at `from` once more at `to`. Without a file only Linux and macOS can do it.
///
/// # Safety
/// The bytes at `to` belong to a region, and no code relies on their content.
pub(crate) unsafe fn map_again(from: *mut u8, to: *mut u8, len: usize) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: an old size of 0 leaves the bytes at `from` unchanged. The caller owns those at `to` and has given up
    // their content.
    return unsafe {
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        libc::mremap(from.cast(), 0, len, flags, to.cast::<core::ffi::c_void>()) != libc::MAP_FAILED
    };
    #[cfg(target_vendor = "apple")]
    {
        let (mut at, mut now, mut most) = (to.addr() as u64, 0, 0);
        let flags = VM_FLAGS_OVERWRITE;
        // SAFETY: without a copy the bytes at `from` stay as they are. The caller owns those at `to` and has given up their
        // content.
        return unsafe {
            let task = mach_task_self_;
            let from = from.addr() as u64;
            mach_vm_remap(
                task,
                &mut at,
                len as u64,
                0,
                flags,
                task,
                from,
                0,
                &mut now,
                &mut most,
                INHERIT_SHARE,
            ) == 0
        };
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    {
        let _ = (from, to, len);
        false
    }
}

/// At this address, in place of what is there.
#[cfg(target_vendor = "apple")]
const VM_FLAGS_OVERWRITE: c_int = 0x4000;
/// A child shares the memory, as it does a shared mapping.
#[cfg(target_vendor = "apple")]
const INHERIT_SHARE: libc::vm_inherit_t = 0;

#[cfg(target_vendor = "apple")]
unsafe extern "C" {
    static mach_task_self_: libc::mach_port_t;
    /// As in `mach/mach_vm.h`.
    fn mach_vm_remap(
        target: libc::mach_port_t,
        address: *mut u64,
        len: u64,
        mask: u64,
        flags: c_int,
        source: libc::mach_port_t,
        from: u64,
        is_copy: libc::boolean_t,
        protection: *mut libc::vm_prot_t,
        most: *mut libc::vm_prot_t,
        inheritance: libc::vm_inherit_t,
    ) -> libc::kern_return_t;
}

/// A file without a name, of this length.
fn nameless_file(len: usize) -> Option<c_int> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the name is a C string.
    let fd = unsafe { libc::syscall(libc::SYS_memfd_create, c"xhist".as_ptr(), libc::MFD_CLOEXEC) as c_int };
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let fd = {
        // A name that no other process uses, from the process id and the time.
        let mut name = *b"/xhist-00000000\0";
        let mut key = super::process::pid() ^ (super::time::nanos() as u32).rotate_left(16);
        for byte in &mut name[7..15] {
            *byte = b"0123456789abcdef"[(key & 15) as usize];
            key >>= 4;
        }
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
        // A variable argument on Apple's systems, whose smallest type is this.
        #[cfg(target_vendor = "apple")]
        let mode: core::ffi::c_uint = 0o600;
        #[cfg(not(target_vendor = "apple"))]
        let mode: libc::mode_t = 0o600;
        // SAFETY: the name ends with a zero byte.
        unsafe {
            let fd = libc::shm_open(name.as_ptr().cast(), flags, mode);
            libc::shm_unlink(name.as_ptr().cast());
            fd
        }
    };
    if fd < 0 {
        return None;
    }
    // SAFETY: this function owns the descriptor.
    if unsafe { libc::ftruncate(fd, len as libc::off_t) } != 0 {
        // SAFETY: this function owns the descriptor, and returns no copy of it.
        unsafe { libc::close(fd) };
        return None;
    }
    Some(fd)
}

/// Keeps the mirror out of dumps, because it only repeats the data.
fn leave_out_of_dumps(start: *mut u8, len: usize) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the advice only concerns dumps.
    unsafe {
        libc::madvise(start.cast(), len, libc::MADV_DONTDUMP);
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = (start, len);
}

/// Header, data and mirror in a file without a name, where memory cannot be mapped twice by itself.
///
/// # Safety
/// `start` is that of a region, and no code relies on the content of the memory.
unsafe fn map_new_file(start: *mut u8, header_len: usize, size: usize) -> bool {
    let Some(fd) = nameless_file(header_len + size) else { return false };
    // SAFETY: the caller owns the memory at `start` and has given up its content. This function owns the descriptor.
    unsafe {
        let is_mapped = map_over(start, header_len + size, Some((fd, 0)))
            && map_over(start.wrapping_add(header_len + size), size, Some((fd, header_len as u64)));
        libc::close(fd);
        is_mapped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_name_works_as_well() {
        const SIZE: usize = 64 << 10;
        let start = reserve_addresses(3 * SIZE).expect("addresses");
        // SAFETY: the test has mapped the addresses.
        unsafe {
            assert!(map_new_file(start, SIZE, SIZE));
            start.wrapping_add(2 * SIZE + 3).write_volatile(0x33);
            assert_eq!(start.wrapping_add(SIZE + 3).read_volatile(), 0x33);
        }
    }
}
