//! Finds repetitions in units. No ring is known here.

use qs_core::record::words::{LEAD, UNIT, byte_of, word_len};

use super::scan::{BLOCK, find_unit};

/// The shortest tail that repeats, in units.
pub(super) const LEAST: usize = 64;
/// Number of units before the start of a run that the search includes.
const BEFORE: usize = 4;
/// The first byte of the first unit of a long word is at least this.
const LONG_FROM: u8 = byte_of(LEAD);

/// A tail that repeats: from `start + period` on, each unit equals the one `period` units before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    pub(super) period: usize,
    pub(super) start: usize,
}

impl Tail {
    /// Number of units of the whole rounds behind the first one.
    pub(super) const fn folded(self, units: usize) -> usize {
        let behind = units - self.start - self.period;
        behind - behind % self.period
    }
}

/// Whether each unit equals the one `period` units before it.
pub(super) fn repeats(units: &[u16], period: usize) -> bool {
    units.get(period..).is_none_or(|later| later == &units[..later.len()])
}

/// Where the tail that repeats with this period starts.
fn start(units: &[u16], period: usize) -> usize {
    let (later, earlier) = (&units[period..], &units[..units.len() - period]);
    let mut end = later.len();
    for block in [128, 16, 1] {
        while let Some(from) = end.checked_sub(block)
            && later[from..end] == earlier[from..end]
        {
            end = from;
        }
    }
    end
}

/// The tail that saves most when it is folded, with a period of at most `longest` units.
pub(super) fn search(units: &[u16], longest: usize) -> Option<Tail> {
    let len = units.len();
    let mut best: Option<Tail> = None;
    let (mut anchor, mut from) = (len.checked_sub(LEAST)?, 1);
    let mut offset = rare(units, anchor);
    while let Some(period) = next(units, anchor, offset, from, longest) {
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
        // A longer period that does start earlier includes the units around the start of this run.
        anchor = match start.checked_sub(BEFORE) {
            Some(anchor) => anchor,
            None => break,
        };
        offset = rare(units, anchor);
    }
    best
}

/// The smallest distance from `from` to `longest` at which the [`LEAST`] units at `anchor` occur before the anchor.
///
/// It first searches only the unit at `offset`, because all chunks without repetitions pay for this search.
fn next(units: &[u16], anchor: usize, offset: usize, from: usize, longest: usize) -> Option<usize> {
    let anchored: &[u16; LEAST] = units.get(anchor..)?.first_chunk()?;
    let wanted = anchored[offset];
    // From here on, `at` is a place of the wanted unit.
    let end = (anchor + offset + 1).checked_sub(from)?;
    let floor = offset + anchor.saturating_sub(longest);
    // At most of these places the neighbouring units differ.
    let beside = offset.min(LEAST - 4);
    let wanted_beside: &[u16; 4] = anchored[beside..].first_chunk()?;
    let is_there = |at: &usize| {
        let found = &units[at - offset..];
        found.get(beside..).and_then(<[u16]>::first_chunk) == Some(wanted_beside)
            && found.starts_with(anchored)
    };
    let (first, blocks) = units.get(floor..end)?.as_rchunks();
    let mut begin = end;
    for block in blocks.iter().rev() {
        begin -= BLOCK;
        let mut found = find_unit(block, wanted);
        while let Some(last) = found.checked_ilog2() {
            found ^= 1 << last;
            if let Some(at) = Some(begin + last as usize).filter(is_there) {
                return Some(anchor + offset - at);
            }
        }
    }
    let at = (floor..floor + first.len()).rev().find(|at| units[*at] == wanted && is_there(at))?;
    Some(anchor + offset - at)
}

/// The offset of the rarest of some units at `anchor`, compared with the units around it.
fn rare(units: &[u16], anchor: usize) -> usize {
    let around = &units[(anchor + LEAST).saturating_sub(256)..anchor + LEAST];
    // The counts are bytes, because processors add most bytes at once.
    let count = |offset: &usize| {
        let wanted = units[anchor + offset];
        around[1..].iter().fold(0u8, |count, unit| count + u8::from(*unit == wanted))
    };
    // The unit before the start of a run distinguishes runs.
    [BEFORE - 1, 0, 21, LEAST - 1].into_iter().min_by_key(count).unwrap_or(0)
}

/// Number of units of the word that begins there. A value that is cut counts as one unit.
#[inline]
fn len_of(units: &[u16]) -> usize {
    let mut bytes = [[0; UNIT]; 3];
    for (bytes, unit) in bytes.iter_mut().zip(units) {
        *bytes = unit.to_ne_bytes();
    }
    word_len(bytes.as_flattened()).map_or(1, |len| len / UNIT)
}

/// The same tail or a part of it whose rounds are whole words.
pub(super) fn whole_words(units: &[u16], tail: Tail) -> Option<Tail> {
    let highest = units.iter().fold(0, |highest, unit| unit.to_ne_bytes()[0].max(highest));
    if highest < LONG_FROM {
        return Some(tail);
    }
    // If the second unit of a word looks like a first one, two rounds of units may be one round of words.
    [1, 2].into_iter().find_map(|rounds| {
        let period = rounds * tail.period;
        let last = units.len().checked_sub(period + period.max(LEAST))?;
        let (mut start, mut end) = (0, 0);
        loop {
            while start < tail.start {
                start += len_of(&units[start..]);
            }
            while end < start + period {
                end += len_of(units.get(end..)?);
            }
            if start > last {
                return None;
            }
            if end == start + period {
                return Some(Tail { period, start });
            }
            start += len_of(&units[start..]);
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
        for period in 1..=longest.min(units.len()) {
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
        #![proptest_config(crate::hosted::words::tests::cases(256))]

        #[test]
        fn the_tail_that_saves_most_is_found(before in prop::collection::vec(0u16..4, 0..100), round in round(), times in 1usize..60, rest in 0usize..50) {
            let mut units = before;
            units.extend(round.repeat(times).into_iter().take(4000));
            units.extend(round.iter().take(rest));
            prop_assume!(!units.is_empty());
            let longest = units.len() / 2;
            let found = search(&units, longest);
            let best = slow(&units, longest);
            prop_assert_eq!(found.is_some(), best.is_some());
            if let (Some(found), Some(best)) = (found, best) {
                prop_assert!(repeats(&units[found.start..], found.period));
                // If two tails differ by less than a round, either may be found.
                prop_assert!(found.folded(units.len()) + best.period >= best.folded(units.len()), "{:?} {:?}", found, best);
            }
        }
    }

    /// The last of the places that are searched are no whole block.
    #[test]
    fn the_longest_period_is_found_whatever_its_length() {
        for period in LEAST..LEAST + 2 * BLOCK {
            let round = 0..period as u16;
            let units: Vec<u16> = round.clone().chain(round).collect();
            assert_eq!(search(&units, period), Some(Tail { period, start: 0 }));
        }
    }

    #[test]
    fn only_whole_rounds_behind_the_first_are_folded() {
        let tail = Tail { period: 3, start: 4 };
        let folded: Vec<usize> = (7..14).map(|units| tail.folded(units)).collect();
        assert_eq!(folded, [0, 0, 0, 3, 3, 3, 6]);
    }

    #[test]
    fn rounds_are_whole_words() {
        // Long words of two equal units: one unit repeats, but one unit is not a word.
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
