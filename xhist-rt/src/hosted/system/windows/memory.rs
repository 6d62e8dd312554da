//! Memory of the process.

use core::ptr::null;

use windows_sys::Win32::System::Memory::{MEM_COMMIT, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc};
use windows_sys::Win32::System::SystemInformation::GetSystemInfo;

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
