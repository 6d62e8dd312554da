//! The process: who it is, and what runs when it ends.

/// Process id.
pub(crate) fn pid() -> u32 {
    // SAFETY: has no conditions.
    unsafe { libc::getpid() as u32 }
}

/// Id of the process that started this one, unless that has ended.
pub(crate) fn parent() -> u32 {
    // SAFETY: has no conditions.
    unsafe { libc::getppid() }.cast_unsigned()
}

/// The user whose rights the process has.
pub(crate) fn user() -> u32 {
    // SAFETY: has no conditions.
    unsafe { libc::geteuid() }
}

/// Runs a function when the process exits. Must not be called in a signal handler.
pub(crate) fn at_exit(function: extern "C" fn()) -> bool {
    // SAFETY: the function lives as long as the program.
    unsafe { libc::atexit(function) == 0 }
}

/// Keeps the shared object with the recorder in memory, even if the program closes it: ending threads and signals
/// call the recorder. Must not be called in a signal handler, because it takes the loader's lock.
pub(crate) fn stay_loaded() {
    // Without a loader nothing is unloaded.
    #[cfg(not(target_feature = "crt-static"))]
    // SAFETY: `dladdr` fills in the fields that it reports, and the name is a C string of the loader.
    unsafe {
        use core::ffi::c_void;
        let object_of = |address: *const c_void| {
            let mut info = core::mem::MaybeUninit::<libc::Dl_info>::uninit();
            (libc::dladdr(address, info.as_mut_ptr()) != 0).then(|| info.assume_init())
        };
        let Some(own) = object_of(stay_loaded as *const c_void).filter(|own| !own.dli_fname.is_null()) else {
            return;
        };
        // The program itself is never unloaded, and its name may be that of another file here.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            let headers = libc::getauxval(libc::AT_PHDR) as *const c_void;
            if object_of(headers).is_some_and(|program| program.dli_fbase == own.dli_fbase) {
                return;
            }
        }
        // The object is loaded, so no file is opened. The handle is never closed.
        libc::dlopen(own.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE);
    }
}

/// Has the loader call a function before `main`, or when it loads the shared object.
macro_rules! before_main {
    ($function:path) => {
        #[used]
        #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
        #[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
        static BEFORE_MAIN: extern "C" fn() = $function;
    };
}
pub(crate) use before_main;
