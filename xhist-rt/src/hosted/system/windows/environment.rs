//! What the program was started with: environment, directory, name, rights.

use core::ffi::CStr;
use core::ptr::null_mut;

use windows_sys::Win32::System::Environment::{
    FreeEnvironmentStringsW, GetCurrentDirectoryW, GetEnvironmentStringsW, GetEnvironmentVariableW,
};
use windows_sys::Win32::System::LibraryLoader::GetModuleFileNameW;
use windows_sys::Win32::System::Memory::{GetProcessHeap, HeapAlloc};

use super::text::{MOST, narrow, wide};

/// An environment variable. The bytes stay valid: they are a copy, which is not given back.
pub(crate) fn getenv(name: &CStr) -> Option<&'static [u8]> {
    let name = wide(name.to_bytes())?;
    let mut units = [0; MOST];
    // SAFETY: the name ends with a zero, and the buffer has the length that is passed.
    let len = unsafe { GetEnvironmentVariableW(name.as_ptr(), units.as_mut_ptr(), MOST as u32) } as usize;
    // A longer value is longer than any path, too.
    let units = units.get(..len).filter(|units| !units.is_empty())?;
    let room = 3 * units.len();
    // SAFETY: the process has a heap. The memory, if there is some, has this many bytes, and no other code has it.
    unsafe {
        let memory = HeapAlloc(GetProcessHeap(), 0, room).cast::<u8>();
        if memory.is_null() {
            return None;
        }
        memory.write_bytes(0, room);
        let bytes = core::slice::from_raw_parts_mut(memory, room);
        let len = narrow(units, bytes);
        bytes.get(..len)
    }
}

/// Calls `visit` with the name of each variable of the environment.
pub(crate) fn for_each_variable(mut visit: impl FnMut(&[u8])) {
    // SAFETY: the call returns null, or texts with a zero behind each and one more at the end, until they are freed.
    unsafe {
        let all = GetEnvironmentStringsW();
        let mut at = all;
        while !at.is_null() && *at != 0 {
            let len = (0..).take_while(|index| *at.add(*index) != 0).count();
            let text = core::slice::from_raw_parts(at, len);
            let name = text.split(|unit| *unit == u16::from(b'=')).next().unwrap_or_default();
            let mut bytes = [0; 256];
            let name_len = narrow(name, &mut bytes);
            visit(&bytes[..name_len]);
            at = at.add(len + 1);
        }
        if !all.is_null() {
            FreeEnvironmentStringsW(all);
        }
    }
}

/// Whether the program has rights that its caller does not have: Windows asks the user before it gives a program more.
pub(crate) const fn has_more_rights_than_its_caller() -> bool {
    false
}

/// Whether a path says where it starts: at a drive, a server, or the root of the current drive.
pub(crate) fn is_absolute(path: &[u8]) -> bool {
    path.first().is_some_and(|byte| b"/\\".contains(byte)) || path.get(1) == Some(&b':')
}

/// The working directory. The length is 0 if it has a name that does not fit.
pub(crate) fn working_directory(buffer: &mut [u8]) -> usize {
    let mut units = [0; MOST];
    // SAFETY: the buffer has the length that is passed.
    let len = unsafe { GetCurrentDirectoryW(MOST as u32, units.as_mut_ptr()) } as usize;
    units.get(..len).map_or(0, |units| narrow(units, buffer))
}

/// The name of the running program, without `.exe`.
pub(crate) fn program_name(buffer: &mut [u8]) -> usize {
    let mut units = [0; MOST];
    // SAFETY: the buffer has the length that is passed; null is the program itself.
    let len = unsafe { GetModuleFileNameW(null_mut(), units.as_mut_ptr(), MOST as u32) } as usize;
    let path = units.get(..len).unwrap_or_default();
    let start = path.iter().rposition(|unit| *unit == u16::from(b'\\')).map_or(0, |at| at + 1);
    let len = narrow(&path[start..], buffer);
    match buffer[..len].last_chunk::<4>() {
        Some(end) if end.eq_ignore_ascii_case(b".exe") => len - 4,
        _ => len,
    }
}
