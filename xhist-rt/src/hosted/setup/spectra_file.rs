//! The file of spectra beside the ring file: its name, and how threads append to it.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, Ordering};

use qs_core::ring::process_start::ProcessStart;

use crate::hosted::system::mapped::Mapped;
use crate::hosted::system::sys::{self, RingFile};

static OPENED: Mapped<RingFile> = Mapped::new();
/// The process whose file it is.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// End of the name of a ring file, and of the file beside it.
const RINGS: &[u8] = b".xhist";
const SPECTRA: &[u8] = b".spectra";
const PATH_LEN: usize = 1024 + SPECTRA.len();

/// Whether threads keep spectra.
pub(crate) fn is_open() -> bool {
    OPENED.get().is_some()
}

/// Opens the file beside this ring file, empty. Without it, threads keep no spectra.
pub(crate) fn open(ring_file: &CStr) {
    let (path, len) = beside(ring_file.to_bytes());
    let Ok(path) = CStr::from_bytes_with_nul(&path[..len]) else { return };
    if let Some(file) = RingFile::open_to_append(path) {
        PROCESS.store(sys::pid(), Ordering::Relaxed);
        // Without memory for it, threads keep no spectra.
        let _ = OPENED.set(file);
        // The parent may not be recorded, or not know which of its threads started this process.
        append(&ProcessStart { pid: sys::pid(), parent: sys::parent(), thread: 0 }.bytes());
    }
}

/// The thread of this number started a process. A forked child calls this as well, while the file is still its parent's.
pub(crate) fn note_start(pid: u32, thread: u32) {
    if is_open() {
        append(&ProcessStart { pid, parent: PROCESS.load(Ordering::Relaxed), thread }.bytes());
    }
}

/// Appends the bytes of one record.
pub(crate) fn append(bytes: &[u8]) {
    if let Some(file) = OPENED.get() {
        file.append(bytes);
    }
}

/// In a forked child: the file is the parent's.
pub(crate) fn forget() {
    let of_parent = OPENED.get();
    OPENED.forget();
    of_parent.inspect(|file| file.close());
}

/// The name of the file beside a ring file as a C string, and its length.
fn beside(ring_file: &[u8]) -> ([u8; PATH_LEN], usize) {
    let mut path = [0; PATH_LEN];
    let stem = ring_file.strip_suffix(RINGS).unwrap_or(ring_file);
    let stem = &stem[..stem.len().min(PATH_LEN - SPECTRA.len() - 1)];
    path[..stem.len()].copy_from_slice(stem);
    path[stem.len()..stem.len() + SPECTRA.len()].copy_from_slice(SPECTRA);
    (path, stem.len() + SPECTRA.len() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_spectra_is_beside_the_ring_file() {
        for (rings, spectra) in [("/a/b-1.xhist", "/a/b-1.spectra"), ("ring", "ring.spectra")] {
            let (path, len) = beside(rings.as_bytes());
            assert_eq!(&path[..len - 1], spectra.as_bytes());
        }
    }
}
