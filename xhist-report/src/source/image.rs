//! The bytes of a source, in memory or mapped. The only file with `unsafe`.

use std::fs::File;
use std::io;
use std::ops::Deref;

use memmap2::Mmap;

/// The bytes of a source.
pub enum Image {
    /// Held in memory.
    Bytes(Vec<u8>),
    /// Mapped from a file, so that an image of many GiB costs no memory of ours.
    Mapped(Mmap),
}

impl Image {
    /// Maps a whole file.
    pub fn map(file: &File) -> io::Result<Image> {
        // SAFETY: the mapping is only read, as plain bytes, and every reader copes with any bytes.
        // A traced program may write on in its ring file meanwhile: that gives older and newer bytes
        // side by side, which checksums tell. A file that someone cuts short meanwhile ends this
        // process with SIGBUS; nothing is written by it, so nothing is harmed.
        let map = unsafe { Mmap::map(file)? };
        // Only advice: reading works without it.
        #[cfg(unix)]
        let _ = map.advise(memmap2::Advice::Sequential);
        Ok(Image::Mapped(map))
    }
}

impl Deref for Image {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Image::Bytes(bytes) => bytes,
            Image::Mapped(map) => map,
        }
    }
}
