//! Where bytes come from. It must not know what is in them.
//!
//! A new origin is a file here and a row of [`SOURCES`].

mod file;
mod hex;
mod holes;
mod image;
mod live;
mod newest;
mod stdin;

use std::ffi::OsStr;
use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

pub use image::Image;
pub use live::{is_running, read_at, write_at};
pub use newest::newest;

/// An opened source.
pub struct Opened {
    /// Its bytes.
    pub image: Image,
    /// The pieces of it that may hold anything but zeros; `None` when that is not known.
    pub data: Option<Vec<Range<usize>>>,
    /// The file itself, where a program may be writing it meanwhile.
    pub file: Option<Arc<File>>,
    /// Its path, where it has one.
    pub path: Option<PathBuf>,
    /// When it was last written; `None` when that is not known.
    pub written: Option<SystemTime>,
    /// Directory to look for maps in; `None` when the source has none.
    pub dir: Option<PathBuf>,
}

/// A kind of source.
pub struct SourceRow {
    /// How it is written on the command line.
    pub form: &'static str,
    /// What it is.
    pub help: &'static str,
    /// Whether this text means this kind.
    matches: fn(&OsStr) -> bool,
    /// Opens it.
    open: fn(&OsStr) -> Result<Opened, String>,
}

/// Every kind of source; the first that matches is taken.
pub static SOURCES: &[SourceRow] = &[
    SourceRow { form: "-", help: "standard input", matches: |text| text == "-", open: stdin::open },
    SourceRow {
        form: "SCHEME://...",
        help: "a live link (tcp, tcp-listen, udp, serial), in a later version",
        matches: |text| scheme(text).is_some(),
        open: refuse,
    },
    SourceRow {
        form: "FILE.hex",
        help: "memory as Intel HEX or Motorola S-records, told by its first line",
        matches: hex::is_hex,
        open: hex::open,
    },
    SourceRow {
        form: "FILE",
        help: "a raw image of memory, an ELF core, a ring file or a QS stream",
        matches: |_| true,
        open: file::open,
    },
];

/// Opens what the user named.
///
/// # Errors
/// What is wrong and what to do, in a sentence.
pub fn open(text: &OsStr) -> Result<Opened, String> {
    match SOURCES.iter().find(|row| (row.matches)(text)) {
        Some(row) => (row.open)(text),
        None => Err(format!("{} is no source", text.display())),
    }
}

/// `tcp` of `tcp://host`; a single letter is a drive of Windows.
fn scheme(text: &OsStr) -> Option<&str> {
    let (scheme, _) = text.to_str()?.split_once("://")?;
    let is_scheme =
        scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_scheme.then_some(scheme)
}

fn refuse(text: &OsStr) -> Result<Opened, String> {
    let scheme = scheme(text).unwrap_or_default();
    Err(format!(
        "this version reads no {scheme}:// source; save the bytes to a file and name it, or pipe them into `xhist-report -`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_told_from_files() {
        assert_eq!(scheme(OsStr::new("tcp-listen://0.0.0.0:1")), Some("tcp-listen"));
        assert_eq!(scheme(OsStr::new("c://dump.bin")), None);
        assert_eq!(scheme(OsStr::new("dir/a:b")), None);
    }
}
