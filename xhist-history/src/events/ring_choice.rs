//! Which rings of an image are reported on, and how they are read.

use crate::model::Ring;
use crate::notes::Notes;
use crate::options::ReadOptions;
use crate::ring::{self, Findings, Placed, RingFollower, RingSnapshot};
use crate::source;

use super::threads::{is_lane_of, name_threads};

/// Looks at a ring that is being written, until most of it was read before it was overwritten.
const LOOKS: usize = 8;

/// The rings of an image that are reported on.
pub struct ChosenRings<'i> {
    /// Where they are.
    pub placed: Vec<&'i Placed>,
    /// Those that a running program writes, as they were at the last look.
    followers: Vec<Option<RingFollower>>,
    image: &'i [u8],
}

impl<'i> ChosenRings<'i> {
    /// Reads these rings; those that a running program writes, as they are now.
    pub fn read(placed: Vec<&'i Placed>, image: &'i [u8], options: &ReadOptions) -> ChosenRings<'i> {
        let followers = placed.iter().map(|placed| follower(placed, image, options)).collect();
        ChosenRings { placed, followers, image }
    }

    /// What can be read of each.
    pub fn snapshots(&self) -> Vec<RingSnapshot<'_>> {
        let rings = self.placed.iter().zip(&self.followers);
        let snapshots = rings.map(|(placed, follower)| match follower {
            Some(follower) => follower.snapshot(),
            None => RingSnapshot::whole(placed, self.image),
        });
        snapshots.collect()
    }
}

/// The rings as users see them.
pub fn rings_of(placed: &[&Placed]) -> Vec<Ring> {
    placed.iter().map(|placed| placed.ring.clone()).collect()
}

/// The ring as it is now, if a running program writes it.
fn follower(placed: &Placed, image: &[u8], options: &ReadOptions) -> Option<RingFollower> {
    let file = options.live.as_ref()?;
    if !source::is_running(placed.ring.pid) {
        return None;
    }
    let mut follower = RingFollower::new(placed.clone(), image.len() - placed.ring.offset);
    // A program that writes faster than this process reads leaves little; usually the next look finds more.
    for _ in 0..LOOKS {
        follower.look(&|offset, bytes| source::read_at(file, offset, bytes), true)?;
        if follower.is_mostly_read() {
            break;
        }
    }
    Some(follower)
}

/// Finds the rings of an image, and what is damaged in them.
pub fn find_rings(image: &[u8], options: &ReadOptions) -> Findings {
    let mut progress = options.progress.map(|start| start(image.len()));
    let mut at = |done| progress.iter_mut().for_each(|at| at(done));
    let mut findings = ring::find(image, options.data.as_deref(), &mut at);
    findings.rings.iter_mut().for_each(|placed| placed.ring.origin.clone_from(&options.origin));
    name_threads(findings.rings.iter_mut());
    ring::check(&mut findings, image, &|pid| options.live.is_some() && source::is_running(pid));
    findings
}

/// The rings to report on; `None` without any.
pub fn choose<'a>(
    rings: &'a [Placed],
    image: &[u8],
    options: &ReadOptions,
    notes: &mut Notes<'_>,
) -> Option<Vec<&'a Placed>> {
    if rings.is_empty() {
        return None;
    }
    if options.rings.is_empty() {
        return of_threads(without_copies(rings, image, notes), options, notes);
    }
    let mut chosen: Vec<&Placed> = Vec::new();
    for number in &options.rings {
        let Some(ring) = number.checked_sub(1).and_then(|index| rings.get(index)) else {
            let has = match rings.len() {
                1 => "ring 1 only".to_owned(),
                count => format!("rings 1 to {count}"),
            };
            notes.error(format_args!("ring {number} does not exist; this source has {has}"));
            return None;
        };
        chosen.extend(with_lanes(ring, rings.iter()));
    }
    Some(chosen)
}

/// Of these rings, those of the threads that the user asks for. `None` if there is no such thread.
fn of_threads<'a>(
    rings: Vec<&'a Placed>,
    options: &ReadOptions,
    notes: &mut Notes<'_>,
) -> Option<Vec<&'a Placed>> {
    if options.selection.threads.is_empty() {
        return Some(rings);
    }
    let is_lane = |ring: &&Placed| rings.iter().any(|other| is_lane_of(ring, other));
    let threads: Vec<&Placed> = rings.iter().copied().filter(|ring| !is_lane(ring)).collect();
    let shown: Vec<&Ring> = threads.iter().map(|placed| &placed.ring).collect();
    match options.selection.choose_threads(&shown) {
        Ok(chosen) => {
            let chosen = threads.iter().zip(chosen).filter(|(_, is_chosen)| *is_chosen);
            let of_thread = |(thread, _): (&&'a Placed, _)| with_lanes(thread, rings.iter().copied());
            Some(chosen.flat_map(of_thread).collect())
        }
        Err(error) => {
            notes.error(format_args!("{error}"));
            None
        }
    }
}

/// A ring, and the lanes of the handlers that interrupted its code.
pub fn with_lanes<'a>(ring: &'a Placed, rings: impl Iterator<Item = &'a Placed> + Clone) -> Vec<&'a Placed> {
    let mut chosen = vec![ring];
    let mut next = 0;
    while let Some(parent) = chosen.get(next).copied() {
        chosen.extend(rings.clone().filter(|other| is_lane_of(other, parent)));
        next += 1;
    }
    chosen
}

/// Several exports of one ring would show everything twice.
fn without_copies<'a>(rings: &'a [Placed], image: &[u8], notes: &mut Notes<'_>) -> Vec<&'a Placed> {
    let copies = ring::duplicates(rings, image);
    if let Some((earlier, later)) = copies.first_key_value() {
        let (earlier, later) = (&rings[*earlier].ring, &rings[*later].ring);
        notes.note(format_args!(
            "{} left out (first: {earlier} of {later}); --ring {} shows it",
            if copies.len() == 1 {
                "1 ring is an earlier copy of another and".to_owned()
            } else {
                format!("{} rings are earlier copies of others and", copies.len())
            },
            earlier.number
        ));
    }
    rings
        .iter()
        .enumerate()
        .filter(|(index, _)| !copies.contains_key(index))
        .map(|(_, placed)| placed)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ring::tests::Recorder;

    #[test]
    fn damage_of_a_ring_is_said_unless_a_program_writes_it() {
        let mut ring = Recorder::new(std::process::id(), 0).events(0..3);
        ring.put(40, &[0; 7]);
        let findings = find_rings(&ring.image, &ReadOptions::default());
        assert_eq!(findings.damaged.first.len(), 1);
        let file = tempfile::tempfile().expect("a file");
        let options = ReadOptions { live: Some(Arc::new(file)), ..ReadOptions::default() };
        assert!(find_rings(&ring.image, &options).damaged.first.is_empty());
        let placed: Vec<_> = findings.rings.iter().collect();
        assert_eq!(rings_of(&placed).len(), 1);
    }
}
