//! A ring file that the program names when rings are there already: what can be moved moves.

use core::sync::atomic::Ordering;

use super::config::Config;
use super::file;
use super::slots::{ENDED, EVER, SLOTS};
use super::threads::own;
use crate::ring::Ever;

/// Moves the history of this thread and of threads that have ended, and all rings to come, into a file. A ring that
/// another thread writes stays where it is; the file counts each as something lost.
pub(super) fn move_to_file(path: &[u8]) -> bool {
    let Some(config) = Config::get().filter(|config| config.on) else { return false };
    let Some(file) = file::open(path, false) else { return false };
    let ever = EVER.load(Ordering::Acquire);
    let is_moved = ever.is_null() || file.map_over(0, Ever::len(config.ever), ever, true, usize::MAX);
    let (mut missing, mut is_own_moved) = (0, true);
    for slot in SLOTS.iter().filter(|slot| slot.ring().is_some()) {
        let is_own = own().zip(slot.ring()).is_some_and(|(own, ring)| core::ptr::eq(own, ring));
        if is_own {
            is_own_moved = slot.move_to_file(&config);
        } else if slot.ended.order().is_some_and(|order| slot.ended.take(order)) {
            missing += u32::from(!slot.move_to_file(&config));
            slot.ended.end(&ENDED);
        } else {
            missing += 1;
        }
    }
    if let Some(header) = own().filter(|_| missing > 0) {
        header.count_dropped(missing);
        file::lacks(missing);
    }
    is_moved && is_own_moved
}
