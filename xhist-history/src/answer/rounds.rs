//! Rounds of loops: parts that ran again are kept once, with the counts of all rounds.

use super::content::{CallContent, Loop, are_like, own_statements_of, statements_of};

/// Statements of a loop that are compared with those before them.
const LONGEST_LOOP: usize = 24;

impl Loop {
    /// Parts with this number of statements that ran once, and then `times` more.
    fn of_repeated(body: Vec<CallContent>, statements: u64, times: u64) -> CallContent {
        let mut round = Loop { body, times: 1, statements };
        round.add_rounds(times, statements.saturating_mul(times));
        CallContent::Loop(round)
    }

    fn add_rounds(&mut self, rounds: u64, statements: u64) {
        add_rounds(&mut self.body, self.times, rounds);
        self.times = self.times.saturating_add(rounds);
        self.statements = self.statements.saturating_add(statements);
    }

    /// Adds the rounds of a repetition of the newest statements: those of the next round, which has begun, and the `left` ones before
    /// them. Returns whether they are rounds of this loop.
    pub(super) fn run_again(
        &mut self,
        statements: u64,
        left: u64,
        times: u64,
        begun: &[CallContent],
    ) -> bool {
        let len = self.statements / self.times.max(1);
        let are_equally_long = len > 0 && len.saturating_mul(self.times) == self.statements;
        let is_next = self.body.get(..begun.len()).is_some_and(|round| are_like(begun, round));
        if !are_equally_long
            || !is_next
            || left > self.statements
            || !statements.is_multiple_of(len)
            || statements - left >= len
        {
            return false;
        }
        self.add_rounds((statements / len).saturating_mul(times), statements.saturating_mul(times));
        true
    }
}

/// Adds a repetition of the parts from `first` on, which have this number of statements.
pub(super) fn repeat(body: &mut Vec<CallContent>, first: usize, statements: u64, times: u64, since: u64) {
    match &mut body[first..] {
        // The last call that ended made them a round of the loop before.
        [] => {
            let is_round = match body.last_mut() {
                Some(CallContent::Loop(round)) => round.run_again(statements, statements, times, &[]),
                _ => false,
            };
            if !is_round {
                body.push(CallContent::Repeated { statements, times, since });
            }
        }
        [CallContent::Line { times: known, since: newest, .. }] => {
            *known = known.saturating_add(statements.saturating_mul(times));
            *newest = since;
        }
        [CallContent::Loop(round)] => {
            round.add_rounds(round.times.saturating_mul(times), statements.saturating_mul(times));
        }
        _ => {
            let repeated = body.split_off(first);
            body.push(Loop::of_repeated(repeated, statements, times));
        }
    }
}

/// Replaces the newest parts by a loop if they are those before them once more.
pub(super) fn fold(body: &mut Vec<CallContent>) {
    let len = body.len();
    if let [
        ..,
        CallContent::Line { statement, times, since, .. },
        CallContent::Line { statement: newest, times: more, since: now, .. },
    ] = &mut body[..]
        && statement == newest
    {
        *times = times.saturating_add(*more);
        *since = *now;
        body.pop();
        return;
    }
    for round in 1..=LONGEST_LOOP.min(len.saturating_sub(1)) {
        let (before, newest) = body.split_at(len - round);
        if let Some(&CallContent::Repeated { statements, times, .. }) = before.last() {
            if goes_on(&before[..before.len() - 1], newest, statements) {
                let newest = body.split_off(len - round);
                body.pop();
                body.push(Loop::of_repeated(newest, statements, times));
            }
            return;
        }
        let is_loop =
            matches!(before.last(), Some(CallContent::Loop(known)) if are_like(&known.body, newest));
        if is_loop {
            let mut newest = body.split_off(len - round);
            if let Some(CallContent::Loop(known)) = body.last_mut() {
                known.statements = known.statements.saturating_add(statements_of(&newest));
                known.times = known.times.saturating_add(1);
                add(&mut newest, &known.body);
                known.body = newest;
            }
            return;
        }
        if before.len() >= round && are_like(&before[before.len() - round..], newest) {
            let mut newest = body.split_off(len - round);
            let before = body.split_off(len - 2 * round);
            let statements = statements_of(&before).saturating_add(statements_of(&newest));
            add(&mut newest, &before);
            body.push(CallContent::Loop(Loop { body: newest, times: 2, statements }));
            return;
        }
    }
}

/// Whether the parts behind a repetition of this number of statements are those that it repeated, which may be the end of a
/// longer round.
fn goes_on(before: &[CallContent], newest: &[CallContent], statements: u64) -> bool {
    let repeated = match before.last() {
        Some(CallContent::Loop(round)) => &round.body,
        _ => before,
    };
    let first = repeated.len().checked_sub(newest.len());
    own_statements_of(newest) == statements && first.is_some_and(|first| are_like(&repeated[first..], newest))
}

/// Adds the counts of an earlier round to those of one of the same shape.
fn add(to: &mut [CallContent], round: &[CallContent]) {
    for (part, other) in to.iter_mut().zip(round) {
        match (part, other) {
            (
                CallContent::Line { times, first, .. },
                CallContent::Line { times: more, first: earlier, .. },
            ) => {
                *times = times.saturating_add(*more);
                *first = *earlier;
            }
            (CallContent::Repeated { times, .. }, CallContent::Repeated { times: more, .. }) => {
                *times = times.saturating_add(*more);
            }
            (CallContent::Counted(count), CallContent::Counted(more)) => *count = count.saturating_add(*more),
            (CallContent::Loop(inner), CallContent::Loop(other)) => {
                inner.times = inner.times.saturating_add(other.times);
                inner.statements = inner.statements.saturating_add(other.statements);
                add(&mut inner.body, &other.body);
            }
            (CallContent::Call(call), CallContent::Call(other)) => add(&mut call.body, &other.body),
            _ => {}
        }
    }
}

/// Adds rounds to the counts of those before.
fn add_rounds(body: &mut [CallContent], before: u64, more: u64) {
    let add = |count: &mut u64| {
        let added = u128::from(*count) * u128::from(more) / u128::from(before);
        *count = count.saturating_add(added.try_into().unwrap_or(u64::MAX));
    };
    for part in body {
        match part {
            CallContent::Line { times, .. } | CallContent::Repeated { times, .. } => add(times),
            CallContent::Counted(count) => add(count),
            CallContent::Loop(inner) => {
                add(&mut inner.times);
                add(&mut inner.statements);
                add_rounds(&mut inner.body, before, more);
            }
            CallContent::Call(call) => add_rounds(&mut call.body, before, more),
        }
    }
}
