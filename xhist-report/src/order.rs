//! In which order rings are told: threads of one process together, processes one after another.
//! It must not look into rings.

use std::collections::BTreeMap;

use qs_core::ring::FLAG_EARLIER;

use crate::console::Notes;
use crate::decode::{Placed, Survey};
use crate::model::Ring;

/// Groups of rings to merge by time, each a list of places in `chosen`; the newest group last, and what a run before a
/// reset has left first.
///
/// Rings without a process id may be of different boots, whose clocks cannot be compared: each
/// is a group of its own.
pub fn groups(chosen: &[&Placed], surveys: &[Survey]) -> Vec<Vec<usize>> {
    let mut by_owner: BTreeMap<(u32, usize), Vec<usize>> = BTreeMap::new();
    for (index, placed) in chosen.iter().enumerate() {
        let pid = placed.ring.pid;
        let alone = if pid == 0 { index + 1 } else { 0 };
        by_owner.entry((pid, alone)).or_default().push(index);
    }
    let age = |index: &usize| {
        let Placed { header, ring, .. } = chosen[*index];
        (header.flags & FLAG_EARLIER == 0, header.last_time, ring.offset)
    };
    let mut groups: Vec<Vec<usize>> = by_owner.into_values().collect();
    for group in &mut groups {
        // Untimed rings come before timed ones at equal rank, so their order is what matters here.
        group.sort_by_key(|index| (surveys[*index].first_time.is_some(), age(index)));
    }
    groups.sort_by_key(|group| group.iter().map(age).max());
    groups
}

/// The rings as users see them. Threads of a process share its clock, but each learns the rate on its
/// own, some never: the newest that any of them knew holds for all.
pub fn described(chosen: &[&Placed], groups: &[Vec<usize>]) -> Vec<Ring> {
    let mut rings: Vec<Ring> = chosen.iter().map(|placed| placed.ring.clone()).collect();
    for group in groups {
        let knowing = group.iter().filter(|index| rings[**index].clock_hz != 0);
        let Some(newest) = knowing.max_by_key(|index| chosen[**index].header.last_time) else { continue };
        let clock_hz = rings[*newest].clock_hz;
        for index in group {
            rings[*index].clock_hz = clock_hz;
        }
    }
    rings
}

/// Says so when rings of several processes are in one image.
pub fn tell_groups(groups: &[Vec<usize>], rings: &[Ring], notes: &mut Notes<'_>) {
    let mut pids: Vec<u32> = groups.iter().filter_map(|group| Some(rings[*group.first()?].pid)).collect();
    pids.dedup();
    if pids.iter().any(|pid| *pid != 0) && pids.len() > 1 {
        let pids: Vec<String> = pids.iter().take(8).map(u32::to_string).collect();
        notes.note(format_args!(
            "rings of several processes (process id {}), told one after another; --ring N picks one ring",
            pids.join(", ")
        ));
    }
}
