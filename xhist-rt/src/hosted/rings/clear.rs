//! Clears the history: every ring shows from here on only what its thread records later.
//!
//! Each header has words that say how far the ring was shown, which `xhist-report --clear` sets in a file. Setting them
//! here needs no help of the other threads, so threads that wait are cleared as well.

use qs_core::ring::{Header, Reader, Shown, WORDS_HEADER_LEN};

use crate::hosted::slots::{self, SLOTS};
use crate::hosted::system::sys;

/// A ring whose thread is changing it is read this often before the newest reading counts.
const TRIES: u32 = 100;
/// Pause between two readings.
const NAP_NANOS: u32 = 10_000;

/// Forgets all history so far, of all threads. Recording goes on.
///
/// Readers do not show what was recorded before. The bytes stay in memory until new ones overwrite them, so this keeps
/// no secret. Coverage (`XHIST_EVER`) is kept, because it says what ever ran. It allocates memory, so it must not be
/// called in a signal handler.
#[inline(never)]
pub fn clear() {
    for (number, _, len) in slots::numbered_rings() {
        let Some(header) = SLOTS.get(number).and_then(|slot| slot.ring()) else { continue };
        let shown = (0..TRIES).find_map(|tried| {
            let (shown, is_still) = newest(number, len)?;
            if !is_still && tried + 1 < TRIES {
                sys::sleep(NAP_NANOS);
                return None;
            }
            Some(shown)
        });
        if let Some(shown) = shown {
            header.set_shown(shown);
        }
    }
}

/// How far the ring of this number is written, and whether its thread left the open chunk alone meanwhile. `None` if its
/// header is being laid out.
fn newest(number: usize, len: usize) -> Option<(Shown, bool)> {
    // Only the pages that are written below take memory.
    let mut image = std::vec![0; len];
    slots::read(number, 0, &mut image[..WORDS_HEADER_LEN]);
    let header = Header::parse(&image).ok()?;
    let (from, size) = (header.state.head(), header.size as u64);
    let written = header.words.zeroed.clamp(from, from + size) - from;
    let index = header.header_len + (from % size) as usize;
    // The open chunk may go on at the start of the ring.
    let first = written.min(size - from % size) as usize;
    slots::read(number, index, &mut image[index..index + first]);
    let rest = header.header_len..header.header_len + written as usize - first;
    slots::read(number, rest.start, &mut image[rest]);
    let mut reader = Reader::resume(header, &image, from, 0, Shown::default());
    while reader.next().is_some() {}
    let shown = reader.shown();
    let mut after = std::vec![0; WORDS_HEADER_LEN];
    slots::read(number, 0, &mut after);
    let after = Header::parse(&after).ok()?;
    Some((shown, (after.state, after.words.trim) == (header.state, header.words.trim)))
}
