//! Finds earlier copies of a ring: a program that exports its rings at a signal and again at its end leaves both in one file.

use std::collections::BTreeMap;

use super::locate::Placed;

/// Number of the newest bytes of the earlier copy that must be in the later one.
const COMPARED: u64 = 256;

/// The rings that are earlier copies, each with its later copy, as places in `rings`.
pub fn duplicates(rings: &[Placed], image: &[u8]) -> BTreeMap<usize, usize> {
    let mut by_owner: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    // Without a process and a thread the owner of a ring is not known: two cores may have run the same code.
    for (index, Placed { header, .. }) in rings.iter().enumerate().filter(|(_, placed)| placed.ring.pid != 0)
    {
        let owner = (header.pid, header.tid, header.start_time, header.size, header.map_hash);
        // The lanes of a thread are different rings of it.
        by_owner.entry((owner, header.words.level)).or_default().push(index);
    }
    let mut copies = BTreeMap::new();
    for mut owned in by_owner.into_values() {
        owned.sort_by_key(|index| (rings[*index].header.state.head(), *index));
        for pair in owned.windows(2) {
            if continues(&rings[pair[0]], &rings[pair[1]], image) {
                copies.insert(pair[0], pair[1]);
            }
        }
    }
    copies
}

/// Whether `later` still holds the newest bytes of `earlier`.
fn continues(earlier: &Placed, later: &Placed, image: &[u8]) -> bool {
    let end = earlier.header.state.head();
    let oldest = later.header.state.head().saturating_sub(later.header.size as u64);
    let start = oldest.max(end.saturating_sub(COMPARED.min(earlier.header.size as u64)));
    // A ring that was laid out at the same time is the same, also when nothing was closed in it yet.
    (start < end || end == 0 && earlier.header.start_time != 0)
        && (start..end).all(
            |at| matches!((byte(earlier, at, image), byte(later, at, image)), (Some(a), Some(b)) if a == b),
        )
}

/// A byte of a ring, by its position since the first byte ever written.
fn byte(placed: &Placed, at: u64, image: &[u8]) -> Option<u8> {
    let in_ring = (at % placed.header.size as u64) as usize;
    image.get(placed.ring.offset + placed.header.header_len + in_ring).copied()
}
