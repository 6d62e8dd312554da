//! Text of the system, in units of two bytes, and of the recorder, in UTF-8.

use core::ptr::{null, null_mut};

use windows_sys::Win32::Globalization::{CP_UTF8, MultiByteToWideChar, WideCharToMultiByte};

/// Units of the longest name.
pub(super) const MOST: usize = 1100;

/// A name for the system.
pub(super) type Wide = [u16; MOST];

/// The units of a text, and a zero behind them; `None` if it is too long.
pub(super) fn wide(text: &[u8]) -> Option<Wide> {
    let mut units = [0; MOST];
    let len = i32::try_from(text.len()).ok()?;
    // SAFETY: both buffers have the lengths that are passed; a unit stays for the zero.
    let done =
        unsafe { MultiByteToWideChar(CP_UTF8, 0, text.as_ptr(), len, units.as_mut_ptr(), MOST as i32 - 1) };
    (done > 0 || text.is_empty()).then_some(units)
}

/// Writes these units as UTF-8. Returns the length, 0 if there is no room.
pub(super) fn narrow(units: &[u16], bytes: &mut [u8]) -> usize {
    let (Ok(len), Ok(room)) = (i32::try_from(units.len()), i32::try_from(bytes.len())) else { return 0 };
    if len == 0 {
        return 0;
    }
    // SAFETY: both buffers have the lengths that are passed.
    let done = unsafe {
        WideCharToMultiByte(CP_UTF8, 0, units.as_ptr(), len, bytes.as_mut_ptr(), room, null(), null_mut())
    };
    usize::try_from(done).unwrap_or(0)
}
