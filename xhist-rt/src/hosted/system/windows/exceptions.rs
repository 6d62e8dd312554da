//! Exceptions: the recorder maps memory for a store behind a ring, and leaves every other exception alone.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use windows_sys::Win32::Foundation::EXCEPTION_ACCESS_VIOLATION;
use windows_sys::Win32::System::Diagnostics::Debug::{
    AddVectoredExceptionHandler, EXCEPTION_CONTINUE_EXECUTION, EXCEPTION_CONTINUE_SEARCH, EXCEPTION_POINTERS,
    LPTOP_LEVEL_EXCEPTION_FILTER, SetUnhandledExceptionFilter,
};

use super::errors::keeping_errno;
use crate::hosted::system::callbacks::callbacks;

/// Checks the address of a fault. Returns whether the instruction may run again.
type ExceptionCheck = fn(code: i32, address: usize) -> bool;

static CHECK: AtomicPtr<()> = AtomicPtr::new(null_mut());
/// The filter that was there before.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Lets `check` see each store first that the memory refused, and marks the ring of a thread whose exception no code handles.
pub(crate) fn catch_faults(check: ExceptionCheck) {
    CHECK.store(check as *mut (), Ordering::Release);
    // SAFETY: both functions live as long as the program, because the library stays loaded.
    unsafe {
        AddVectoredExceptionHandler(1, Some(on_exception));
        let next = SetUnhandledExceptionFilter(Some(on_unhandled));
        NEXT.store(next.map_or(0, |next| next as usize), Ordering::Relaxed);
    }
}

/// Comes first at each exception, also at one that the program handles, and also on a stack that is used up.
unsafe extern "system" fn on_exception(pointers: *mut EXCEPTION_POINTERS) -> i32 {
    // SAFETY: the system passes its description, which lives during the call.
    let record = unsafe { &*(*pointers).ExceptionRecord };
    if record.ExceptionCode != EXCEPTION_ACCESS_VIOLATION {
        return EXCEPTION_CONTINUE_SEARCH;
    }
    let check = CHECK.load(Ordering::Acquire);
    if check.is_null() {
        return EXCEPTION_CONTINUE_SEARCH;
    }
    // SAFETY: `catch_faults` stores nothing else.
    let check = unsafe { core::mem::transmute::<*mut (), ExceptionCheck>(check) };
    let address = record.ExceptionInformation[1];
    match keeping_errno(|| check(1, address)) {
        true => EXCEPTION_CONTINUE_EXECUTION,
        false => EXCEPTION_CONTINUE_SEARCH,
    }
}

/// Comes when no code handles an exception, unless a debugger does.
unsafe extern "system" fn on_unhandled(pointers: *const EXCEPTION_POINTERS) -> i32 {
    if let Some(callbacks) = callbacks() {
        (callbacks.on_death)();
    }
    match NEXT.load(Ordering::Relaxed) {
        0 => EXCEPTION_CONTINUE_SEARCH,
        // SAFETY: the system returned this filter.
        next => match unsafe { core::mem::transmute::<usize, LPTOP_LEVEL_EXCEPTION_FILTER>(next) } {
            // SAFETY: the system passes its description.
            Some(next) => unsafe { next(pointers) },
            None => EXCEPTION_CONTINUE_SEARCH,
        },
    }
}
