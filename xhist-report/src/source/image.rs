//! The bytes of a source, in memory or mapped. The only file with `unsafe`.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;

use memmap2::Mmap;

/// A file up to this length is copied, so that nothing that happens to the file later matters: programs write their ring
/// files, and cut them when they start again.
const COPIED: u64 = 256 << 20;

/// The bytes of a source.
pub enum Image {
    /// Held in memory.
    Bytes(Vec<u8>),
    /// Mapped from a file, so that an image of many GiB costs no memory of ours.
    Mapped(Mmap),
}

impl Image {
    /// A whole file: a copy of a short one, a mapping of a long one. `name` is for the message when a mapped file is cut.
    pub fn of_file(file: &File, name: &str) -> io::Result<Image> {
        match file.metadata()?.len() {
            // The kernel makes up files of no length.
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
        cut::say_so(name);
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

/// Reads a file from an offset on, and leaves its position, which others may share.
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
    //! A mapped file that is cut ends this process with a message instead of a bare signal.

    use std::sync::OnceLock;

    use signal_hook::consts::SIGBUS;
    use signal_hook::low_level;

    use crate::ExitCode;

    /// What is said then.
    static MESSAGE: OnceLock<String> = OnceLock::new();

    pub(super) fn say_so(name: &str) {
        let message = format!(
            "xhist-report: error: {name} was cut while it was read, so this report ends too early; \
             copy the file and read the copy\n"
        );
        if MESSAGE.set(message).is_err() {
            return;
        }
        let end = || {
            if let Some(message) = MESSAGE.get() {
                // There is nowhere to say that stderr cannot be written.
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
    pub(super) fn say_so(_: &str) {}
}
