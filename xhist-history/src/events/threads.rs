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
/// Rings without a process id may be of different boots, whose clocks cannot be compared: each is a group of its own. The rings
/// of several cores that one program has written are a group, if they have a clock.
pub fn groups(chosen: &[&Placed], surveys: &[Survey]) -> Vec<Vec<usize>> {
    let mut by_owner: BTreeMap<(u32, usize), Vec<usize>> = BTreeMap::new();
    let parents = parents(chosen);
    let threads = chosen.iter().enumerate().filter(|(index, _)| parents[*index].is_none());
    for (index, placed) in threads {
        let pid = placed.ring.pid;
        let of_cores = cores_at(placed).filter(|_| placed.header.time_width > 0);
        let first = of_cores.and_then(|at| chosen.iter().position(|other| cores_at(other) == Some(at)));
        let alone = if pid == 0 { first.unwrap_or(index) + 1 } else { 0 };
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

/// Where the rings of all cores begin that were written with this one. `None` for a ring of no core.
fn cores_at(placed: &Placed) -> Option<usize> {
    let header = placed.header;
    let before = usize::from(header.core) * (header.header_len + header.size);
    placed.ring.offset.checked_sub(before).filter(|_| header.cores > 1)
}

/// Cores have one clock of 32 bits, which may wrap. So the last stamps of the rings of several cores are taken to be less than half
/// a turn apart.
pub fn align_cores(chosen: &[&Placed], surveys: &mut [Survey]) {
    let mut by_place: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, placed) in chosen.iter().enumerate() {
        if let (Some(at), Some(_)) = (cores_at(placed), surveys[index].first_time) {
            by_place.entry(at).or_default().push(index);
        }
    }
    for group in by_place.into_values() {
        let times = |index: usize| surveys[index].first_time.zip(surveys[index].last_time);
        let Some((_, newest)) = times(group[0]) else { continue };
        let shifts: Vec<(usize, i128)> = group
            .iter()
            .filter_map(|index| {
                let (first, last) = times(*index)?;
                let behind = (last as u32).wrapping_sub(newest as u32) as i32;
                Some((*index, i128::from(first) + i128::from(newest) + i128::from(behind) - i128::from(last)))
            })
            .collect();
        let turn = 1 << 32;
        let least = shifts.iter().map(|(_, first)| first.div_euclid(turn)).min().unwrap_or(0).min(0);
        for (index, first) in shifts {
            surveys[index].first_time = u64::try_from(first - least * turn).ok();
        }
    }
}

/// Reports rings of several cores that have no clock.
pub fn report_cores(groups: &[Vec<usize>], rings: &[Ring], notes: &mut Notes<'_>) {
    let alone = groups.iter().filter_map(|group| match group[..] {
        [index] => rings[index].core.map(|_| &rings[index]),
        _ => None,
    });
    let names: Vec<String> = alone.take(8).map(Ring::thread).collect();
    if names.len() > 1 {
        notes.note(format_args!(
            "{} have no common clock, so they are listed one after another; `qs::Info::time` of the program names one",
            names.join(", ")
        ));
    }
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

#[cfg(test)]
mod tests {
    use qs_core::ring::{BARE_HEADER_LEN, BYTE_ORDER_MARK, LAYOUT_VERSION, MAGIC, check_word};

    use super::*;
    use crate::ring::{Findings, find};

    const SIZE: usize = 256;

    /// The rings of these cores, one behind the other: core, number of cores, width of stamps, flags.
    fn rings(facts: &[[u8; 4]]) -> Findings {
        let mut image = Vec::new();
        for [core, cores, width, flags] in facts {
            let mut ring = [0; BARE_HEADER_LEN + SIZE];
            let words = [
                BYTE_ORDER_MARK,
                u32::from_le_bytes([LAYOUT_VERSION, *width, 120, flags | Flags::PACKED.0]),
                BARE_HEADER_LEN as u32,
                SIZE as u32,
            ];
            ring[..8].copy_from_slice(&MAGIC);
            for (at, word) in (8..).step_by(4).zip(words) {
                ring[at..at + 4].copy_from_slice(&word.to_le_bytes());
            }
            ring[36..40].copy_from_slice(&check_word(words).to_le_bytes());
            ring[60..62].copy_from_slice(&[*core, *cores]);
            image.extend(ring);
        }
        find(&image, None, &mut |_| {})
    }

    fn grouped(facts: &[[u8; 4]]) -> Vec<Vec<usize>> {
        let found = rings(facts);
        let chosen: Vec<&Placed> = found.rings.iter().collect();
        assert_eq!(chosen.len(), facts.len());
        groups(&chosen, &vec![Survey::default(); chosen.len()])
    }

    #[test]
    fn cores_of_a_run_are_merged_if_they_have_a_clock() {
        let earlier = Flags::EARLIER.0;
        assert_eq!(grouped(&[[0, 2, 4, 0], [1, 2, 4, 0]]), [[0, 1]]);
        let runs = [[0, 2, 4, 0], [1, 2, 4, 0], [0, 2, 4, earlier], [1, 2, 4, earlier]];
        assert_eq!(grouped(&runs), [[2, 3], [0, 1]]);
        assert_eq!(grouped(&[[0, 2, 0, 0], [1, 2, 0, 0]]), [[0], [1]], "no clock");
        assert_eq!(grouped(&[[0, 0, 4, 0], [0, 0, 4, 0]]), [[0], [1]], "one ring for all cores");
        assert_eq!(grouped(&[[1, 2, 4, 0], [1, 2, 4, 0]]), [[0], [1]], "the first of each is not here");
    }

    #[test]
    fn cores_without_a_clock_are_reported_once() {
        let said = |facts: &[[u8; 4]]| {
            let found = rings(facts);
            let chosen: Vec<&Placed> = found.rings.iter().collect();
            let groups = groups(&chosen, &vec![Survey::default(); chosen.len()]);
            let mut out = Vec::new();
            report_cores(&groups, &described(&chosen, &groups), &mut Notes::new(&mut out));
            String::from_utf8(out).expect("text")
        };
        assert!(said(&[[0, 2, 0, 0], [1, 2, 0, 0]]).contains("core 0, core 1 have no common clock"));
        assert_eq!(said(&[[0, 2, 4, 0], [1, 2, 4, 0]]), "");
        assert_eq!(said(&[[0, 0, 0, 0], [0, 0, 0, 0]]), "");
    }

    #[test]
    fn clocks_of_cores_that_wrapped_between_their_stamps_are_aligned() {
        let found = rings(&[[0, 2, 4, 0], [1, 2, 4, 0]]);
        let chosen: Vec<&Placed> = found.rings.iter().collect();
        let aligned = |times: [(u64, u64); 2]| {
            let of = |(first, last)| Survey {
                first_time: Some(first),
                last_time: Some(last),
                ..Survey::default()
            };
            let mut surveys = times.map(of);
            align_cores(&chosen, &mut surveys);
            surveys.map(|survey| survey.first_time.expect("a time"))
        };
        let turn = 1 << 32;
        assert_eq!(aligned([(5, 90), (7, 80)]), [5, 7]);
        assert_eq!(
            aligned([(5, 90), (turn - 9, turn - 3)]),
            [turn + 5, turn - 9],
            "core 1 is before the turn"
        );
        assert_eq!(aligned([(turn - 9, turn - 3), (5, 90)]), [turn - 9, turn + 5]);
        assert_eq!(aligned([(turn - 9, turn + 90), (5, 80)]), [turn - 9, turn + 5]);
    }
}
