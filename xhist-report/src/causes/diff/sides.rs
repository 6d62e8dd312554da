//! The two sources of a comparison: their rings by thread, and which threads belong together.

use std::collections::{BTreeMap, HashSet};

use qs_core::ring::Status;

use super::align::Side;
use super::error::DiffError;
use super::history::Limits;
use super::program::ComparedProgram;
use xhist_history::ReadOptions;
use xhist_history::calls::StatementId;
use xhist_history::events::{
    ChosenRings, choose, find_rings, read_items, report_damage, report_dropped, report_findings, with_lanes,
};
use xhist_history::model::{Gap, Item, Ring};
use xhist_history::notes::Notes;
use xhist_history::ring::{Executed, Findings, Placed, RingSnapshot, executed};

/// Which threads of a source are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThreadChoice {
    /// All of them.
    All,
    /// The thread of this ring, counted from 1.
    Ring(usize),
    /// The thread with this name.
    Named(String),
}

/// A source of a comparison.
pub struct Input<'i> {
    /// Which of the two.
    pub side: Side,
    /// Its name, as typed.
    pub label: String,
    /// Its bytes.
    pub image: &'i [u8],
    /// How it is read.
    pub options: &'i ReadOptions,
    /// Which threads.
    pub threads: ThreadChoice,
}

impl Input<'_> {
    /// Finds its rings.
    ///
    /// # Errors
    /// It has none.
    pub fn find(&self, notes: &mut Notes<'_>) -> Result<Findings, DiffError> {
        let findings = find_rings(self.image, self.options);
        if findings.rings.is_empty() {
            report_findings(&findings, self.image, self.options, notes);
            return Err(DiffError::NoRing(self.side));
        }
        report_damage(&findings, notes);
        Ok(findings)
    }
}

/// A thread and its ring.
#[derive(Clone, Debug)]
pub struct SideThread {
    /// Number of its ring.
    pub number: usize,
    /// Its name, its id, or the number of its ring.
    pub name: String,
    /// Its name without a number for threads of one name; empty if it has none.
    base: String,
    start: (u64, usize),
    /// Its ring, as users see it.
    pub ring: Ring,
    /// The limits of its history.
    pub limits: Limits,
    /// Its place among the rings.
    place: usize,
}

/// The rings of a source.
pub struct SideRings<'i> {
    /// Which of the two.
    pub side: Side,
    /// Its threads.
    pub threads: Vec<SideThread>,
    choice: ThreadChoice,
    rings: ChosenRings<'i>,
    executed: Executed,
    /// Hash of its map.
    pub map_hash: u64,
}

impl<'i> SideRings<'i> {
    /// The rings of the threads that were asked for.
    ///
    /// # Errors
    /// The thread is not here, or the rings are of several builds.
    pub fn read(
        input: &Input<'i>,
        findings: &'i Findings,
        notes: &mut Notes<'_>,
    ) -> Result<SideRings<'i>, DiffError> {
        let side = input.side;
        let placed = choose(&findings.rings, input.image, input.options, notes).unwrap_or_default();
        let is_thread = |placed: &&Placed| placed.header.words.parent.is_none();
        let all: Vec<&Placed> = placed.iter().copied().filter(is_thread).collect();
        let chosen = chosen(side, &all, &input.threads)?;
        let Some(map_hash) = chosen.first().map(|placed| placed.ring.map_hash) else {
            return Err(DiffError::NoRing(side));
        };
        if chosen.iter().any(|placed| placed.ring.map_hash != map_hash) {
            return Err(DiffError::SeveralBuilds(side));
        }
        chosen.iter().for_each(|placed| report_dropped(&placed.ring, notes));
        let (mut threads, mut rings) = (Vec::new(), Vec::new());
        for of in chosen {
            let place = rings.len();
            rings.extend(with_lanes(of, placed.iter().copied()));
            threads.push(thread(place, &rings[place..]));
        }
        let rings = ChosenRings::read(rings, input.image, input.options);
        let executed = executed(input.image);
        Ok(SideRings { side, threads, choice: input.threads.clone(), rings, executed, map_hash })
    }

    /// Whether the user chose one thread.
    pub fn is_chosen(&self) -> bool {
        self.choice != ThreadChoice::All
    }

    /// Gives the items of a thread and its handlers as they were recorded, and what is missing before each.
    pub fn read_items(&self, thread: &SideThread, take: &mut dyn FnMut(&Gap, Option<&Item>)) {
        let snapshots: Vec<RingSnapshot<'_>> = self.rings.snapshots();
        read_items(&self.rings.placed, &snapshots, thread.place, take);
    }

    /// All that the program ever ran; `None` without a whole executed bitmap.
    pub fn executed(&self, program: &ComparedProgram) -> Option<HashSet<StatementId>> {
        let Executed { by_map, known, lost, cut, left_out } = &self.executed;
        let is_whole = known.contains(&self.map_hash) && *lost == 0 && *cut == 0 && *left_out == 0;
        let statements = by_map.get(&self.map_hash).filter(|_| is_whole)?;
        Some(statements.iter().filter_map(|statement| program.find(*statement, None)).collect())
    }
}

/// The rings of the threads that were asked for.
fn chosen<'p>(side: Side, all: &[&'p Placed], choice: &ThreadChoice) -> Result<Vec<&'p Placed>, DiffError> {
    let known = || all.iter().map(|placed| placed.ring.thread()).take(20).collect();
    match choice {
        ThreadChoice::All => Ok(all.to_vec()),
        ThreadChoice::Ring(number) => {
            let ring = all.iter().find(|placed| placed.ring.number == *number);
            ring.map(|ring| vec![*ring])
                .ok_or_else(|| DiffError::NoThread(side, format!("#{number}"), known()))
        }
        ThreadChoice::Named(name) => {
            let of = |is: &dyn Fn(&str) -> bool| -> Vec<&'p Placed> {
                all.iter().copied().filter(|placed| is(&placed.ring.thread())).collect()
            };
            let mut found = of(&|thread| thread == name);
            if found.is_empty() {
                // The last part of a test's path is enough.
                found = of(&|thread| thread.rsplit("::").next() == Some(name));
            }
            match found.len() {
                0 => Err(DiffError::NoThread(side, name.clone(), known())),
                1 => Ok(found),
                _ => {
                    let rings = found.iter().map(|placed| placed.ring.number).collect();
                    Err(DiffError::SeveralThreads(side, name.clone(), rings))
                }
            }
        }
    }
}

/// A thread of these rings: its own, and those of its handlers.
fn thread(place: usize, rings: &[&Placed]) -> SideThread {
    let is_cut = |placed: &Placed| !placed.header.has_beginning() || placed.header.cleared.position > 0;
    let Placed { header, ring, .. } = rings[0];
    let limits = Limits {
        is_cut: is_cut(rings[0]),
        misses_handlers: rings[1..].iter().any(|lane| is_cut(lane)),
        is_killed: matches!(header.status, Status::Live | Status::Killed),
    };
    SideThread {
        number: ring.number,
        name: ring.thread(),
        base: header.thread_name().unwrap_or_default().to_owned(),
        start: (header.start_time, place),
        ring: ring.clone(),
        limits,
        place,
    }
}

/// Threads that belong together, and those without a counterpart.
pub type Pairs<'t> = (Vec<(&'t SideThread, &'t SideThread)>, Vec<(Side, &'t SideThread)>);

/// Pairs threads by name; of several with one name, in the order in which they started. A thread of each side that was asked for
/// is a pair, whatever the names.
///
/// # Errors
/// There is no pair.
pub fn pairs<'t>(good: &'t SideRings<'_>, bad: &'t SideRings<'_>) -> Result<Pairs<'t>, DiffError> {
    let is_one = |side: &SideRings<'_>| side.choice != ThreadChoice::All || side.threads.len() == 1;
    if let (true, true, [one], [other]) = (is_one(good), is_one(bad), &good.threads[..], &bad.threads[..]) {
        return Ok((vec![(one, other)], Vec::new()));
    }
    let mut by_name: BTreeMap<&str, (Vec<&SideThread>, Vec<&SideThread>)> = BTreeMap::new();
    for thread in &good.threads {
        by_name.entry(&thread.base).or_default().0.push(thread);
    }
    for thread in &bad.threads {
        by_name.entry(&thread.base).or_default().1.push(thread);
    }
    let (mut paired, mut alone) = (Vec::new(), Vec::new());
    for (mut ones, mut others) in by_name.into_values() {
        ones.sort_by_key(|thread| thread.start);
        others.sort_by_key(|thread| thread.start);
        let common = ones.len().min(others.len());
        alone.extend(ones.drain(common..).map(|thread| (Side::Good, thread)));
        alone.extend(others.drain(common..).map(|thread| (Side::Bad, thread)));
        paired.extend(ones.into_iter().zip(others));
    }
    if paired.is_empty() {
        return Err(DiffError::NoCommonThread);
    }
    // If one thread of a side was asked for, the others of the other side do not matter.
    if good.choice != ThreadChoice::All || bad.choice != ThreadChoice::All {
        alone.clear();
    }
    paired.sort_by_key(|(one, _)| one.start);
    alone.sort_by_key(|(side, thread)| (*side, thread.start));
    Ok((paired, alone))
}
