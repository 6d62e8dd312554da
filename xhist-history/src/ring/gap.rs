//! What is missing between the items of a ring.

use qs_core::ring::Item;

use crate::model::Gap;

/// Adds what is missing at this item, or before it.
pub fn add_missing(gap: &mut Gap, item: &Item<'_>) {
    match item {
        Item::Frame(frame) => gap.missing_frames += u64::from(frame.missing),
        Item::Missing(frames) => gap.missing_frames += u64::from(*frames),
        Item::Damaged(damage) => gap.add_damage(damage.len, damage),
        Item::Cut { missing } => gap.cut_bytes += missing,
        Item::Torn { .. } => gap.torn = true,
        Item::Overwritten { bytes } => gap.overwritten_bytes += bytes,
        Item::Overrun => gap.overrun = true,
        Item::Statement(..) | Item::Task(..) | Item::Value(..) | Item::Repetition(_) => {}
    }
}
