//! Aligns two shapes from the outside in, and finds the places where control flow parts.

use std::collections::HashSet;

use super::shape::{BodyId, HistoryEnd, OUTSIDE, Owner, Repeater, ShapeId, ShapeItem, Shapes, StatementId};

/// Most statements that [`Next`] lists.
const NEXT_SITES: usize = 4;
/// Most partings that are kept.
const MOST_PARTINGS: usize = 200;
/// Most new rounds of one repeated code that are aligned.
const NEW_ROUNDS: usize = 8;
/// Most comparisons of two sequences: they bound the time.
const BUDGET: usize = 4_000_000;

/// One of the two histories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The one named first.
    Good,
    /// The other one.
    Bad,
}

impl Side {
    /// The other side.
    pub fn other(self) -> Side {
        match self {
            Side::Good => Side::Bad,
            Side::Bad => Side::Good,
        }
    }
}

/// A body that runs, and its newest statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    /// The body.
    pub body: BodyId,
    /// Its newest statement; `None` if none ran, or if that is not known.
    pub at: Option<StatementId>,
}

/// A place where the control flow of the two sides parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// The bodies that run, outermost first. The newest statement of the last one is the last that both sides ran there.
    pub stack: Vec<Level>,
    /// The innermost repeated code around the place. No round of the other side goes this way.
    pub within: Option<Repeater>,
    /// The side whose round it is, within repeated code.
    pub round_of: Side,
    /// The sides begin in different functions, so GOOD has other callers: the stack is that of BAD.
    pub other_callers: bool,
    /// What GOOD did next.
    pub good: Next,
    /// What BAD did next.
    pub bad: Next,
}

/// What a side did next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Next {
    /// Its next statements, also those of calls.
    pub sites: Vec<StatementId>,
    /// What follows the statements, if that is not another statement of the same sequence.
    pub then: Option<Then>,
}

/// How a sequence ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The body returns.
    Leaves(BodyId),
    /// The round of a loop ends.
    EndsRound(u32),
    /// The statement calls nothing more.
    CallsNoMore(Option<StatementId>),
    /// The thread calls nothing more.
    EndsThread,
    /// The history ends.
    Ends(HistoryEnd),
}

/// A sequence from one of its steps on.
#[derive(Clone, Copy, Debug)]
pub(super) struct SequenceTail {
    pub shape: ShapeId,
    pub from: usize,
}

impl SequenceTail {
    fn whole(shape: ShapeId) -> SequenceTail {
        SequenceTail { shape, from: 0 }
    }

    fn items(self, shapes: &Shapes) -> &[ShapeItem] {
        &shapes.items(self.shape)[self.from..]
    }
}

/// The places where two histories part that began alike, in the order of BAD's steps. Empty if their shapes are the same.
pub fn partings(shapes: &Shapes, good: ShapeId, bad: ShapeId) -> Vec<Parting> {
    let mut found = Partings::new(shapes, Inner::Aligned);
    if good != bad {
        let outside = vec![Level { body: OUTSIDE, at: None }];
        let walk = Walk { shapes, stack: outside, within: None, subject: Side::Bad };
        walk.part(SequenceTail::whole(bad), vec![SequenceTail::whole(good)], &mut found);
    }
    found.all
}

/// What a walk does with a call in which the sides differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inner {
    /// Aligns its steps.
    Aligned,
    /// Goes on behind it: the caller aligns each call by itself.
    Passed,
}

/// Places where histories part, each once.
pub(super) struct Partings {
    pub all: Vec<Parting>,
    pub inner: Inner,
    /// Number of comparisons that are left of [`BUDGET`].
    budget: usize,
    /// Whether control flow never came back from a shape, by its number. See [`Shapes::ended`].
    ended: Vec<bool>,
}

impl Partings {
    pub fn new(shapes: &Shapes, inner: Inner) -> Partings {
        Partings { all: Vec::new(), inner, budget: BUDGET, ended: shapes.ended() }
    }

    /// Whether a walk ends: enough places are known, or the budget is spent.
    pub fn is_full(&self) -> bool {
        self.all.len() >= MOST_PARTINGS || self.budget == 0
    }

    fn add(&mut self, parting: Parting) {
        if !self.all.iter().any(|known| known.is_like(&parting)) {
            self.all.push(parting);
        }
    }
}

impl Parting {
    /// Whether both are the same place, in other calls or rounds.
    fn is_like(&self, other: &Parting) -> bool {
        let of = |one: &Parting| {
            let next =
                |next: &Next| (next.sites.first().copied(), next.sites.is_empty().then_some(next.then));
            (one.stack.last().copied(), next(&one.good), next(&one.bad))
        };
        of(self) == of(other)
    }
}

/// Follows one sequence, the subject, along all sequences of the other side that began alike.
pub(super) struct Walk<'s> {
    pub shapes: &'s Shapes,
    pub stack: Vec<Level>,
    pub within: Option<Repeater>,
    /// The side of the subject.
    pub subject: Side,
}

/// A sequence that is aligned from a step on.
struct AlignedTail {
    subject: SequenceTail,
    candidates: Vec<SequenceTail>,
    at: usize,
    side: Side,
    within: Option<Repeater>,
    /// Levels of the stack, and the newest statement of the last one.
    depth: usize,
    newest: Option<StatementId>,
    /// The body that the sequence runs, if it is a call that is not on the stack yet.
    enters: Option<BodyId>,
}

impl Walk<'_> {
    /// Adds the places where the subject parts from the last of the candidates. A step that differs only inside is no such
    /// place: its inside is aligned, and so are the steps behind it.
    pub fn part(mut self, subject: SequenceTail, candidates: Vec<SequenceTail>, found: &mut Partings) {
        let mut todo = vec![self.tail(subject, candidates, 0)];
        while let Some(mut tail) = todo.pop() {
            if found.is_full() {
                return;
            }
            self.resume(&tail);
            found.budget = found.budget.saturating_sub(tail.candidates.len());
            let items = tail.subject.items(self.shapes);
            while let Some(item) = items.get(tail.at) {
                let is_same = |other: &SequenceTail| other.items(self.shapes).get(tail.at) == Some(item);
                if !tail.candidates.iter().any(is_same) {
                    break;
                }
                tail.candidates.retain(is_same);
                self.pass(*item);
                tail.at += 1;
            }
            let is_end = |other: &SequenceTail| other.items(self.shapes).len() == tail.at;
            let Some(item) = items.get(tail.at).copied() else {
                if !tail.candidates.iter().any(is_end) {
                    found.add(self.parting(&tail));
                }
                continue;
            };
            let inner = self.inner(item, &tail, found);
            let Some((mut inner, others)) = inner else {
                found.add(self.parting(&tail));
                continue;
            };
            // Where one side never came back, all that the other did later is a consequence.
            let is_ended = |of: &ShapeItem| match of {
                ShapeItem::Call(shape) | ShapeItem::Repeated(shape) => found.ended[shape.index()],
                ShapeItem::Statement(_) | ShapeItem::End(_) => false,
            };
            let at = tail.at;
            let came_back = |other: &SequenceTail| !other.items(self.shapes).get(at).is_some_and(is_ended);
            if !is_ended(&item) && others.iter().any(came_back) {
                todo.push(self.tail(tail.subject, others, at + 1));
            }
            inner.reverse();
            todo.extend(inner);
        }
    }

    fn tail(&self, subject: SequenceTail, candidates: Vec<SequenceTail>, at: usize) -> AlignedTail {
        let newest = self.stack.last().and_then(|level| level.at);
        let (side, within, depth) = (self.subject, self.within, self.stack.len());
        AlignedTail { subject, candidates, at, side, within, depth, newest, enters: None }
    }

    /// Restores the state in which this tail was found.
    fn resume(&mut self, tail: &AlignedTail) {
        (self.subject, self.within) = (tail.side, tail.within);
        self.stack.truncate(tail.depth);
        if let Some(level) = self.stack.last_mut() {
            level.at = tail.newest;
        }
        self.stack.extend(tail.enters.map(|body| Level { body, at: None }));
    }

    /// Both sides have this step: a statement becomes the newest of its body.
    fn pass(&mut self, item: ShapeItem) {
        if let (ShapeItem::Statement(site), Some(level)) = (item, self.stack.last_mut()) {
            level.at = Some(site);
        }
    }

    /// The parts of a step in which the sides differ, and the candidates that have this step. `None` if no candidate has it.
    fn inner(
        &self,
        item: ShapeItem,
        tail: &AlignedTail,
        found: &Partings,
    ) -> Option<(Vec<AlignedTail>, Vec<SequenceTail>)> {
        let (shapes, at) = (self.shapes, tail.at);
        let with = |is_it: &dyn Fn(ShapeItem) -> bool| {
            let has = |other: &&SequenceTail| other.items(shapes).get(at).copied().is_some_and(is_it);
            let with: Vec<SequenceTail> = tail.candidates.iter().filter(has).copied().collect();
            (!with.is_empty()).then_some(with)
        };
        let others = |with: &[SequenceTail]| -> Vec<ShapeItem> {
            with.iter().filter_map(|other| other.items(shapes).get(at).copied()).collect()
        };
        match item {
            ShapeItem::Call(shape) => {
                let body = shapes.body(shape)?;
                let is_call =
                    |other| matches!(other, ShapeItem::Call(other) if shapes.body(other) == Some(body));
                let with = with(&is_call)?;
                if found.inner == Inner::Passed {
                    return Some((Vec::new(), with));
                }
                let called = others(&with).into_iter().filter_map(ShapeItem::shape).map(SequenceTail::whole);
                let mut inner = self.tail(SequenceTail::whole(shape), called.collect(), 0);
                inner.enters = Some(body);
                Some((vec![inner], with))
            }
            ShapeItem::Repeated(shape) => {
                let (of, own) = shapes.rounds(shape)?;
                let is_repeated = |other| match other {
                    ShapeItem::Repeated(other) => shapes.rounds(other).is_some_and(|(other, _)| other == of),
                    _ => false,
                };
                let with = with(&is_repeated)?;
                let rounds = others(&with).into_iter().filter_map(ShapeItem::shape);
                let rounds: Vec<&[ShapeId]> =
                    rounds.filter_map(|other| Some(shapes.rounds(other)?.1)).collect();
                Some((self.new_rounds(of, own, &rounds), with))
            }
            ShapeItem::Statement(_) | ShapeItem::End(_) => None,
        }
    }

    /// The rounds that only the subject has, or else those that only the other side has, to align with all of the opposite
    /// side.
    fn new_rounds(&self, of: Repeater, own: &[ShapeId], others: &[&[ShapeId]]) -> Vec<AlignedTail> {
        let known: HashSet<ShapeId> = others.iter().copied().flatten().copied().collect();
        let own_rounds: HashSet<ShapeId> = own.iter().copied().collect();
        let mut new: Vec<ShapeId> = own.iter().copied().filter(|round| !known.contains(round)).collect();
        let (mut candidates, mut side) = (known, self.subject);
        if new.is_empty() {
            // Several candidates may have the same round.
            let mut seen = own_rounds.clone();
            new = others.iter().copied().flatten().copied().filter(|round| seen.insert(*round)).collect();
            (candidates, side) = (own_rounds, side.other());
        }
        let mut candidates: Vec<ShapeId> = candidates.into_iter().collect();
        candidates.sort_unstable();
        // A single call is not repeated code.
        let is_repeated = own.len() > 1 || others.iter().any(|rounds| rounds.len() > 1);
        let within = match of {
            Repeater::Calls(None) => self.within,
            Repeater::Calls(Some(_)) if !is_repeated => self.within,
            _ => Some(of),
        };
        let tail = |round: ShapeId| {
            let candidates = candidates.iter().copied().map(SequenceTail::whole).collect();
            AlignedTail { side, within, ..self.tail(SequenceTail::whole(round), candidates, 0) }
        };
        new.into_iter().take(NEW_ROUNDS).map(tail).collect()
    }

    /// Adds the places where this round of the subject parts from all rounds of the other side.
    pub fn part_round(mut self, of: Repeater, new: ShapeId, others: &[ShapeId], found: &mut Partings) {
        for tail in self.new_rounds(of, &[new], &[others]) {
            self.resume(&tail);
            let (stack, within, subject) = (self.stack.clone(), self.within, self.subject);
            let walk = Walk { shapes: self.shapes, stack, within, subject };
            walk.part(tail.subject, tail.candidates, found);
        }
    }

    /// The parting at the step that this tail has reached.
    fn parting(&self, tail: &AlignedTail) -> Parting {
        let own = next(self.shapes, tail.subject, tail.at);
        let other =
            tail.candidates.first().map_or_else(Next::default, |one| next(self.shapes, *one, tail.at));
        let (good, bad) = match self.subject {
            Side::Good => (own, other),
            Side::Bad => (other, own),
        };
        let mut stack = self.stack.clone();
        stack.retain(|level| level.body != OUTSIDE);
        Parting { stack, within: self.within, round_of: self.subject, other_callers: false, good, bad }
    }
}

/// What a sequence does from a step on.
fn next(shapes: &Shapes, tail: SequenceTail, at: usize) -> Next {
    // More items than needed: some have no statement.
    const ITEMS: usize = 2 * NEXT_SITES;
    let mut sites = Vec::new();
    let items = &tail.items(shapes)[at..];
    let mut todo: Vec<ShapeItem> = items.iter().take(ITEMS).rev().copied().collect();
    while let Some(item) = todo.pop() {
        match item {
            ShapeItem::Statement(_) if sites.len() == NEXT_SITES => return Next { sites, then: None },
            ShapeItem::Statement(site) => sites.push(site),
            ShapeItem::Call(shape) => todo.extend(shapes.items(shape).iter().take(ITEMS).rev()),
            // The rounds are a set; the first of them is one that ran.
            ShapeItem::Repeated(shape) => {
                let first = shapes.rounds(shape).and_then(|(_, rounds)| rounds.first());
                let items = first.map_or(&[][..], |first| shapes.items(*first));
                todo.extend(items.iter().take(ITEMS).rev());
            }
            ShapeItem::End(end) => return Next { sites, then: Some(Then::Ends(end)) },
        }
    }
    let then = match shapes.owner(tail.shape) {
        _ if items.len() > ITEMS => None,
        Some(Owner::Body(OUTSIDE) | Owner::Round(Repeater::Calls(None))) => Some(Then::EndsThread),
        Some(Owner::Body(body)) => Some(Then::Leaves(body)),
        Some(Owner::Round(Repeater::Loop(number))) => Some(Then::EndsRound(number)),
        Some(Owner::Round(Repeater::Calls(site))) => Some(Then::CallsNoMore(site)),
        None => None,
    };
    Next { sites, then }
}
