//! Locks taken in two orders: one thread takes the second while it holds the first, and somewhere else it is the other way round.
//! More locks may be a circle. With a further lock held around two of the ways, they cannot wait for each other.

use std::collections::{BTreeMap, HashSet, VecDeque};

use super::lock_text::{HeldFor, TakenLock};
use super::program::OrderProgram;
use super::{Check, OrderFindings, Piece, Seen};
use xhist_history::calls::StatementId;

/// Most locks that a thread is taken to hold.
const MAX_HELD: usize = 64;
/// Most pairs of locks that are remembered, and ways to take one of them.
const MAX_PAIRS: usize = 4096;
const MAX_WAYS: usize = 4;

/// The locks that a thread holds.
#[derive(Debug, Default)]
pub struct HeldLocks(Vec<Held>);

#[derive(Debug)]
struct Held {
    lock: String,
    activation: u64,
    /// The statement that took it.
    seen: Seen,
    /// The statement that it is held in, with all inside; `None`: the whole body.
    within: Option<StatementId>,
    guard: Option<String>,
}

/// The orders in which locks were taken, in all threads of a program.
#[derive(Debug, Default)]
pub struct LockOrder {
    /// By the lock held and the lock taken.
    pairs: BTreeMap<(String, String), Vec<Way>>,
}

/// A thread whose newest statement takes a lock while it holds others: it may wait for that lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockWait {
    pub thread: String,
    /// The newest statement.
    pub at: StatementId,
    /// The locks that it takes.
    pub wanted: Vec<String>,
    /// The locks that were held before, each with the statement that took it.
    pub held: Vec<(String, StatementId)>,
}

/// How a lock was taken while another was held.
#[derive(Clone, Debug)]
struct Way {
    piece: Piece,
    /// All locks that were held.
    held: Vec<String>,
}

impl Way {
    /// Whether two threads can be there at once: no lock is held by both.
    fn goes_with(&self, other: &Way) -> bool {
        !self.held.iter().any(|lock| other.held.contains(lock))
    }
}

impl HeldLocks {
    /// Releases what the statement that runs now, or the end of an activation, releases. `current` is the newest statement of an
    /// activation that is on the stack.
    pub fn release(
        &mut self,
        program: &OrderProgram,
        now: StatementId,
        current: &dyn Fn(u64) -> Option<StatementId>,
    ) {
        let dropped = program.lock_use(now).map_or(&[][..], |used| used.dropped.as_slice());
        self.0.retain(|held| {
            let Some(at) = current(held.activation) else { return false };
            let is_inside = held.within.is_none_or(|within| program.structure.is_within(at, within));
            let is_dropped = at == now && held.guard.as_ref().is_some_and(|guard| dropped.contains(guard));
            // A statement that runs again in a loop has released what it took before.
            is_inside && !is_dropped && !(at == now && held.seen.id == now)
        });
    }

    /// Takes what the statement takes, in this activation.
    pub fn take(
        &mut self,
        program: &OrderProgram,
        activation: u64,
        seen: Seen,
        thread: &str,
        order: &mut LockOrder,
        found: &mut OrderFindings,
    ) {
        let Some(used) = program.lock_use(seen.id) else { return };
        for TakenLock { lock, held } in &used.taken {
            for outer in self.0.iter().filter(|outer| outer.lock != *lock) {
                let all = self.0.iter().map(|held| held.lock.clone()).filter(|held| held != lock);
                let lines = if outer.seen == seen { vec![seen] } else { vec![outer.seen, seen] };
                let piece = Piece { thread: thread.to_owned(), lines };
                order.add((&outer.lock, lock), Way { piece, held: all.collect() }, found);
            }
            if self.0.len() >= MAX_HELD {
                continue;
            }
            let (within, guard) = match held {
                HeldFor::Guard(name) => (program.structure.around(seen.id), Some(name.clone())),
                HeldFor::Statement => (Some(seen.id), None),
            };
            self.0.push(Held { lock: lock.clone(), activation, seen, within, guard });
        }
    }
}

impl HeldLocks {
    /// What is held, and what the newest statement takes. `None` if that takes nothing, or nothing is held.
    pub fn wait(&self, thread: &str, newest: Seen) -> Option<LockWait> {
        let (taken, before): (Vec<&Held>, Vec<&Held>) = self.0.iter().partition(|held| held.seen == newest);
        let wanted = taken.into_iter().map(|held| held.lock.clone()).collect::<Vec<_>>();
        let held = before.into_iter().map(|held| (held.lock.clone(), held.seen.id)).collect::<Vec<_>>();
        let is_wait = !wanted.is_empty() && !held.is_empty();
        is_wait.then(|| LockWait { thread: thread.to_owned(), at: newest.id, wanted, held })
    }
}

/// Of these threads, those that wait for each other: each wants a lock that the next one holds. Empty without a circle.
pub fn circle(waits: &[LockWait]) -> Vec<&LockWait> {
    let wants_of = |one: &LockWait, other: &LockWait| {
        one.wanted.iter().any(|wanted| other.held.iter().any(|(held, _)| held == wanted))
    };
    // Who wants nothing of the others, or has nothing that they want, is in no circle.
    let mut left: Vec<&LockWait> = waits.iter().collect();
    loop {
        let stays = |one: &&LockWait| {
            left.iter().any(|other| wants_of(one, other)) && left.iter().any(|other| wants_of(other, one))
        };
        let next: Vec<&LockWait> = left.iter().copied().filter(stays).collect();
        if next.len() == left.len() {
            return next;
        }
        left = next;
    }
}

impl LockOrder {
    /// A lock was taken while another was held. Reports the locks if others lead from the one that was taken back to the other.
    fn add(&mut self, (held, taken): (&str, &str), way: Way, found: &mut OrderFindings) {
        let key = (held.to_owned(), taken.to_owned());
        let known = self.pairs.get(&key).map_or(&[][..], Vec::as_slice);
        let is_new = known.iter().all(|known| known.held != way.held);
        // A longer circle is found once, with its newest way.
        let most = if is_new { usize::MAX } else { 1 };
        if let Some(others) = self.circle((taken, held), &way, most) {
            found.add(circle_found((held, taken), &others, &way));
        }
        if self.pairs.len() >= MAX_PAIRS && !self.pairs.contains_key(&key) {
            return;
        }
        let ways = self.pairs.entry(key).or_default();
        if is_new && ways.len() < MAX_WAYS {
            ways.push(way);
        }
    }

    /// The fewest ways that lead from one lock to another, at most this number; each with the lock that was held. Threads can be
    /// in all of them and in `with` at once.
    fn circle(&self, (from, to): (&str, &str), with: &Way, most: usize) -> Option<Vec<(&str, &Way)>> {
        let mut next = VecDeque::from([(from, Vec::new())]);
        let mut seen = HashSet::from([from]);
        while let Some((lock, before)) = next.pop_front() {
            let pairs = self.pairs.range((lock.to_owned(), String::new())..);
            for ((held, taken), ways) in pairs.take_while(|((held, _), _)| held == lock) {
                let others = || before.iter().map(|(_, way)| *way).chain([with]);
                let Some(way) = ways.iter().find(|way| others().all(|other| way.goes_with(other))) else {
                    continue;
                };
                let path = || before.iter().copied().chain([(&**held, way)]).collect::<Vec<_>>();
                if taken == to {
                    return Some(path());
                }
                if before.len() + 1 < most && seen.insert(taken) {
                    next.push_back((taken, path()));
                }
            }
        }
        None
    }

    /// How many locks were taken while another was held.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }
}

/// What is wrong with a lock that is held and one that is taken, and the ways that lead back.
fn circle_found((held, taken): (&str, &str), others: &[(&str, &Way)], way: &Way) -> Check {
    let mut locks: Vec<&str> =
        [held, taken].into_iter().chain(others.iter().skip(1).map(|(lock, _)| *lock)).collect();
    let first = (0..locks.len()).min_by_key(|at| locks[*at]).unwrap_or(0);
    locks.rotate_left(first);
    let last = locks.pop().unwrap_or_default();
    let ways = || others.iter().map(|(_, way)| *way).chain([way]);
    let ids = || ways().map(|way| way.piece.lines.last().map_or(0, |seen| seen.id.0));
    let text = match others {
        [_] => "are taken in both orders",
        _ => "are taken in a circle: each while the one before it is held, and the first while the last is",
    };
    Check {
        kind: "locks",
        rule: format!("locks {} and {last}", locks.join(", ")),
        text: text.to_owned(),
        certain: true,
        key: (ids().min().unwrap_or(0), ids().max().unwrap_or(0)),
        pieces: ways().map(|way| way.piece.clone()).collect(),
    }
}
