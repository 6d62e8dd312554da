//! The process: who it is, and what runs when it begins and ends.

use core::ffi::{CStr, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use windows_sys::Win32::System::Diagnostics::Debug::IMAGE_DIRECTORY_ENTRY_IMPORT;
#[cfg(target_pointer_width = "32")]
use windows_sys::Win32::System::Diagnostics::Debug::IMAGE_NT_HEADERS32 as ImageHeaders;
#[cfg(target_pointer_width = "64")]
use windows_sys::Win32::System::Diagnostics::Debug::IMAGE_NT_HEADERS64 as ImageHeaders;
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN,
    GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, GetModuleHandleExW,
};
use windows_sys::Win32::System::Memory::{PAGE_READWRITE, VirtualProtect};
use windows_sys::Win32::System::SystemServices::{
    DLL_PROCESS_ATTACH, DLL_PROCESS_DETACH, DLL_THREAD_DETACH, IMAGE_DOS_HEADER, IMAGE_IMPORT_DESCRIPTOR,
};
use windows_sys::Win32::System::Threading::GetCurrentProcessId;

use super::threads;

/// Functions for the end of the process.
static AT_EXIT: [AtomicPtr<()>; 4] = [const { AtomicPtr::new(null_mut()) }; 4];

/// The loader calls these at the begin and at the end of each thread and of the process: the standard library's (`XLB`), which
/// runs destructors, and then this one. It comes also if the program ends itself (`ExitProcess`), but not if it is terminated.
#[used]
#[unsafe(link_section = ".CRT$XLD")]
static ON_CHANGE: unsafe extern "system" fn(*mut c_void, u32, *mut c_void) = on_change;

unsafe extern "system" fn on_change(_: *mut c_void, reason: u32, _: *mut c_void) {
    match reason {
        DLL_PROCESS_ATTACH => threads::set_main(),
        DLL_THREAD_DETACH => threads::end(),
        DLL_PROCESS_DETACH => run_at_exit(),
        _ => {}
    }
}

/// Runs each function once.
extern "C" fn run_at_exit() {
    for function in AT_EXIT.iter().map(|place| place.swap(null_mut(), Ordering::AcqRel)) {
        if !function.is_null() {
            // SAFETY: `at_exit` stores nothing else.
            unsafe { core::mem::transmute::<*mut (), extern "C" fn()>(function)() };
        }
    }
}

/// Process id.
pub(crate) fn pid() -> u32 {
    // SAFETY: has no conditions.
    unsafe { GetCurrentProcessId() }
}

/// Id of the process that started this one: not known, since that may have ended and another one may have its number.
pub(crate) const fn parent() -> u32 {
    0
}

/// Runs a function when the process exits.
pub(crate) fn at_exit(function: extern "C" fn()) -> bool {
    let is_put = |place: &AtomicPtr<()>| {
        place.compare_exchange(null_mut(), function as *mut (), Ordering::AcqRel, Ordering::Relaxed).is_ok()
    };
    // The C library calls it when `main` returns; wine (8) says nothing to a program that ends.
    // SAFETY: the function lives as long as the program.
    AT_EXIT.iter().any(is_put) && unsafe { libc::atexit(run_at_exit) == 0 }
}

/// Keeps the library with the recorder in memory, even if the program frees it: ending threads and exceptions call the
/// recorder.
pub(crate) fn stay_loaded() {
    image(GET_MODULE_HANDLE_EX_FLAG_PIN);
}

/// The program or library with the recorder, as the loader has mapped it.
fn image(flags: u32) -> *const u8 {
    let mut image = null_mut();
    let flags = flags | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
    // SAFETY: the address is in the image, and there is a place for the answer.
    unsafe { GetModuleHandleExW(flags, stay_loaded as *const u16, &mut image) };
    image.cast_const().cast()
}

/// Puts `own` in place of a function that the image with the recorder imports under this name. Stores the function of the system
/// in `system` first. Where the table of imports cannot be written, nothing changes.
pub(super) fn replace_import(name: &CStr, own: usize, system: &AtomicUsize) {
    let image = image(GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT);
    if image.is_null() {
        return;
    }
    // SAFETY: the loader has read the same headers and tables, which stay mapped with the image.
    unsafe {
        let headers = image.add((*image.cast::<IMAGE_DOS_HEADER>()).e_lfanew as usize).cast::<ImageHeaders>();
        let imports = (*headers).OptionalHeader.DataDirectory[usize::from(IMAGE_DIRECTORY_ENTRY_IMPORT)];
        let mut library = image.add(imports.VirtualAddress as usize).cast::<IMAGE_IMPORT_DESCRIPTOR>();
        while imports.VirtualAddress != 0 && (*library).FirstThunk != 0 {
            let mut slot = image.add((*library).FirstThunk as usize).cast::<usize>().cast_mut();
            let mut named = image.add((*library).Anonymous.OriginalFirstThunk as usize).cast::<usize>();
            while (*library).Anonymous.OriginalFirstThunk != 0 && *named != 0 {
                // The highest bit marks a number in place of a name. Two bytes are in front of a name.
                let is_name = *named >> (usize::BITS - 1) == 0;
                if is_name && CStr::from_ptr(image.add(*named + 2).cast()) == name {
                    replace(slot, own, system);
                }
                (slot, named) = (slot.add(1), named.add(1));
            }
            library = library.add(1);
        }
    }
}

/// Replaces one import.
///
/// # Safety
/// The slot is in the table of imports of the image.
unsafe fn replace(slot: *mut usize, own: usize, system: &AtomicUsize) {
    let (bytes, mut protection, mut ignored) = (size_of::<usize>(), 0, 0);
    // SAFETY: the caller passes a slot that the loader has filled. Other threads only load it, as one aligned word.
    unsafe {
        if VirtualProtect(slot.cast(), bytes, PAGE_READWRITE, &mut protection) != 0 {
            let slot_word = AtomicUsize::from_ptr(slot);
            system.store(slot_word.load(Ordering::Relaxed), Ordering::Release);
            slot_word.store(own, Ordering::Release);
            VirtualProtect(slot.cast(), bytes, protection, &mut ignored);
        }
    }
}

/// Has the loader call a function before `main`, or when it loads the library.
macro_rules! before_main {
    ($function:path) => {
        #[used]
        #[unsafe(link_section = ".CRT$XCU")]
        static BEFORE_MAIN: extern "C" fn() = $function;
    };
}
pub(crate) use before_main;
