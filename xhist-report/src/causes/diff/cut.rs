//! Aligns histories that do not begin alike: those that lost their beginning, and those of two tests.

use std::collections::{HashMap, HashSet};

use super::align::{Inner, Level, Parting, Partings, SequenceTail, Side, Walk, partings};
use super::shape::{BodyId, OUTSIDE, Owner, Repeater, ShapeId, ShapeItem, Shapes};

/// How two histories of a thread relate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// Aligned from their beginning, or from the first common point, and they never part.
    Same,
    /// They part here, at least at one place.
    Parts(Vec<Parting>),
    /// They have no point in common.
    Apart,
}

/// Aligns two histories. `is_chosen`: the user chose the two threads, so they may begin in different functions.
pub fn align(shapes: &Shapes, good: ShapeId, bad: ShapeId, is_chosen: bool) -> Alignment {
    let found = match (shapes.is_cut(good), shapes.is_cut(bad)) {
        (false, false) if !share_first_body(shapes, good, bad) => {
            return if is_chosen { align_by_bodies(shapes, good, bad) } else { Alignment::Apart };
        }
        (false, false) => partings(shapes, good, bad),
        (_, true) => return align_cut(shapes, Side::Bad, bad, good),
        (true, false) => return align_cut(shapes, Side::Good, good, bad),
    };
    if found.is_empty() { Alignment::Same } else { Alignment::Parts(found) }
}

/// Whether a body that the code outside called is the same.
fn share_first_body(shapes: &Shapes, good: ShapeId, bad: ShapeId) -> bool {
    let bodies = |root: ShapeId| -> HashSet<BodyId> {
        let rounds = shapes.items(root).iter().filter_map(|item| match item {
            ShapeItem::Repeated(rounds) => shapes.rounds(*rounds),
            _ => None,
        });
        let calls = rounds.flat_map(|(_, rounds)| rounds).flat_map(|round| shapes.items(*round));
        calls
            .filter_map(|call| if let ShapeItem::Call(shape) = call { shapes.body(*shape) } else { None })
            .collect()
    };
    let (good, bad) = (bodies(good), bodies(bad));
    good.is_empty() && bad.is_empty() || !good.is_disjoint(&bad)
}

/// Aligns histories that begin in different functions, such as two tests: by the functions that both called. They part where
/// a call of BAD goes another way than all calls of GOOD.
fn align_by_bodies(shapes: &Shapes, good: ShapeId, bad: ShapeId) -> Alignment {
    let aligned = align_bodies(shapes, good, bad, Inner::Passed);
    match aligned {
        // Each call is known by itself, so they part in how the calls follow each other.
        Alignment::Same if good != bad => align_bodies(shapes, good, bad, Inner::Aligned),
        aligned => aligned,
    }
}

fn align_bodies(shapes: &Shapes, good: ShapeId, bad: ShapeId, inner: Inner) -> Alignment {
    let mut found = Partings::new(shapes, inner);
    let known = Known::of(shapes, good);
    let in_good: HashSet<ShapeId> = shapes.within(good).into_iter().collect();
    let mut is_aligned = false;
    let mut seen: HashSet<ShapeId> = HashSet::new();
    // The parts around a place, outermost first, each with its next step.
    let mut around: Vec<(ShapeId, usize)> = vec![(bad, 0)];
    let mut stack: Vec<Level> = Vec::new();
    while let Some((part, next)) = around.last_mut() {
        if found.is_full() {
            break;
        }
        let (part, at) = (*part, *next);
        *next += 1;
        let inner = match shapes.rounds(part) {
            Some((_, rounds)) => rounds.get(at).map(|round| ShapeItem::Repeated(*round)),
            None => shapes.items(part).get(at).copied(),
        };
        match inner {
            None => {
                around.pop();
                if shapes.body(part).is_some_and(|body| body != OUTSIDE) {
                    stack.pop();
                }
            }
            Some(ShapeItem::Statement(site)) => {
                if let Some(level) = stack.last_mut() {
                    level.at = Some(site);
                }
            }
            Some(ShapeItem::Call(shape)) if seen.insert(shape) => {
                let Some(body) = shapes.body(shape) else { continue };
                let level = Level { body, at: None };
                let Some(others) = known.sequences.get(&Owner::Body(body)) else {
                    around.push((shape, 0));
                    stack.push(level);
                    continue;
                };
                is_aligned = true;
                if in_good.contains(&shape) {
                    continue;
                }
                let candidates = others.iter().map(|other| SequenceTail { shape: *other, from: 0 }).collect();
                let callers = stack.iter().copied().chain([level]).collect();
                let walk = Walk { shapes, stack: callers, within: None, subject: Side::Bad };
                walk.part(SequenceTail { shape, from: 0 }, candidates, &mut found);
                if found.inner == Inner::Passed {
                    around.push((shape, 0));
                    stack.push(level);
                }
            }
            Some(ShapeItem::Repeated(inner)) => around.push((inner, 0)),
            Some(ShapeItem::Call(_) | ShapeItem::End(_)) => {}
        }
    }
    found.all.iter_mut().for_each(|parting| parting.other_callers = true);
    match is_aligned {
        _ if !found.all.is_empty() => Alignment::Parts(found.all),
        true => Alignment::Same,
        false => Alignment::Apart,
    }
}

/// Aligns a history that lost its beginning, from the inside out: what began last ended first.
fn align_cut(shapes: &Shapes, side: Side, cut: ShapeId, other: ShapeId) -> Alignment {
    let known = Known::of(shapes, other);
    let spine = spine(shapes, cut);
    let mut is_aligned = false;
    for (depth, shape) in spine.iter().enumerate().rev() {
        let walk = || Walk { shapes, stack: levels(shapes, &spine[..=depth]), within: None, subject: side };
        let Some(aligned) = align_level(shapes, *shape, &known, &walk) else { continue };
        is_aligned = true;
        if !aligned.is_empty() {
            return Alignment::Parts(aligned);
        }
    }
    if is_aligned { Alignment::Same } else { Alignment::Apart }
}

/// The sequences and rounds of a history, by what they are runs of.
struct Known {
    sequences: HashMap<Owner, Vec<ShapeId>>,
    rounds: HashMap<Repeater, Vec<ShapeId>>,
}

impl Known {
    fn of(shapes: &Shapes, root: ShapeId) -> Known {
        let mut known = Known { sequences: HashMap::new(), rounds: HashMap::new() };
        for shape in shapes.within(root) {
            match (shapes.owner(shape), shapes.rounds(shape)) {
                (Some(owner), _) => known.sequences.entry(owner).or_default().push(shape),
                (None, Some((of, rounds))) => known.rounds.entry(of).or_default().extend(rounds),
                (None, None) => {}
            }
        }
        known
    }
}

/// The sequences that began before the history does, outermost first.
fn spine(shapes: &Shapes, root: ShapeId) -> Vec<ShapeId> {
    let (mut spine, mut at) = (Vec::new(), Some(root));
    while let Some(shape) = at.filter(|shape| shapes.is_cut(*shape)) {
        let inner = if shapes.owner(shape).is_some() {
            spine.push(shape);
            match shapes.items(shape).first() {
                Some(ShapeItem::Call(inner) | ShapeItem::Repeated(inner)) => Some(*inner),
                _ => None,
            }
        } else {
            let rounds = shapes.rounds(shape).map_or(&[][..], |(_, rounds)| rounds);
            rounds.iter().find(|round| shapes.is_cut(**round)).copied()
        };
        at = inner;
    }
    spine
}

/// The bodies of a spine.
fn levels(shapes: &Shapes, spine: &[ShapeId]) -> Vec<Level> {
    let bodies = spine.iter().filter_map(|shape| shapes.body(*shape));
    bodies.map(|body| Level { body, at: None }).collect()
}

/// Aligns what a cut sequence did with all sequences of the other side. `None` if they have no step in common.
fn align_level<'s>(
    shapes: &'s Shapes,
    shape: ShapeId,
    known: &Known,
    walk: &dyn Fn() -> Walk<'s>,
) -> Option<Vec<Parting>> {
    let mut found = Partings::new(shapes, Inner::Aligned);
    let items = shapes.items(shape);
    let owner = shapes.owner(shape)?;
    if owner == Owner::Body(OUTSIDE) {
        return None;
    }
    let mut is_aligned = false;
    let is_spine = |item: &ShapeItem| matches!(item, ShapeItem::Call(of) | ShapeItem::Repeated(of) if shapes.is_cut(*of));
    let from = usize::from(items.first().is_some_and(is_spine));
    if let Some(ShapeItem::Repeated(first)) = items.first().filter(|item| is_spine(item))
        && let Some((of, rounds)) = shapes.rounds(*first)
        && let Some(others) = known.rounds.get(&of)
    {
        let whole: Vec<ShapeId> = rounds.iter().filter(|round| !shapes.is_cut(**round)).copied().collect();
        // Rounds that only the other side has may have run before the history begins.
        let others: HashSet<ShapeId> = others.iter().copied().collect();
        if let Some(new) = whole.iter().find(|round| !others.contains(round)) {
            let mut others: Vec<ShapeId> = others.into_iter().collect();
            others.sort_unstable();
            walk().part_round(of, *new, &others, &mut found);
            return (!found.all.is_empty()).then_some(found.all);
        }
        is_aligned |= !whole.is_empty();
    }
    let Some(first) = items.get(from) else { return is_aligned.then(Vec::new) };
    let mut candidates: Vec<SequenceTail> = Vec::new();
    for other in known.sequences.get(&owner).into_iter().flatten() {
        let place = shapes.items(*other).iter().position(|item| item == first);
        candidates.extend(place.map(|from| SequenceTail { shape: *other, from }));
    }
    if candidates.is_empty() {
        return is_aligned.then(Vec::new);
    }
    walk().part(SequenceTail { shape, from }, candidates, &mut found);
    Some(found.all)
}
