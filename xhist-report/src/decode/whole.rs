//! The frames of a ring as they are, those of statements too. It must not know what is in them.

use qs_core::frame::Frame;
use qs_core::ring::Item;

use super::gap::add_missing;
use super::live::View;
use crate::model::Gap;

/// Gives each frame, oldest first, as long as it is taken; then says what of the ring is no frame.
pub fn whole_frames(view: &View<'_>, each: &mut dyn FnMut(&Frame<'_>) -> bool) -> Gap {
    let mut reader = view.whole_frames();
    let mut gap = Gap::default();
    while let Some(item) = reader.next() {
        match item {
            Item::Frame(frame) => {
                if !each(&frame) {
                    break;
                }
            }
            // Told by the numbers of the frames.
            Item::Missing(_) => {}
            item => add_missing(&mut gap, &item),
        }
    }
    gap
}
