//! A link that this side opens, and opens again when it is lost.

use std::io::{self, Read};
use std::time::Duration;

use super::queue::Feed;
use super::{Connection, PIECE, is_a_pause};

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(200);

/// Opens the link and reads it until it is lost, for ever. A failure to open it is reported once.
pub fn keep(feed: &Feed, mut open: impl FnMut() -> io::Result<Connection>) {
    let mut is_reported = false;
    loop {
        match open() {
            Ok(ends) => {
                is_reported = false;
                read(feed, ends);
            }
            Err(error) if !is_reported => {
                is_reported = true;
                feed.note(format!("not there yet ({error}); waiting for it"));
            }
            Err(_) => {}
        }
        std::thread::sleep(PAUSE);
    }
}

/// The reason of a connection that ended without an error, such as at a file's end.
pub const END: &str = "closed by the other end";

/// Reports a connection and reads it until it is lost.
pub fn read(feed: &Feed, Connection { peer, from, to }: Connection) {
    let slot = feed.opened(peer, to);
    let why = read_until_lost(feed, slot, from);
    feed.closed(slot, why);
}

/// Reads an open connection until it is lost. Returns the reason.
pub fn read_until_lost(feed: &Feed, slot: usize, mut from: Box<dyn Read + Send>) -> String {
    let mut piece = vec![0; PIECE];
    loop {
        match from.read(&mut piece) {
            Ok(0) => break END.to_owned(),
            Ok(len) => feed.bytes(slot, &piece[..len]),
            Err(error) if is_a_pause(&error) => {}
            Err(error) => break error.to_string(),
        }
    }
}
