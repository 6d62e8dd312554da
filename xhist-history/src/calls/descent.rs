//! The depth of a recursion that the recorder folded, on the way down and on the way up.

use super::activation::{Activation, FoldedCalls};
use super::rounds::{CallGap, Found};
use super::stack::CallStack;
use super::structure::StatementId;

/// A stack on the way up.
#[derive(Clone, Copy)]
struct Ascent {
    /// Its depth without folded calls.
    len: usize,
    /// The innermost gap.
    below: usize,
    calls: u64,
    round: u64,
}

impl Ascent {
    fn new(len: usize, gap: &CallGap) -> Ascent {
        Ascent { len, below: gap.below, calls: gap.calls, round: gap.round() }
    }

    /// Whether only calls of the gap were left since.
    fn is_like(self, before: Ascent) -> bool {
        (self.len, self.below, self.round) == (before.len, before.below, before.round)
            && self.calls < before.calls
    }
}

impl CallStack {
    /// The newest statements ran again, this number of times.
    pub(super) fn run_again(&mut self, statements: usize, times: u64) {
        let Some((first, outermost, round)) = self.rounds.round(self.floors.len(), statements) else {
            return;
        };
        (self.moves.round, self.moves.again) = (Some(outermost), round);
        // What the round ran first runs next.
        let id = first.statement;
        let body = self.structure.body_of(id);
        let next = match self.structure.is_entry(id) {
            true => Some(Found { index: self.caller(body, true).depth, gap: None }),
            false => self.find(body, id),
        };
        let Some(Found { index, gap }) = next else { return };
        let depth = (index as u64).saturating_add(self.folded_below(index));
        match usize::try_from(depth.saturating_sub(first.depth())) {
            _ if gap.is_some() || depth < first.depth() => self.ascend(times),
            Ok(deeper) if deeper > 0 && self.round_enters(outermost, deeper) => {
                self.descend(outermost..outermost.saturating_add(deeper), times);
            }
            _ => {}
        }
    }

    /// Whether the round enters the bodies of this number of activations. One that leaves calls open enters their bodies.
    fn round_enters(&self, outermost: usize, activations: usize) -> bool {
        let mut slots = self.slots.iter().skip(outermost).take(activations);
        slots.all(|slot| {
            let entry = self.structure.body(slot.activation.body).entry;
            entry.is_none_or(|entry| self.moves.again.contains(&entry))
        })
    }

    /// Each round began with calls that it did not leave: those of these activations.
    fn descend(&mut self, round: std::ops::Range<usize>, times: u64) {
        let below = round.start;
        let calls = (round.len() as u64).saturating_mul(times);
        let waiting = self.slots.get(round).unwrap_or_default().iter();
        let waiting: Vec<StatementId> = waiting.map(|slot| slot.activation.statement).collect();
        if waiting.is_empty() {
            return;
        }
        self.moves.folded = Some(FoldedCalls { below, calls });
        self.rounds.fold(below, calls, waiting);
    }

    /// Each round leaves calls that it did not begin. Rounds run once more until the stack is as it was, but for calls of the
    /// innermost gap. As many as that gap has are counted.
    fn ascend(&mut self, times: u64) {
        let round = self.moves.again.clone();
        let mut left = times;
        let mut before: Option<(Ascent, u64)> = None;
        while left > 0 && self.rounds.pay(round.len()) {
            let depth = self.folded_depth();
            round.iter().for_each(|id| self.run(*id));
            left -= 1;
            if self.folded_depth() >= depth {
                return;
            }
            let Some(now) = self.rounds.gaps.last().map(|gap| Ascent::new(self.slots.len(), gap)) else {
                continue;
            };
            match before {
                Some((known, at)) if now.is_like(known) => {
                    let (calls, rounds) = (known.calls - now.calls, at - left);
                    let more = (left / rounds).min(now.calls / calls);
                    left -= more * rounds;
                    self.unfold(self.rounds.gaps.len() - 1, more * calls / now.round);
                    before = None;
                }
                Some((known, at)) if known.below == now.below && at - left <= known.round => {}
                _ => before = Some((now, left)),
            }
        }
    }

    /// Rounds of a gap are over.
    fn unfold(&mut self, gap: usize, rounds: u64) {
        if let Some((below, calls)) = self.rounds.unfold(gap, rounds) {
            self.moves.unfolded.push(FoldedCalls { below, calls });
        }
    }

    /// The innermost folded round goes on, in this call of it. The activations of the round above it take its place.
    pub(super) fn go_on_folded(&mut self, gap: usize, index: usize) {
        let CallGap { below, waiting, .. } = self.rounds.gaps[gap].clone();
        let waiting = &waiting[..=index - below];
        self.unfold(gap, 1);
        let above = self.slots.get(below..).unwrap_or_default().iter().zip(waiting);
        let is_it =
            |slot: &super::stack::Slot, at: StatementId| slot.activation.body == self.structure.body_of(at);
        let kept = above.take_while(|(slot, at)| is_it(slot, **at)).count();
        self.leave_above(below + kept, true);
        if let Some(at) = kept.checked_sub(1).filter(|_| kept < waiting.len()) {
            self.wait_at(waiting[at]);
        }
        for at in &waiting[kept..] {
            let body = self.structure.body_of(*at);
            let activation = Activation { entered_before: true, ..self.activation(body) };
            self.push(activation);
            self.wait_at(*at);
            self.moves.entered += 1;
        }
    }

    /// The depth of the stack with the calls of folded rounds.
    fn folded_depth(&self) -> u64 {
        (self.slots.len() as u64).saturating_add(self.rounds.calls())
    }

    /// Open calls of folded rounds below the activation at this index.
    pub fn folded_below(&self, index: usize) -> u64 {
        self.rounds.below(index)
    }
}
