//! A link that is opened from here, and opened again when it is lost. It must not know of which kind it is.

use std::io::{self, Read};
use std::time::Duration;

use super::queue::Feed;
use super::{Ends, PIECE, is_a_pause};

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(200);

/// Opens it, reads it until it is lost, and again, for ever. That it cannot be opened is told once.
pub fn keep(feed: &Feed, mut open: impl FnMut() -> io::Result<Ends>) {
    let mut is_told = false;
    loop {
        match open() {
            Ok(ends) => {
                is_told = false;
                read(feed, ends);
            }
            Err(error) if !is_told => {
                is_told = true;
                feed.note(format!("not there yet ({error}); waiting for it"));
            }
            Err(_) => {}
        }
        std::thread::sleep(PAUSE);
    }
}

/// Why a connection is over that was not lost: at a file's end, for one.
pub const END: &str = "closed by the other end";

/// Tells of a connection and reads it until it is lost.
pub fn read(feed: &Feed, Ends { peer, from, to }: Ends) {
    let slot = feed.opened(peer, to);
    let why = read_until_lost(feed, slot, from);
    feed.closed(slot, why);
}

/// Reads an opened connection until it is lost. The reason.
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
