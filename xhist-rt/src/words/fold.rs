//! Finds repetitions in units. Nothing here knows a ring.

use qs_core::record::words::{LEAD, byte_of};

/// Units that are compared first.
const LOOK: usize = 8;
/// A tail that repeats is at least this long.
pub(super) const LEAST: usize = 64;
/// First byte of the first unit of a long word, and all higher ones.
const LONG_FROM: u8 = byte_of(LEAD);

/// A tail that repeats: from `start + period` on, each unit is the one `period` units before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    pub(super) period: usize,
    pub(super) start: usize,
}

impl Tail {
    /// Units of the whole rounds behind the first one.
    pub(super) const fn folded(self, units: usize) -> usize {
        let behind = units - self.start - self.period;
        behind - behind % self.period
    }
}

/// Whether each unit is the one `period` units before it.
pub(super) fn repeats(units: &[u16], period: usize) -> bool {
    units.get(period..).is_none_or(|later| later == &units[..later.len()])
}

/// Where the tail that repeats with this period starts.
fn start(units: &[u16], period: usize) -> usize {
    const BLOCK: usize = 128;
    let (later, earlier) = (&units[period..], &units[..units.len() - period]);
    let mut end = later.len();
    while let Some(from) = end.checked_sub(BLOCK)
        && later[from..end] == earlier[from..end]
    {
        end = from;
    }
    while end > 0 && later[end - 1] == earlier[end - 1] {
        end -= 1;
    }
    end
}

/// The tail that saves most when it is folded, with a period of `longest` units at most.
pub(super) fn search(units: &[u16], longest: usize) -> Option<Tail> {
    let len = units.len();
    let mut best: Option<Tail> = None;
    let (mut anchor, mut from) = (len.checked_sub(LOOK)?, 1);
    while let Some(period) = next(units, anchor, from, longest) {
        from = period + 1;
        let start = start(units, period);
        let run = len - start;
        if run < period + period.max(LEAST) {
            continue;
        }
        let tail = Tail { period, start };
        if best.is_none_or(|best| tail.folded(len) > best.folded(len)) {
            best = Some(tail);
        }
        // Up to there, another period of the same run starts no earlier, see the tests.
        from = run - period + 1;
        // A longer one that does has the units around the start of this run, too.
        anchor = match start.checked_sub(LOOK / 2) {
            Some(anchor) => anchor,
            None => break,
        };
    }
    best
}

/// The smallest distance from `from` to `longest` at which the [`LOOK`] units at `anchor` are found before it.
fn next(units: &[u16], anchor: usize, from: usize, longest: usize) -> Option<usize> {
    const BLOCK: usize = 64;
    let look: &[u16; LOOK] = units.get(anchor..)?.first_chunk()?;
    let mut end = (anchor + 1).checked_sub(from)?;
    let floor = anchor.saturating_sub(longest);
    while end > floor {
        let begin = end.saturating_sub(BLOCK).max(floor);
        if end - begin < BLOCK || may_have(units[begin..].first_chunk::<BLOCK>()?, look[0]) {
            let is_there = |at: &usize| units[*at] == look[0] && units[*at..].starts_with(look);
            if let Some(at) = (begin..end).rev().find(is_there) {
                return Some(anchor - at);
            }
        }
        end = begin;
    }
    None
}

/// Whether the unit is anywhere there. Without a branch, so that many are compared at once.
#[inline]
fn may_have<const LEN: usize>(units: &[u16; LEN], wanted: u16) -> bool {
    units.iter().fold(0, |found, unit| found | u16::from(*unit == wanted)) != 0
}

/// Units of the word that begins with this one.
#[inline]
fn len_of(unit: u16) -> usize {
    1 + usize::from(unit.to_ne_bytes()[0] >= LONG_FROM)
}

/// The same tail or a part of it, whose rounds are whole words.
pub(super) fn whole_words(units: &[u16], tail: Tail) -> Option<Tail> {
    // Where the second unit of a word looks like a first one, two rounds of units may be one of words.
    [1, 2].into_iter().find_map(|rounds| {
        let period = rounds * tail.period;
        let last = units.len().checked_sub(period + period.max(LEAST))?;
        let (mut start, mut end) = (0, 0);
        loop {
            while start < tail.start {
                start += len_of(units[start]);
            }
            while end < start + period {
                end += len_of(*units.get(end)?);
            }
            if start > last {
                return None;
            }
            if end == start + period {
                return Some(Tail { period, start });
            }
            start += len_of(units[start]);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// Tries all periods.
    fn slow(units: &[u16], longest: usize) -> Option<Tail> {
        let mut best: Option<Tail> = None;
        for period in 1..=longest.min(units.len() - LOOK) {
            let same = (period..units.len()).rev().take_while(|at| units[*at] == units[at - period]).count();
            let tail = Tail { period, start: units.len() - same - period };
            if same >= period.max(LEAST)
                && best.is_none_or(|best| tail.folded(units.len()) > best.folded(units.len()))
            {
                best = Some(tail);
            }
        }
        best
    }

    fn round() -> impl Strategy<Value = Vec<u16>> {
        let leaf = prop::collection::vec(0u16..4, 1..6);
        leaf.prop_recursive(3, 64, 4, |inner| {
            prop::collection::vec((inner, 1usize..20), 1..4).prop_map(|parts| {
                parts.into_iter().flat_map(|(part, times)| part.repeat(times)).take(900).collect()
            })
        })
    }

    proptest! {
        #[test]
        fn the_best_tail_is_found(before in prop::collection::vec(0u16..4, 0..100), round in round(), times in 1usize..60, rest in 0usize..50) {
            let mut units = before;
            units.extend(round.repeat(times).into_iter().take(4000));
            units.extend(round.iter().take(rest));
            prop_assume!(units.len() >= LOOK);
            let longest = units.len() / 2;
            let found = search(&units, longest);
            let best = slow(&units, longest);
            prop_assert_eq!(found.is_some(), best.is_some());
            if let (Some(found), Some(best)) = (found, best) {
                prop_assert!(repeats(&units[found.start..], found.period));
                // Of two tails that differ by less than a round, either may be found.
                prop_assert!(found.folded(units.len()) + best.period >= best.folded(units.len()), "{:?} {:?}", found, best);
            }
        }
    }

    #[test]
    fn rounds_are_whole_words() {
        // Long words of two equal units: one unit repeats, but one unit is no word.
        let long = u16::from_ne_bytes([LONG_FROM, LONG_FROM]);
        let short = u16::from_ne_bytes([1, 1]);
        let mut units = std::vec![short];
        units.extend([long; 200]);
        let tail = search(&units, 100).unwrap();
        assert_eq!(tail, Tail { period: 1, start: 1 });
        assert_eq!(whole_words(&units, tail), Some(Tail { period: 2, start: 1 }));
        let tail = Tail { period: 1, start: 2 };
        assert_eq!(whole_words(&units, tail), Some(Tail { period: 2, start: 3 }));
    }
}
