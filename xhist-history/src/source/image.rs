//! The bytes of a source, in memory or mapped. The only file with `unsafe`.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;

use memmap2::Mmap;

/// A file up to this length is copied: programs write their ring files at any time, and truncate them when they start again.
const COPIED: u64 = 256 << 20;

/// The bytes of a source.
pub enum Image {
    /// Held in memory.
    Bytes(Vec<u8>),
    /// Mapped from a file: an image of many GiB takes no memory of this process.
    Mapped(Mmap),
}

impl Image {
    /// Copies a short file, maps a long one. `name` appears in the message if a mapped file is truncated.
    pub fn of_file(file: &File, name: &str) -> io::Result<Image> {
        match file.metadata()?.len() {
            // Files of `/proc` have length 0.
            0 => Err(io::ErrorKind::InvalidInput.into()),
            len if len <= COPIED => Image::copy(file, len),
            _ => Image::map(file, name),
        }
    }

    fn copy(file: &File, len: u64) -> io::Result<Image> {
        let mut bytes = Vec::with_capacity(len as usize);
        #[cfg(unix)]
        let file = At { file, offset: 0 };
        file.take(len).read_to_end(&mut bytes)?;
        Ok(Image::Bytes(bytes))
    }

    /// Maps a whole file.
    pub fn map(file: &File, name: &str) -> io::Result<Image> {
        cut::end_with_message(name);
        // SAFETY: the mapping is only read, as plain bytes, and every reader copes with any bytes. A file that is written
        // meanwhile gives older and newer bytes side by side, which checksums detect. A file that is cut meanwhile raises
        // SIGBUS, whose handler says so and ends this process; nothing is written through the mapping.
        let map = unsafe { Mmap::map(file)? };
        // Only advice: reading works without it.
        #[cfg(unix)]
        let _ = map.advise(memmap2::Advice::Sequential);
        Ok(Image::Mapped(map))
    }
}

/// Reads a file from an offset on. Its position, which may be shared, stays.
#[cfg(unix)]
struct At<'f> {
    file: &'f File,
    offset: u64,
}

#[cfg(unix)]
impl Read for At<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = std::os::unix::fs::FileExt::read_at(self.file, bytes, self.offset)?;
        self.offset += read as u64;
        Ok(read)
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

#[cfg(unix)]
mod cut {
    //! When a mapped file is truncated, this process ends with a message instead of a bare signal.

    use std::sync::OnceLock;

    use signal_hook::consts::SIGBUS;
    use signal_hook::low_level;

    use crate::ExitCode;
    use crate::notes::typed;

    /// The message.
    static MESSAGE: OnceLock<String> = OnceLock::new();

    pub(super) fn end_with_message(name: &str) {
        let message = format!(
            "{}error: {name} was cut while it was read, so this report ends too early; \
             copy the file and read the copy\n",
            typed::prefix()
        );
        if MESSAGE.set(message).is_err() {
            return;
        }
        let end = || {
            if let Some(message) = MESSAGE.get() {
                // An error of stderr cannot be reported anywhere.
                let _ = rustix::io::write(rustix::stdio::stderr(), message.as_bytes());
            }
            low_level::exit(ExitCode::Incomplete as i32);
        };
        // SAFETY: the handler makes no call but `write` and `_exit`, which are async-signal-safe, and reads a cell that was
        // set before; it takes no lock, allocates nothing and does not return.
        let _ = unsafe { low_level::register(SIGBUS, end) };
    }
}

#[cfg(not(unix))]
mod cut {
    pub(super) fn end_with_message(_: &str) {}
}
