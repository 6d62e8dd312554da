//! The standard streams, and pipes in place of them. In front of a console the child's output has no colours: Windows gives a
//! console to a child only as a whole.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _, Write};
use std::os::windows::io::{AsHandle as _, OwnedHandle};

/// The end of a channel that a child gets.
pub(crate) type Inner = OwnedHandle;

/// Where a stream goes.
pub(crate) enum Outer {
    /// A file or a pipe takes bytes.
    Bytes(File),
    /// A console takes text. These bytes begin a character whose rest has not come.
    Console { begun: Vec<u8>, is_error: bool },
}

/// Standard output and standard error, and whether both have the same destination; of two pipes that is not known.
pub(crate) fn own_streams() -> Option<(Outer, Outer, bool)> {
    let (output, error) = (io::stdout(), io::stderr());
    let are_consoles = output.is_terminal() && error.is_terminal();
    let outer = |stream: io::Result<OwnedHandle>, is_console: bool, is_error| match is_console {
        true => Some(Outer::Console { begun: Vec::new(), is_error }),
        false => stream.ok().map(|handle| Outer::Bytes(File::from(handle))),
    };
    let first = outer(output.as_handle().try_clone_to_owned(), output.is_terminal(), false)?;
    let second = outer(error.as_handle().try_clone_to_owned(), error.is_terminal(), true)?;
    Some((first, second, are_consoles))
}

/// A file that takes everything.
pub(crate) fn nowhere() -> Option<Outer> {
    OpenOptions::new().write(true).open("NUL").ok().map(Outer::Bytes)
}

/// A pipe in place of a stream: the end that is read, and that of the child.
pub(crate) fn channel(_: &Outer) -> Option<(File, Inner)> {
    let (outer, inner) = io::pipe().ok()?;
    Some((File::from(OwnedHandle::from(outer)), inner.into()))
}

/// Every write waits for room.
pub(crate) fn wait_for_room(_: &Outer) {}

/// A pipe has no size.
pub(crate) fn follow_size(_: &Outer, _: &File) {}

impl Write for Outer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Outer::Bytes(file) => file.write(bytes),
            Outer::Console { begun, is_error } => {
                begun.extend_from_slice(bytes);
                let rest = begun.len() - begun_at_end(begun);
                let text = String::from_utf8_lossy(&begun[..rest]).into_owned();
                begun.drain(..rest);
                match is_error {
                    true => io::stderr().write_all(text.as_bytes())?,
                    false => io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush())?,
                }
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes at the end that begin a character.
fn begun_at_end(bytes: &[u8]) -> usize {
    match str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.len() - error.valid_up_to(),
        // Other errors are shown as what they are, and the end is looked at without what is before it.
        Err(error) => begun_at_end(&bytes[error.valid_up_to() + error.error_len().unwrap_or(1)..]),
        Ok(_) => 0,
    }
}
