//! What the program was started with: environment, directory, name, rights.

use core::ffi::{CStr, c_char};

/// An environment variable. The bytes stay valid until the program changes its environment.
pub(crate) fn getenv(name: &CStr) -> Option<&'static [u8]> {
    // SAFETY: the name is a C string; `getenv` allocates nothing.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: `getenv` gives a C string.
    Some(unsafe { CStr::from_ptr(value) }.to_bytes())
}

/// Calls `visit` with the name of each variable of the environment.
pub(crate) fn for_each_variable(mut visit: impl FnMut(&[u8])) {
    // SAFETY: the list is null, or points to C strings that end with a null pointer. No other thread changes it while the
    // environment is read, as for `getenv`.
    unsafe {
        let mut at = variables();
        while !at.is_null() && !(*at).is_null() {
            visit(CStr::from_ptr(*at).to_bytes().split(|byte| *byte == b'=').next().unwrap_or_default());
            at = at.add(1);
        }
    }
}

/// The list of the variables. A library of Apple's systems has no other way to it.
#[cfg(target_vendor = "apple")]
fn variables() -> *const *const c_char {
    // SAFETY: the call returns the place of the list.
    unsafe { (*libc::_NSGetEnviron()).cast() }
}

/// The list of the variables.
#[cfg(not(target_vendor = "apple"))]
fn variables() -> *const *const c_char {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    // SAFETY: the C library has it. Only calls that change the environment write it.
    unsafe { environ }
}

/// Whether the program has rights that its caller does not have: setuid, setgid, file capabilities.
pub(crate) fn has_more_rights_than_its_caller() -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: has no conditions.
    return unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    // SAFETY: have no conditions.
    return unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() };
}

/// Whether a path says where it starts.
pub(crate) fn is_absolute(path: &[u8]) -> bool {
    path.starts_with(b"/")
}

/// The working directory. The length is 0 if it has no name, or a name that does not fit.
pub(crate) fn working_directory(buffer: &mut [u8]) -> usize {
    // SAFETY: the buffer has the length that is passed, and the call writes a C string.
    let name = unsafe { libc::getcwd(buffer.as_mut_ptr().cast::<c_char>(), buffer.len()) };
    if name.is_null() { 0 } else { buffer.iter().position(|byte| *byte == 0).unwrap_or(0) }
}

/// The name of the running program, which is the last part of its path.
pub(crate) fn program_name(buffer: &mut [u8]) -> usize {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        // SAFETY: the buffer has the length that is passed.
        let len = unsafe {
            libc::readlink(c"/proc/self/exe".as_ptr(), buffer.as_mut_ptr().cast::<c_char>(), buffer.len())
        };
        let len = usize::try_from(len).unwrap_or(0);
        // The kernel appends this to the name of a program file that was replaced since the program started.
        let len = buffer[..len].strip_suffix(b" (deleted)").map_or(len, <[u8]>::len);
        let start = buffer[..len].iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        buffer.copy_within(start..len, 0);
        len - start
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        unsafe extern "C" {
            fn getprogname() -> *const c_char;
        }
        // SAFETY: the call returns null or a C string that stays.
        let name = unsafe {
            let name = getprogname();
            if name.is_null() { c"" } else { CStr::from_ptr(name) }
        };
        let name = name.to_bytes();
        let len = name.len().min(buffer.len());
        buffer[..len].copy_from_slice(&name[..len]);
        len
    }
}
