//! The calling thread: its number, its name, and its end.

use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use qs_core::ring::NAME_LEN;
use windows_sys::Win32::Foundation::{CloseHandle, LocalFree, WAIT_TIMEOUT};
use windows_sys::Win32::System::Threading::{
    GetCurrentThread, GetCurrentThreadId, GetThreadDescription, OpenThread, THREAD_SYNCHRONIZE,
    WaitForSingleObject,
};

use super::storage::{HAS_STORAGE, set_value, value};
use super::text::narrow;

/// The thread that the process began with.
static MAIN: AtomicU32 = AtomicU32::new(0);
/// What [`call_at_end`] calls.
static AT_END: AtomicPtr<()> = AtomicPtr::new(null_mut());

/// Thread id, as debuggers show it.
pub(crate) fn tid() -> u32 {
    // SAFETY: has no conditions.
    unsafe { GetCurrentThreadId() }
}

/// The calling thread is the one that the process began with.
pub(super) fn set_main() {
    MAIN.store(tid(), Ordering::Relaxed);
}

/// Whether the calling thread is the one that the process began with.
pub(crate) fn is_main_thread() -> bool {
    tid() == MAIN.load(Ordering::Relaxed)
}

/// Writes the calling thread's name, as the standard library or the program has set it.
pub(crate) fn thread_name(name: &mut [u8; NAME_LEN]) {
    name.fill(0);
    if is_main_thread() {
        name[..4].copy_from_slice(b"main");
        return;
    }
    let mut text = null_mut();
    // SAFETY: there is a place for the answer, which ends with a zero and is given back.
    unsafe {
        if GetThreadDescription(GetCurrentThread(), &mut text) < 0 || text.is_null() {
            return;
        }
        let len = (0..NAME_LEN).take_while(|at| *text.add(*at) != 0).count();
        let mut bytes = [0; 3 * NAME_LEN];
        let len = narrow(core::slice::from_raw_parts(text, len), &mut bytes);
        LocalFree(text.cast());
        name.copy_from_slice(&bytes[..NAME_LEN]);
        // A character that is cut is left out.
        if len > NAME_LEN
            && let Err(error) = core::str::from_utf8(name)
        {
            let whole = error.valid_up_to();
            name[whole..].fill(0);
        }
    }
}

/// Has a function called with this value when the calling thread ends, behind the destructors of the standard library. It is
/// always the same function. Returns false where the words of the thread are gone by then.
pub(crate) fn call_at_end(function: extern "C" fn(*mut c_void), value: *mut c_void) -> bool {
    AT_END.store(function as *mut (), Ordering::Release);
    set_value(value);
    HAS_STORAGE
}

/// The calling thread ends.
pub(super) fn end() {
    let function = AT_END.load(Ordering::Acquire);
    let value = value();
    set_value(null_mut());
    if !function.is_null() && !value.is_null() {
        // SAFETY: `call_at_end` stores nothing else.
        let function = unsafe { core::mem::transmute::<*mut (), extern "C" fn(*mut c_void)>(function) };
        function(value);
    }
}

/// Whether a thread of this process has that id.
pub(crate) fn has_thread(tid: u32) -> bool {
    // SAFETY: the handle, if there is one, is closed again.
    unsafe {
        let thread = OpenThread(THREAD_SYNCHRONIZE, 0, tid);
        let has = !thread.is_null() && WaitForSingleObject(thread, 0) == WAIT_TIMEOUT;
        CloseHandle(thread);
        has
    }
}

/// The stacks of threads are large enough.
pub(crate) fn on_large_stack<T>(run: impl FnOnce() -> T) -> T {
    run()
}
