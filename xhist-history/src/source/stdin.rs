//! Standard input, read to its end. Memory and disk space are bounded.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;

use super::{Image, Opened, SourceError};

/// Longer input goes to a temporary file.
const MAX_IN_MEMORY: u64 = 256 << 20;
/// Longer input has no end, or the user should name the file.
const MAX: u64 = 16 << 30;
/// The temporary file leaves this many bytes of the disk free.
const LEFT: u64 = 1 << 30;
/// Bytes between two checks of the free space.
const PIECE: u64 = 64 << 20;

/// Reads standard input. Maps are searched from the working directory.
pub fn open() -> Result<Opened, SourceError> {
    let image = match redirected() {
        Some(image) => Ok(image),
        None => read_all(io::stdin().lock()),
    };
    let image =
        image.map_err(|error| SourceError::Unreadable { name: "standard input".to_owned(), error })?;
    let (dir, losses) = (Some(PathBuf::from(".")), Vec::new());
    Ok(Opened { image, data: None, file: None, path: None, written: None, program: None, dir, losses })
}

/// The file that standard input is redirected from: read as a file, it needs no temporary copy.
#[cfg(unix)]
fn redirected() -> Option<Image> {
    use std::os::fd::AsFd;

    let mut file = std::fs::File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    let is_at_start = file.metadata().ok()?.is_file() && file.stream_position().ok()? == 0;
    is_at_start.then(|| Image::of_file(&file, "standard input").ok()).flatten()
}

#[cfg(not(unix))]
fn redirected() -> Option<Image> {
    None
}

/// What standard input offers to a report without a named source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Bytes of a file or of another program.
    Bytes,
    /// It is open, but silent.
    Silence,
    /// A terminal, nothing at all, or its end.
    Nothing,
}

/// Waits for the first byte of standard input, at most this long.
#[cfg(unix)]
pub fn offer(patience: std::time::Duration) -> Offer {
    let stdin = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned().map(std::fs::File::from);
    stdin.map_or(Offer::Nothing, |file| offered(file, patience).unwrap_or(Offer::Nothing))
}

#[cfg(unix)]
fn offered(mut file: std::fs::File, patience: std::time::Duration) -> io::Result<Offer> {
    use std::os::unix::fs::FileTypeExt;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let metadata = file.metadata()?;
    let kind = metadata.file_type();
    if kind.is_file() {
        let is_there = file.stream_position()? < metadata.len();
        return Ok(if is_there { Offer::Bytes } else { Offer::Nothing });
    }
    if !kind.is_fifo() && !kind.is_socket() {
        return Ok(Offer::Nothing);
    }
    let mut polled = [PollFd::new(&file, PollFlags::IN)];
    let patience = Timespec::try_from(patience).map_err(io::Error::other)?;
    if poll(&mut polled, Some(&patience))? == 0 {
        return Ok(Offer::Silence);
    }
    let has_bytes = polled[0].revents().contains(PollFlags::IN);
    // `poll` reports the end of a socket as bytes.
    let is_end =
        kind.is_socket() && socket2::SockRef::from(&file).peek(&mut [std::mem::MaybeUninit::uninit()])? == 0;
    Ok(if has_bytes && !is_end { Offer::Bytes } else { Offer::Nothing })
}

/// Not known on this system.
#[cfg(not(unix))]
pub fn offer(_: std::time::Duration) -> Offer {
    Offer::Nothing
}

/// Reads the input to its end.
pub fn read_all(input: impl Read) -> io::Result<Image> {
    read_bounded(input, MAX_IN_MEMORY, MAX)
}

fn read_bounded(mut input: impl Read, max_in_memory: u64, max: u64) -> io::Result<Image> {
    let mut bytes = Vec::new();
    input.by_ref().take(max_in_memory).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < max_in_memory {
        return Ok(Image::Bytes(bytes));
    }
    let mut file = tempfile::tempfile()?;
    file.write_all(&bytes)?;
    drop(bytes);
    let mut len = max_in_memory;
    loop {
        let came = io::copy(&mut input.by_ref().take(PIECE), &mut file)?;
        len += came;
        if came == 0 {
            break;
        }
        if len > max {
            return Err(io::Error::other(format!(
                "it goes on after {} GiB; name the file, or read a stream without an end by `--follow -`",
                max >> 30
            )));
        }
        if left(&file).is_some_and(|left| left < LEFT) {
            return Err(io::Error::other(
                "it fills the directory of temporary files; name the file, or another directory in TMPDIR",
            ));
        }
    }
    file.rewind()?;
    Image::map(&file, "a temporary file")
}

/// Free bytes on the disk of a file, if the system knows.
fn left(file: &File) -> Option<u64> {
    #[cfg(unix)]
    return rustix::fs::fstatvfs(file).ok().map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    #[cfg(not(unix))]
    {
        let _ = file;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_input_is_whole_in_a_file() {
        let input: Vec<u8> = (0..=255).cycle().take(1000).collect();
        for max in [999, 1000, 1001] {
            let image = read_bounded(&input[..], max, MAX).unwrap();
            assert_eq!(&image[..], &input[..]);
            assert_eq!(matches!(image, Image::Bytes(_)), max > 1000);
        }
    }

    #[test]
    fn input_without_an_end_is_an_error() {
        let error = read_bounded(io::repeat(7), 10, 100).err().expect("it goes on");
        assert!(error.to_string().contains("`--follow -`"), "{error}");
    }
}
