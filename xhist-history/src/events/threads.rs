//! Which rings belong together, and in which order: the lanes of a thread, the threads of a process, one process after
//! another. Also the names of threads.

use std::collections::{BTreeMap, HashMap, HashSet};

use qs_core::ring::Flags;

use super::ring_events::RingEvents;
use super::survey::Survey;
use crate::model::{Ring, visible};
use crate::notes::Notes;
use crate::ring::Placed;

/// For each lane the index of the ring that its handlers interrupted, if that ring is here; `None` for any other ring.
pub fn parents(chosen: &[&Placed]) -> Vec<Option<usize>> {
    chosen.iter().map(|placed| chosen.iter().position(|other| is_lane_of(placed, other))).collect()
}

/// Whether handlers that interrupted the code of `parent` recorded in this ring.
pub fn is_lane_of(placed: &Placed, parent: &Placed) -> bool {
    let (lane, of) = (&placed.header, &parent.header);
    // Levels go up, so no ring is a lane of itself, not even through other lanes.
    lane.words.parent == Some(of.number)
        && (lane.pid, lane.tid) == (of.pid, of.tid)
        && lane.words.level > of.words.level
}

/// The ring of the thread that a lane belongs to; for any other ring, the ring itself.
pub fn root(mut ring: usize, parents: &[Option<usize>]) -> usize {
    while let Some(parent) = parents[ring] {
        ring = parent;
    }
    ring
}

/// The events of a ring, with those of its lanes in it. Handlers that came behind `limit` in a ring are left.
pub fn with_lanes<'v>(
    ring: usize,
    parents: &[Option<usize>],
    events: &dyn Fn(usize) -> RingEvents<'v>,
    limit: &dyn Fn(usize) -> u64,
) -> RingEvents<'v> {
    let lanes = (0..parents.len()).filter(|lane| parents[*lane] == Some(ring));
    let lanes: Vec<_> = lanes.map(|lane| with_lanes(lane, parents, events, limit)).collect();
    match lanes.is_empty() {
        true => events(ring),
        false => events(ring).with_lanes(lanes, limit(ring)),
    }
}

/// Groups of rings to merge by time, lanes aside, each a list of places in `chosen`; the newest group last, and what a run before a
/// reset has left first.
///
/// Rings without a process id may be of different boots, whose clocks cannot be compared: each
/// is a group of its own.
pub fn groups(chosen: &[&Placed], surveys: &[Survey]) -> Vec<Vec<usize>> {
    let mut by_owner: BTreeMap<(u32, usize), Vec<usize>> = BTreeMap::new();
    let parents = parents(chosen);
    let threads = chosen.iter().enumerate().filter(|(index, _)| parents[*index].is_none());
    for (index, placed) in threads {
        let pid = placed.ring.pid;
        let alone = if pid == 0 { index + 1 } else { 0 };
        by_owner.entry((pid, alone)).or_default().push(index);
    }
    let age = |index: &usize| {
        let Placed { header, ring, .. } = chosen[*index];
        (!header.flags.has(Flags::EARLIER), header.last_time, ring.offset)
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

/// Gives each thread a name of its own: of several threads of one name, the second is `name#2`, and so on. Copies of one
/// ring keep one name.
pub fn name_threads<'p>(rings: impl Iterator<Item = &'p mut Placed>) {
    let mut rings: Vec<&mut Placed> = rings.collect();
    let own =
        rings.iter().filter_map(|placed| placed.header.thread_name().map(|name| visible(name).into_owned()));
    let mut taken: HashSet<String> = own.collect();
    let mut names: HashMap<(u32, u32, u64, String), String> = HashMap::new();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for Placed { header, ring, .. } in rings.iter_mut().filter(|placed| placed.header.words.parent.is_none())
    {
        let Some(name) = header.thread_name().map(|name| visible(name).into_owned()) else { continue };
        let thread = (header.pid, header.tid, header.start_time, name.clone());
        // Without ids the thread is not known.
        if let Some(known) = names.get(&thread).filter(|_| header.tid != 0) {
            ring.thread_name = Some(known.clone());
            continue;
        }
        let count = counts.entry(name.clone()).or_default();
        *count += 1;
        let mut unique = name.clone();
        while *count > 1 {
            unique = format!("{name}#{count}");
            // Another thread may have this name.
            if taken.insert(unique.clone()) {
                break;
            }
            *count += 1;
        }
        names.insert(thread, unique.clone());
        ring.thread_name = Some(unique);
    }
    // A lane has the name of its thread.
    for index in 0..rings.len() {
        let mut of = index;
        while let Some(parent) = rings.iter().position(|other| is_lane_of(rings[of], other)) {
            of = parent;
        }
        if of != index {
            rings[index].ring.thread_name = rings[of].ring.thread_name.clone();
        }
    }
}

/// Reports rings of several processes in one image.
pub fn report_processes(groups: &[Vec<usize>], rings: &[Ring], notes: &mut Notes<'_>) {
    let mut pids: Vec<u32> = groups.iter().filter_map(|group| Some(rings[*group.first()?].pid)).collect();
    pids.dedup();
    if pids.iter().any(|pid| *pid != 0) && pids.len() > 1 {
        let pids: Vec<String> = pids.iter().take(8).map(u32::to_string).collect();
        notes.note(format_args!(
            "rings of several processes (process id {}), reported one after another; --ring N picks one ring",
            pids.join(", ")
        ));
    }
}
