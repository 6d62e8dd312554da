//! The statements that ever ran, as far as an image tells: its bitmaps, and what is still in its rings.
//! It must not know names.

use std::collections::{HashMap, HashSet};

use qs_core::record::Statement;
use qs_core::ring::{Item, ever};

use super::find::take_room;
use super::gap::add_missing;
use super::live::View;
use crate::model::Gap;

/// Statements that ran, by the hash of their map.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// Those of each map.
    pub by_map: HashMap<u64, HashSet<Statement>>,
    /// Maps that a bitmap belongs to.
    pub known: HashSet<u64>,
    /// Statements that found no place in a bitmap.
    pub lost: u64,
    /// Slots of bitmaps that the image does not hold.
    pub cut: usize,
    /// Bitmaps that were left out, to bound the time.
    pub left_out: usize,
}

/// Adds how often each statement stands in a ring; what came again was not written again, so it takes no room. Returns what is missing.
pub fn counts(view: &View<'_>, counts: &mut HashMap<Statement, u64>) -> Gap {
    let mut reader = view.reader();
    let mut gap = Gap::default();
    while let Some(item) = reader.next() {
        add_missing(&mut gap, &item);
        if let Item::Statement(statement, _) = item {
            *counts.entry(statement).or_default() += 1;
        }
    }
    gap
}

/// Everything that is known to have run.
pub fn ran(image: &[u8], views: &[View<'_>]) -> Ran {
    let (mut ran, mut held) = (Ran::default(), 0);
    // A place that only starts like a bitmap is not worth a word: every program text has one.
    for bitmap in ever::find(image).filter_map(|(_, bitmap)| bitmap.ok()) {
        // They overlap as little as rings do.
        let present = (bitmap.slots as usize - bitmap.missing()) * ever::SLOT_LEN;
        if !take_room(&mut held, present, image) {
            ran.left_out += 1;
            continue;
        }
        ran.known.insert(bitmap.map_hash);
        ran.lost += u64::from(bitmap.lost);
        ran.cut += bitmap.missing();
        ran.by_map.entry(bitmap.map_hash).or_default().extend(bitmap.statements());
    }
    for view in views {
        let statements = ran.by_map.entry(view.header.map_hash).or_default();
        let mut reader = view.with_shown().reader();
        while let Some(item) = reader.next() {
            if let Item::Statement(statement, _) = item {
                statements.insert(statement);
            }
        }
    }
    ran
}
