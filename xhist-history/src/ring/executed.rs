//! The statements that were ever executed, as the executed bitmaps of an image show.

use std::collections::{HashMap, HashSet};

use qs_core::record::Statement;
use qs_core::ring::executed;

use super::locate::take_room;

/// Executed statements, by the hash of their map.
#[derive(Clone, Debug, Default)]
pub struct Executed {
    /// Those of each map.
    pub by_map: HashMap<u64, HashSet<Statement>>,
    /// Maps for which there is a bitmap.
    pub known: HashSet<u64>,
    /// Statements for which a bitmap had no room.
    pub lost: u64,
    /// Slots of bitmaps that the image does not hold.
    pub cut: usize,
    /// Bitmaps that were left out, to bound the time.
    pub left_out: usize,
}

/// The statements in the bitmaps of an image.
pub fn executed(image: &[u8]) -> Executed {
    let (mut executed, mut held) = (Executed::default(), 0);
    // Places that only start like a bitmap are not reported: every program text has one.
    for bitmap in executed::find(image).filter_map(|(_, bitmap)| bitmap.ok()) {
        // They overlap as little as rings do.
        let present = (bitmap.slots as usize - bitmap.missing()) * executed::SLOT_LEN;
        if !take_room(&mut held, present, image) {
            executed.left_out += 1;
            continue;
        }
        executed.known.insert(bitmap.map_hash);
        executed.lost += u64::from(bitmap.lost);
        executed.cut += bitmap.missing();
        executed.by_map.entry(bitmap.map_hash).or_default().extend(bitmap.statements());
    }
    executed
}
