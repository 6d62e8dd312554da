//! The time stamps of a ring, and the clock in full at the first of them.

use qs_core::ring::{Header, Item, Reader};

use super::frame_kind::{FrameKind, frame_kind};
use crate::ring::Anchor;

/// The clock in full at the next stamp of a reader.
pub fn next_time(mut reader: Reader<'_>) -> Option<u64> {
    let header = *reader.header();
    let mut anchor = Anchor::default();
    while let Some(item) = reader.next() {
        note_time(&item, &header, &mut anchor);
    }
    anchor.first(header.last_time)
}

/// Takes the stamp of an item, if it has one.
pub fn note_time(item: &Item<'_>, header: &Header, anchor: &mut Anchor) {
    let stamp = match item {
        Item::Statement(_, stamp) | Item::Task(_, stamp) | Item::Value(_, stamp) => *stamp,
        Item::Frame(frame) => match frame_kind(frame, header.record_base, header.time_width > 0) {
            FrameKind::Until(full) => {
                anchor.stamp(full as u32);
                return anchor.fix(full);
            }
            FrameKind::Time(full) => return anchor.full(full),
            kind => kind.stamp(),
        },
        _ => None,
    };
    if let Some(stamp) = stamp {
        anchor.stamp(stamp);
    }
}
