//! Memory of the process.

use core::ffi::c_void;
use core::ptr::null_mut;

use super::masks::with_signals_blocked;

/// The start of a file mapping must be a multiple of this.
pub(crate) fn page_size() -> usize {
    // SAFETY: has no conditions.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(65536).max(4096)
}

/// Maps zeroed memory that stays until the process ends.
pub(crate) fn map_anonymous(len: usize) -> Option<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
    // SAFETY: a new mapping touches no memory that exists.
    let map = unsafe { libc::mmap(null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    (map != libc::MAP_FAILED).then_some(map.cast::<u8>())
}

/// Replaces a mapping with zeroed memory of this process alone. Its first bytes stay.
pub(crate) fn unshare<const KEPT: usize>(memory: *mut u8, len: usize) {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED;
    // SAFETY: the memory is a mapping of the recorder with at least `KEPT` bytes, and signals are blocked.
    with_signals_blocked(|| unsafe {
        let kept = memory.cast::<[u8; KEPT]>().read_unaligned();
        let access = libc::PROT_READ | libc::PROT_WRITE;
        if libc::mmap(memory.cast::<c_void>(), len, access, flags, -1, 0) != libc::MAP_FAILED {
            memory.cast::<[u8; KEPT]>().write_unaligned(kept);
        }
    });
}

/// Maps zeroed memory that [`RingFile::map_over`](super::ring_file::RingFile::map_over) may replace, and a page behind it whose
/// bytes are not free. A writer of frames that misses its end stops there: other processes may write a file that is mapped over
/// the memory.
pub(crate) fn map_with_end(len: usize) -> Option<*mut u8> {
    let (page, end) = (page_size(), len.next_multiple_of(page_size()));
    let memory = map_anonymous(end + page)?;
    // SAFETY: the mapping has this number of bytes.
    unsafe { memory.add(end).write_bytes(0xFF, page) };
    Some(memory)
}
