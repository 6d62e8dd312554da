//! The frames of a ring as they are on the wire, those of statements too.

use qs_core::frame::Frame;
use qs_core::ring::Item;

use super::gap::add_missing;
use super::snapshot::RingSnapshot;
use crate::model::Gap;

/// Gives each frame, oldest first, until `each` returns false. Returns what of the ring is missing or damaged.
pub fn whole_frames(ring: &RingSnapshot<'_>, each: &mut dyn FnMut(&Frame<'_>) -> bool) -> Gap {
    let mut reader = ring.reader().whole_frames();
    let mut gap = Gap::default();
    while let Some(item) = reader.next() {
        match item {
            Item::Frame(frame) => {
                if !each(&frame) {
                    break;
                }
            }
            // The numbers of the frames show it.
            Item::Missing(_) => {}
            item => add_missing(&mut gap, &item),
        }
    }
    gap
}
