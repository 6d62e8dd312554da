//! Sources of bytes with an end: files and standard input.

mod core;
mod error;
mod file;
mod hex;
#[allow(unsafe_code, reason = "maps files, and handles the signal of a file that became shorter")]
mod image;
mod kept;
mod live;
mod opened;
mod packed;
#[cfg(windows)]
#[allow(unsafe_code, reason = "asks Windows for a process")]
mod process;
mod s_record;
mod stdin;

use std::ffi::OsStr;

pub use core::mapped_rings;
pub use error::SourceError;
pub use image::Image;
pub use kept::{homes, ring_files, text_of, user_cache};
#[cfg(unix)]
pub use live::is_running;
pub use live::{is_at, read_at, write_at};
pub use opened::Opened;
pub use packed::{PACK_COMMENT, pack_version};
#[cfg(windows)]
pub use process::is_running;
pub use stdin::{Offer, offer};

/// Opens a file, or standard input by the name `-`, and reads it to its end.
///
/// # Errors
/// Why it cannot be opened.
pub fn open(text: &OsStr) -> Result<Opened, SourceError> {
    let opened = if text == "-" { stdin::open()? } else { file::open(text)? };
    if pack_version(&opened.image).is_some() {
        let name = opened.path.map_or_else(|| "standard input".to_owned(), |path| path.display().to_string());
        return Err(SourceError::Packed(name));
    }
    // The first line of any source shows whether it is a text form of memory.
    hex::decoded(opened).map(core::in_order)
}
