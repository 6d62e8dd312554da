//! Exceptions: the recorder maps memory for a store behind a ring, and leaves every other exception alone.
//!
//! Its vectored handler stays the first one, and each handler of the program has a lane. For that, two functions of the system
//! that the program imports are replaced. They give the system an entry function for each handler. The handler that an entry
//! calls never changes: one compare-and-swap takes a free place, and no place becomes free again.

use core::ffi::c_void;
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use windows_sys::Win32::Foundation::{EXCEPTION_ACCESS_VIOLATION, EXCEPTION_STACK_OVERFLOW};
use windows_sys::Win32::System::Diagnostics::Debug::{
    AddVectoredExceptionHandler, EXCEPTION_CONTINUE_EXECUTION, EXCEPTION_CONTINUE_SEARCH, EXCEPTION_POINTERS,
    LPTOP_LEVEL_EXCEPTION_FILTER, PVECTORED_EXCEPTION_HANDLER, RemoveVectoredExceptionHandler,
    SetUnhandledExceptionFilter,
};

use super::errors::keeping_errno;
use super::process::replace_import;
use crate::hosted::system::callbacks::callbacks;
use crate::hosted::system::lanes::{HandlerFrame, enter, has_ring, leave};

/// Checks the address of a fault. Returns whether the instruction may run again.
type ExceptionCheck = fn(code: i32, address: usize) -> bool;

/// What the system calls at an exception: a vectored handler, or a filter for exceptions that no code handles.
type Handler = unsafe extern "system" fn(*mut EXCEPTION_POINTERS) -> i32;
type AddHandler = unsafe extern "system" fn(u32, PVECTORED_EXCEPTION_HANDLER) -> *mut c_void;
type SetFilter = unsafe extern "system" fn(LPTOP_LEVEL_EXCEPTION_FILTER) -> LPTOP_LEVEL_EXCEPTION_FILTER;

static CHECK: AtomicPtr<()> = AtomicPtr::new(null_mut());
/// The recorder's own vectored handler, as the system knows it.
static OWN: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// The functions of the system that are replaced; 0 = not replaced.
static ADD_HANDLER: AtomicUsize = AtomicUsize::new(0);
static SET_FILTER: AtomicUsize = AtomicUsize::new(0);

/// Lets `check` see each store first that the memory refused, gives handlers of the program lanes, and marks the ring of a thread
/// whose exception no code handles.
pub(crate) fn catch_faults(check: ExceptionCheck) {
    CHECK.store(check as *mut (), Ordering::Release);
    replace_import(c"AddVectoredExceptionHandler", add_handler as *const () as usize, &ADD_HANDLER);
    replace_import(c"SetUnhandledExceptionFilter", set_filter as *const () as usize, &SET_FILTER);
    come_first();
    // SAFETY: entries live as long as the program, because the library stays loaded. The other filter is the program's.
    unsafe {
        let before = system_set_filter(filter_entry(None, FILTER_OF_OTHERS));
        if before.is_some() {
            system_set_filter(filter_entry(before, FILTER_OF_OTHERS));
        }
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
    let check = unsafe { transmute::<*mut (), ExceptionCheck>(check) };
    let address = record.ExceptionInformation[1];
    match keeping_errno(|| check(1, address)) {
        true => EXCEPTION_CONTINUE_EXECUTION,
        false => EXCEPTION_CONTINUE_SEARCH,
    }
}

/// Puts the recorder's handler before all others. The old registration ends last, so that no exception passes meanwhile.
fn come_first() {
    // SAFETY: the handler lives as long as the program, because the library stays loaded. Only this call removes what it added.
    unsafe {
        let before = OWN.swap(system_add_handler(1, Some(on_exception)), Ordering::AcqRel);
        if !before.is_null() {
            RemoveVectoredExceptionHandler(before);
        }
    }
}

/// The system's own function.
///
/// # Safety
/// The handler is callable until it is removed.
unsafe fn system_add_handler(first: u32, handler: PVECTORED_EXCEPTION_HANDLER) -> *mut c_void {
    let add: AddHandler = match ADD_HANDLER.load(Ordering::Acquire) {
        0 => AddVectoredExceptionHandler,
        // SAFETY: `replace_import` stored the function of that name.
        found => unsafe { transmute::<usize, AddHandler>(found) },
    };
    // SAFETY: the caller keeps the contract.
    unsafe { add(first, handler) }
}

/// The system's own function.
///
/// # Safety
/// The filter is callable until there is another one.
unsafe fn system_set_filter(filter: LPTOP_LEVEL_EXCEPTION_FILTER) -> LPTOP_LEVEL_EXCEPTION_FILTER {
    let set: SetFilter = match SET_FILTER.load(Ordering::Acquire) {
        0 => SetUnhandledExceptionFilter,
        // SAFETY: `replace_import` stored the function of that name.
        found => unsafe { transmute::<usize, SetFilter>(found) },
    };
    // SAFETY: the caller keeps the contract.
    unsafe { set(filter) }
}

/// In place of `AddVectoredExceptionHandler`. Handlers from before the first statement of their thread have no lane: the standard
/// library's is one of them.
unsafe extern "system" fn add_handler(first: u32, handler: PVECTORED_EXCEPTION_HANDLER) -> *mut c_void {
    let entry = handler.filter(|_| keeping_errno(has_ring)).and_then(|handler| entry_of(VECTORED, handler));
    // SAFETY: the program passes a handler that is callable until it removes it. An entry is always callable.
    let added = unsafe { system_add_handler(first, entry.or(handler)) };
    if first != 0 {
        keeping_errno(come_first);
    }
    added
}

/// In place of `SetUnhandledExceptionFilter`.
unsafe extern "system" fn set_filter(filter: LPTOP_LEVEL_EXCEPTION_FILTER) -> LPTOP_LEVEL_EXCEPTION_FILTER {
    let kind = if keeping_errno(has_ring) { FILTER } else { FILTER_OF_OTHERS };
    // SAFETY: the program passes a filter that is callable until there is another one. An entry is always callable.
    let before = unsafe { system_set_filter(filter_entry(filter, kind)) };
    match before.and_then(|before| handler_of(before as usize)) {
        None => before,
        Some(handler) if handler == no_filter as *const () as usize => None,
        // SAFETY: `filter_entry` stored it for this entry.
        Some(handler) => unsafe { transmute::<usize, LPTOP_LEVEL_EXCEPTION_FILTER>(handler) },
    }
}

/// The filter of a program that has none.
unsafe extern "system" fn no_filter(_: *mut EXCEPTION_POINTERS) -> i32 {
    EXCEPTION_CONTINUE_SEARCH
}

/// The entry for a filter, or the filter itself if all places are in use.
fn filter_entry(filter: LPTOP_LEVEL_EXCEPTION_FILTER, kind: usize) -> LPTOP_LEVEL_EXCEPTION_FILTER {
    let handler = match filter {
        // SAFETY: the two types differ in the mutability of what the system passes.
        Some(filter) => unsafe { transmute::<usize, Handler>(filter as usize) },
        None => no_filter,
    };
    match entry_of(kind, handler) {
        // SAFETY: as above.
        Some(entry) => unsafe { transmute::<usize, LPTOP_LEVEL_EXCEPTION_FILTER>(entry as usize) },
        None => filter,
    }
}

/// Kinds of handlers: vectored ones, filters, and filters that were set before the first statement of their thread. The last
/// have no lane.
const VECTORED: usize = 0;
const FILTER: usize = 1;
const FILTER_OF_OTHERS: usize = 2;
const KINDS: usize = 3;
/// The largest number of handlers of each kind.
const EACH: usize = 16;

/// The handlers; 0 = a free place.
static HANDLERS: [[AtomicUsize; EACH]; KINDS] = [const { [const { AtomicUsize::new(0) }; EACH] }; KINDS];

macro_rules! entries {
    ($kind:ident: $($place:literal)*) => { [$(entry::<$kind, $place>),*] };
}

static ENTRIES: [[Handler; EACH]; KINDS] = [
    entries!(VECTORED: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15),
    entries!(FILTER: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15),
    entries!(FILTER_OF_OTHERS: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15),
];

unsafe extern "system" fn entry<const KIND: usize, const PLACE: usize>(
    pointers: *mut EXCEPTION_POINTERS,
) -> i32 {
    let handler = HANDLERS[KIND][PLACE].load(Ordering::Acquire);
    // SAFETY: `entry_of` stored a handler before the system got this entry. The system passes its description.
    let result = unsafe {
        let handler = transmute::<usize, Handler>(handler);
        match KIND {
            FILTER_OF_OTHERS => handler(pointers),
            _ => in_lane(handler, pointers),
        }
    };
    if KIND != VECTORED
        && result != EXCEPTION_CONTINUE_EXECUTION
        && let Some(callbacks) = callbacks()
    {
        (callbacks.on_death)();
    }
    result
}

/// Calls a handler. If the exception has interrupted code, the handler records on a lane.
///
/// # Safety
/// The pointers are the system's, and the handler may be called with them.
unsafe fn in_lane(handler: Handler, pointers: *mut EXCEPTION_POINTERS) -> i32 {
    let mut frame = HandlerFrame::new();
    // SAFETY: the caller passes what the system has passed. The frame stays here until `leave`.
    unsafe {
        let EXCEPTION_POINTERS { ExceptionRecord: record, ContextRecord: context } = *pointers;
        let entered = match interrupts((*record).ExceptionCode) {
            true => enter(&mut frame, record.cast(), context.cast()),
            false => None,
        };
        let result = handler(pointers);
        leave(&frame, entered);
        result
    }
}

/// Whether an exception is one of the system's, which come at any instruction. Programs and languages raise theirs by a call, so
/// the handler's statements follow those of the caller: bit 29 marks their codes. A stack that is used up has no room for a lane.
const fn interrupts(code: i32) -> bool {
    const OF_PROGRAMS: i32 = 1 << 29;
    code < 0 && code & OF_PROGRAMS == 0 && code != EXCEPTION_STACK_OVERFLOW
}

/// The entry for a handler; `None` if all places are in use.
fn entry_of(kind: usize, handler: Handler) -> Option<Handler> {
    let handler = handler as usize;
    let is_its = |place: &AtomicUsize| {
        let known = place.compare_exchange(0, handler, Ordering::AcqRel, Ordering::Acquire);
        known.is_ok() || known == Err(handler)
    };
    HANDLERS[kind].iter().position(is_its).map(|place| ENTRIES[kind][place])
}

/// The handler of an entry.
fn handler_of(entry: usize) -> Option<usize> {
    let place = ENTRIES.as_flattened().iter().position(|known| *known as usize == entry)?;
    Some(HANDLERS.as_flattened()[place].load(Ordering::Acquire))
}
