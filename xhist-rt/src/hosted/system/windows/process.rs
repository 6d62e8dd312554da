//! The process: who it is, and what runs when it begins and ends.

use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
};
use windows_sys::Win32::System::SystemServices::{DLL_PROCESS_ATTACH, DLL_PROCESS_DETACH, DLL_THREAD_DETACH};
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
    let mut library = null_mut();
    let flags = GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
    // SAFETY: the address is in the library, and there is a place for the answer.
    unsafe { GetModuleHandleExW(flags, stay_loaded as *const u16, &mut library) };
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
