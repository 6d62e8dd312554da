//! Memory of the process.

use core::ptr::null;

use windows_sys::Win32::System::Memory::{MEM_COMMIT, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc};
use windows_sys::Win32::System::SystemInformation::GetSystemInfo;

use super::pages;

/// The start of a file mapping must be a multiple of this, which is more than a page of the processor.
pub(crate) fn page_size() -> usize {
    let mut info = core::mem::MaybeUninit::zeroed();
    // SAFETY: there is a place for the answer, for which all zeros are valid.
    let info = unsafe {
        GetSystemInfo(info.as_mut_ptr());
        info.assume_init()
    };
    info.dwAllocationGranularity as usize
}

/// Maps zeroed memory that stays until the process ends.
pub(crate) fn map_anonymous(len: usize) -> Option<*mut u8> {
    // SAFETY: new memory changes no existing memory.
    let memory = unsafe { VirtualAlloc(null(), len, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
    (!memory.is_null()).then_some(memory.cast())
}

/// Maps zeroed memory that [`RingFile::map_over`](super::ring_file::RingFile::map_over) may replace, and a page behind it whose
/// bytes are not free.
pub(crate) fn map_with_end(len: usize) -> Option<*mut u8> {
    let (page, end) = (page_size(), len.next_multiple_of(page_size()));
    let memory = pages::reserve_addresses(end + page)?;
    // SAFETY: the addresses are reserved and unused.
    unsafe {
        if !pages::map_alone(memory, end) || !pages::map_alone(memory.add(end), page) {
            return None;
        }
        memory.add(end).write_bytes(0xFF, page);
    }
    Some(memory)
}
