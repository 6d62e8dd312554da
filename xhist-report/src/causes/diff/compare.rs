//! Compares the histories of two sources: pairs their threads, aligns each pair, and collects what only one side ran.

use std::collections::{HashMap, HashSet};

use super::align::{Next, Parting, Side, Then};
use super::cut::{Alignment, align};
use super::error::DiffError;
use super::history::{HistoryReader, ThreadHistory};
use super::program::ComparedProgram;
use super::shape::{HistoryEnd, Shapes};
use super::sides::{SideRings, SideThread, pairs};
use super::values::ValueDifference;
use xhist_history::calls::StatementId;
use xhist_history::notes::Notes;

/// How two sources differ.
#[derive(Debug)]
pub struct Comparison {
    /// Pairs of threads, in the order of GOOD.
    pub threads: Vec<ThreadPair>,
    /// Names of threads that only one side has.
    pub alone: Vec<(Side, String)>,
    /// What only GOOD ran.
    pub only_good: OnlyRan,
    /// What only BAD ran.
    pub only_bad: OnlyRan,
    /// Statements that both ran, but not as often.
    pub counts: Vec<(StatementId, u64, u64)>,
    /// The first values that differ.
    pub values: Vec<ValueDifference>,
}

/// A thread of each side.
#[derive(Debug)]
pub struct ThreadPair {
    /// Names of the threads of GOOD and BAD.
    pub names: (String, String),
    /// Numbers of their rings.
    pub rings: (usize, usize),
    /// Statements of each.
    pub statements: (u64, u64),
    /// Where they part; those in the program's own code first.
    pub partings: Vec<Parting>,
    /// They have no common point.
    pub is_apart: bool,
    /// Statements of each whose place in the tree of calls has another reading.
    pub uncertain: (u64, u64),
    /// Which of them began earlier than its history.
    pub cut: (bool, bool),
}

/// Statements that only one side ran, the nearest to its failure first; without one in the order in which they first ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnlyRan {
    /// The other side certainly did not run these.
    pub certain: Vec<StatementId>,
    /// The first of them that ran behind the last panic, by place in `certain`.
    pub after_panic: Option<usize>,
    /// The other side may have run these before its history begins.
    pub uncertain: Vec<StatementId>,
}

impl OnlyRan {
    fn is_empty(&self) -> bool {
        self.certain.is_empty()
    }
}

impl Comparison {
    /// Whether no difference was found.
    pub fn is_same(&self) -> bool {
        self.threads.iter().all(|pair| pair.partings.is_empty() && !pair.is_apart)
            && self.only_good.is_empty()
            && self.only_bad.is_empty()
            && self.alone.is_empty()
    }
}

/// All that one side ran.
#[derive(Default)]
struct Ran {
    counts: HashMap<StatementId, u64>,
    /// In the order in which they first ran, and whether that was behind the last panic of the thread.
    order: Vec<(StatementId, bool)>,
    /// How many statements ran between each and the failure of its thread.
    distances: HashMap<StatementId, u64>,
    /// Something that ran may not be in it.
    is_partial: bool,
}

impl Ran {
    fn add(&mut self, history: &ThreadHistory) {
        for (place, site) in history.built.order.iter().enumerate() {
            let count = history.built.counts.get(site).copied().unwrap_or_default();
            let all = self.counts.entry(*site).or_insert_with(|| {
                self.order.push((*site, place >= history.built.before_panic));
                0
            });
            *all = all.saturating_add(count);
        }
        for (site, distance) in &history.built.distances {
            let known = self.distances.entry(*site).or_insert(*distance);
            *known = (*known).min(*distance);
        }
        self.is_partial |= history.is_partial;
    }
}

/// Compares two sources of one build.
///
/// # Errors
/// Why they cannot be compared.
pub fn compare(
    program: &ComparedProgram,
    good: &SideRings<'_>,
    bad: &SideRings<'_>,
    notes: &mut Notes<'_>,
) -> Result<Comparison, DiffError> {
    let (pairs, alone) = pairs(good, bad)?;
    let is_chosen = good.is_chosen() && bad.is_chosen();
    let (mut ran_good, mut ran_bad) = (Ran::default(), Ran::default());
    let mut threads = Vec::new();
    for (one, other) in pairs {
        // Shapes are compared only within a pair.
        let shapes = &mut Shapes::default();
        let mut read = |side: &SideRings<'_>, thread: &SideThread, ran: &mut Ran| {
            let history = read_thread(program, side, thread, shapes)?;
            ran.add(&history);
            Ok(history)
        };
        let history = (read(good, one, &mut ran_good)?, read(bad, other, &mut ran_bad)?);
        let (mut partings, aligned) =
            match align(shapes, history.0.built.root, history.1.built.root, is_chosen) {
                Alignment::Same => (Vec::new(), Aligned::Behind),
                Alignment::Parts(partings) => (partings, Aligned::Behind),
                Alignment::Apart => match by_beginnings(shapes, (&history.0, &history.1), is_chosen) {
                    partings if partings.is_empty() => (partings, Aligned::Nowhere),
                    partings => (partings, Aligned::Beginnings),
                },
            };
        note_losses(one, &history.0, aligned, notes);
        note_losses(other, &history.1, aligned, notes);
        partings.sort_by_key(|parting| program.role(parting));
        threads.push(ThreadPair {
            names: (one.name.clone(), other.name.clone()),
            rings: (one.number, other.number),
            statements: (history.0.statements, history.1.statements),
            partings,
            is_apart: aligned == Aligned::Nowhere,
            uncertain: (history.0.uncertain, history.1.uncertain),
            cut: (history.0.is_cut, history.1.is_cut),
        });
    }
    for (side, thread) in &alone {
        let (of, ran) = match side {
            Side::Good => (good, &mut ran_good),
            Side::Bad => (bad, &mut ran_bad),
        };
        let history = read_thread(program, of, thread, &mut Shapes::default())?;
        note_losses(thread, &history, Aligned::Nowhere, notes);
        ran.add(&history);
    }
    if ran_good.counts.is_empty() || ran_bad.counts.is_empty() {
        return Err(DiffError::NothingRecorded(if ran_good.counts.is_empty() {
            Side::Good
        } else {
            Side::Bad
        }));
    }
    let is_complete = !ran_good.is_partial && !ran_bad.is_partial;
    if is_complete && !threads.is_empty() && threads.iter().all(|pair| pair.is_apart) {
        return Err(DiffError::OtherProgram);
    }
    let mut counts: Vec<(StatementId, u64, u64)> = ran_good
        .order
        .iter()
        .filter_map(|(site, _)| Some((*site, ran_good.counts[site], *ran_bad.counts.get(site)?)))
        .filter(|(_, good, bad)| good != bad)
        .collect();
    counts.sort_unstable();
    Ok(Comparison {
        threads,
        alone: alone.into_iter().map(|(side, thread)| (side, thread.name.clone())).collect(),
        only_good: only(&ran_good, &ran_bad, bad.executed(program).as_ref()),
        only_bad: only(&ran_bad, &ran_good, good.executed(program).as_ref()),
        counts,
        values: Vec::new(),
    })
}

/// Where two histories part in what ran first, if what ran last has no point in common. A prologue ends anywhere, so its end is
/// no parting.
fn by_beginnings(
    shapes: &Shapes,
    (good, bad): (&ThreadHistory, &ThreadHistory),
    is_chosen: bool,
) -> Vec<Parting> {
    // Without a prologue, all has been aligned.
    let has_prologue = good.prologue.is_some() || bad.prologue.is_some();
    let (Some(good), Some(bad), true) = (good.beginning(), bad.beginning(), has_prologue) else {
        return Vec::new();
    };
    let Alignment::Parts(mut partings) = align(shapes, good, bad, is_chosen) else { return Vec::new() };
    let is_end = |next: &Next| next.then == Some(Then::Ends(HistoryEnd::Cut));
    partings.retain(|parting| !is_end(&parting.good) && !is_end(&parting.bad));
    // Behind the first place the prologues say less: one of them ends earlier.
    partings.truncate(1);
    partings
}

/// What `ran` has and `other` has not. `executed`: all that the program of `other` ever ran, if that is known.
fn only(ran: &Ran, other: &Ran, executed: Option<&HashSet<StatementId>>) -> OnlyRan {
    let mut only = OnlyRan::default();
    for (site, is_after_panic) in ran.order.iter().filter(|(site, _)| !other.counts.contains_key(site)) {
        let is_certain = !other.is_partial || executed.is_some_and(|executed| !executed.contains(site));
        if !is_certain {
            only.uncertain.push(*site);
        } else if *is_after_panic {
            only.after_panic.get_or_insert(only.certain.len());
            only.certain.push(*site);
        } else {
            let place = only.after_panic.unwrap_or(only.certain.len());
            only.certain.insert(place, *site);
            only.after_panic = only.after_panic.map(|at| at + 1);
        }
    }
    let before_panic = only.after_panic.unwrap_or(only.certain.len());
    // The sort is stable: without a failure they keep their order.
    let distance = |site: &StatementId| ran.distances.get(site).copied().unwrap_or(u64::MAX);
    only.certain[..before_panic].sort_by_key(distance);
    only
}

/// Reads the history of a thread.
fn read_thread(
    program: &ComparedProgram,
    side: &SideRings<'_>,
    thread: &SideThread,
    shapes: &mut Shapes,
) -> Result<ThreadHistory, DiffError> {
    let mut reader = HistoryReader::new(program, shapes, thread.limits);
    side.read_items(thread, &mut |gap, item| reader.take(gap, item));
    let history = reader.finish();
    match history.unknown {
        0 => Ok(history),
        unknown => Err(DiffError::OtherMap(side.side, unknown, history.statements + unknown)),
    }
}

/// Which parts of two histories are aligned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aligned {
    /// What is behind the losses.
    Behind,
    /// What ran first.
    Beginnings,
    /// Nothing: they have no point in common.
    Nowhere,
}

/// Notes what a history has lost, and what of it is aligned.
fn note_losses(thread: &SideThread, history: &ThreadHistory, aligned: Aligned, notes: &mut Notes<'_>) {
    let what = &thread.ring;
    let lost = match history.gap.is_empty() {
        false => format!("{what}: {}", history.gap),
        true if history.is_cut => format!("{what} lost its beginning"),
        true => return,
    };
    match aligned {
        Aligned::Behind if history.gap.is_empty() => {
            notes.loss(format_args!("{lost}, so it is aligned from the first common point on"));
        }
        Aligned::Behind => notes.loss(format_args!("{lost}; only what is behind is aligned")),
        Aligned::Beginnings => notes.loss(format_args!("{lost}; only what ran first is aligned")),
        Aligned::Nowhere => notes.loss(format_args!("{lost}")),
    }
}
