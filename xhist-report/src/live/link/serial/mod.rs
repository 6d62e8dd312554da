//! A serial line in raw mode with the settings of its name. It is lost with its device and opened again when the device is back.

use super::serial_name::{self, Flow, Parity, SerialLine};
use super::{Connection, Keeping, Link, LinkError, client};

#[cfg(unix)]
#[path = "unix.rs"]
mod port;
#[cfg(windows)]
#[path = "windows.rs"]
mod port;

/// Opens the line. A missing device is waited for; another kind of file is an error, since it never becomes a serial line.
///
/// # Errors
/// A wrong name, or a file that is not a serial line.
pub fn link(name: &str) -> Result<Link, LinkError> {
    let line = serial_name::parse(name)?;
    // Opened only once: many devices reset when they are opened.
    let mut first = match port::open(&line) {
        Err(error) if port::is_other_file(&error) => {
            return Err(LinkError::NotSerial { name: name.to_owned(), path: line.path, error });
        }
        first => Some(first),
    };
    let again = move || first.take().unwrap_or_else(|| port::open(&line));
    Ok(Link::new(name, Keeping::Newest, move |feed| client::keep(&feed, again)))
}
