//! Facts about the calling thread: its name, and when it ends.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU64, Ordering};

use qs_core::ring::NAME_LEN;

use crate::hosted::system::sys;

/// Writes the calling thread's name.
pub(crate) fn name(name: &mut [u8; NAME_LEN], is_main: bool) {
    /// Linux keeps at most this many bytes of a name.
    const KEPT: usize = 15;
    name.fill(0);
    if is_main {
        name[..4].copy_from_slice(b"main");
        return;
    }
    let len = sys::thread_name(name);
    // The standard library knows the rest. For a thread that it has not started it would allocate, and in a thread
    // that is ending it would panic. Only between the two does a thread have its signal stack.
    if len >= KEPT && sys::has_signal_stack() {
        let thread = std::thread::current();
        let full = thread.name().map_or(&[][..], str::as_bytes);
        if full.starts_with(&name[..len]) {
            let len = full.len().min(NAME_LEN);
            name[..len].copy_from_slice(&full[..len]);
        }
    }
}

static EXIT_KEY: AtomicU64 = AtomicU64::new(NO_KEY);

const NO_KEY: u64 = u64::MAX;
/// The GNU C library allocates if a thread uses keys from this one on, but the calling code may be an allocator.
const FREE_KEYS: u64 = if cfg!(target_env = "gnu") { 32 } else { NO_KEY };

/// Has a function called with this value when the calling thread ends. It is always the same function. Returns false
/// if that is not possible.
pub(crate) fn call_at_end(function: extern "C" fn(*mut c_void), value: *mut c_void) -> bool {
    let key = exit_key(function);
    if key < FREE_KEYS {
        sys::set_thread_exit_key(key as _, value);
    }
    key < FREE_KEYS
}

fn exit_key(function: extern "C" fn(*mut c_void)) -> u64 {
    let key = EXIT_KEY.load(Ordering::Acquire);
    if key != NO_KEY {
        return key;
    }
    match sys::thread_exit_key(function) {
        None => NO_KEY,
        Some(new) => {
            // Two threads may race. The key of the slower one then takes one of a thousand entries for nothing.
            let _ = EXIT_KEY.compare_exchange(NO_KEY, u64::from(new), Ordering::AcqRel, Ordering::Acquire);
            EXIT_KEY.load(Ordering::Acquire)
        }
    }
}
