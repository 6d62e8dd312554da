//! A ring file that the program names when rings exist already: moves all rings that can move.

use crate::hosted::executed::ExecutedBitmap;
use crate::hosted::setup::config::Config;
use crate::hosted::setup::file;
use crate::hosted::slots::{ENDED, EXECUTED, SLOTS};
use crate::hosted::threads::own;

/// Moves the history of this thread and of ended threads into a file, and sets it for all later rings. A ring that
/// another thread writes stays in memory. The file counts each of these as one loss.
pub(crate) fn move_to_file(path: &[u8]) -> bool {
    let Some(config) = Config::get().filter(|config| config.on) else { return false };
    let Some(opened) = file::open(path, false) else { return false };
    let ever = EXECUTED.get();
    let is_moved = ever.is_null()
        || opened.file.map_over(0, ExecutedBitmap::len(config.executed_slots), ever, true, usize::MAX);
    let (mut missing, mut is_own_moved) = (0, true);
    for slot in SLOTS.iter().filter(|slot| slot.ring().is_some()) {
        let is_own = own().zip(slot.ring()).is_some_and(|(own, ring)| core::ptr::eq(own, ring));
        if is_own {
            is_own_moved = slot.move_to(opened, &config);
        } else if slot.ended.order().is_some_and(|order| slot.ended.take(order)) {
            missing += u32::from(!slot.move_to(opened, &config));
            slot.ended.end(&ENDED);
        } else {
            missing += u32::from(slot.home.is_missing(opened.number));
        }
    }
    if let Some(header) = own().filter(|_| missing > 0) {
        header.count_dropped(missing);
        file::lacks(missing);
    }
    is_moved && is_own_moved
}
