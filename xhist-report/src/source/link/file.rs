//! Standard input and files as streams: piece by piece, to their end. Nothing is dropped, who writes may wait.

use std::io::{self, Cursor, Read};
use std::path::Path;

use super::{Deaf, Ends, Keeping, Link, client};

/// Standard input.
///
/// # Errors
/// None.
pub fn stdin(name: &str) -> Result<Link, String> {
    Ok(reading(name, Box::new(io::stdin())))
}

/// What was read from somewhere already, and what more comes from there.
pub fn pieces(name: &str, first: Vec<u8>, rest: impl Read + Send + 'static) -> Link {
    reading(name, Box::new(Cursor::new(first).chain(rest)))
}

/// A file, as a stream among others.
///
/// # Errors
/// Why it cannot be read, in a sentence.
pub fn stream(path: &Path) -> Result<Link, String> {
    let name = path.display().to_string();
    let file = std::fs::File::open(path).map_err(|error| format!("cannot read {name}: {error}"))?;
    Ok(reading(&name, Box::new(file)))
}

fn reading(name: &str, from: Box<dyn Read + Send>) -> Link {
    let peer = name.to_owned();
    Link::new(name, Keeping::All, move |feed| {
        client::read(&feed, Ends { peer, from, to: Box::new(Deaf) });
    })
}
