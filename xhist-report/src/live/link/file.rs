//! Standard input and files as streams, piece by piece to their end. Nothing is dropped; the writer may have to wait.

use std::io::{self, Read};
use std::path::Path;

use xhist_history::source::SourceError;

use super::{Connection, Keeping, Link, LinkError, NullWriter, client};

/// Standard input as a stream.
///
/// # Errors
/// Never.
pub fn stdin(name: &str) -> Result<Link, LinkError> {
    Ok(reading(name, Box::new(io::stdin())))
}

/// A file as a stream.
///
/// # Errors
/// The file cannot be read.
pub fn stream(path: &Path) -> Result<Link, LinkError> {
    let name = path.display().to_string();
    let file =
        std::fs::File::open(path).map_err(|error| SourceError::Unreadable { name: name.clone(), error })?;
    Ok(reading(&name, Box::new(file)))
}

fn reading(name: &str, from: Box<dyn Read + Send>) -> Link {
    let peer = name.to_owned();
    Link::new(name, Keeping::All, move |feed| {
        client::read(&feed, Connection { peer, from, to: Box::new(NullWriter) });
    })
}
