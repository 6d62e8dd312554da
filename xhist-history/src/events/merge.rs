//! Several rings as one history, by time, without holding more than one item of each.
//!
//! An entry without a stamp ran between the stamps around it in its ring, its bounds. Entries are sorted by their
//! lower bounds. That order is right where bounds do not overlap: the entry with the lower upper bound also has the lower
//! lower bound.
//!
//! Where an entry of another ring has its lower bound within an entry's bounds, their order is open. The entry is marked
//! when its bounds are wider than [`EXACT_TO`]. So of two entries without a mark the order is right, unless they
//! ran within that time: the first of them has its true time at most that far behind its lower bound, and the second
//! ran behind its own, which is not lower.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::ring_events::RingEvents;
use crate::model::{Gap, Item};

/// What comes next in the history.
#[derive(Clone, Debug)]
pub struct Merged {
    /// Which of the rings, by its place among the streams.
    pub stream: usize,
    /// What is missing in that ring before the item, or at its end.
    pub gap: Gap,
    /// The item; `None` for a gap at the end of the ring.
    pub item: Option<Item>,
    /// An entry of another ring may have run within the item's bounds, which are wider than a millisecond.
    pub uncertain: bool,
}

/// The order of threads is exact to this part of a second. Recorders stamp busy threads that often.
const EXACT_TO: u32 = 1000;

/// One history of several rings. Entries of one ring keep their order; entries without any time
/// before them come first, ring after ring in the order given.
pub fn merge(streams: Vec<RingEvents<'_>>) -> Merge<'_> {
    // Threads share a clock, but some of them do not know its rate.
    let hertz = streams.iter().map(RingEvents::clock_hz).max().unwrap_or(0);
    let exact_to = u64::from(hertz / EXACT_TO);
    let keys = vec![None; streams.len()];
    let mut merge = Merge { heads: Vec::new(), keys, heap: BinaryHeap::new(), streams, exact_to };
    let is_alone = merge.streams.len() == 1;
    for (index, stream) in merge.streams.iter_mut().enumerate() {
        if !is_alone {
            stream.look_ahead();
        }
        let head = stream.head();
        if !(head.gap.is_empty() && head.item.is_none()) {
            merge.heap.push(Reverse((head.time(), index)));
        }
        merge.heads.push(head);
    }
    merge
}

/// What comes next in one ring.
struct StreamHead {
    gap: Gap,
    item: Option<Item>,
    /// The latest time at which it can have run.
    until: Option<u64>,
}

impl StreamHead {
    fn time(&self) -> Option<u64> {
        self.item.as_ref().and_then(|item| item.time)
    }
}

impl RingEvents<'_> {
    fn head(&mut self) -> StreamHead {
        let (gap, item) = self.next();
        let until = item.as_ref().and_then(|item| item.time).or_else(|| self.until());
        StreamHead { gap, item, until }
    }
}

/// The entries of several rings, in order.
pub struct Merge<'a> {
    streams: Vec<RingEvents<'a>>,
    heads: Vec<StreamHead>,
    /// The newest time of each ring that its entries were sorted by.
    keys: Vec<Option<u64>>,
    heap: BinaryHeap<Reverse<(Option<u64>, usize)>>,
    /// Ticks in [`EXACT_TO`]; 0 = the rate of the clock is not known.
    exact_to: u64,
}

impl<'a> Merge<'a> {
    /// The streams, as far as they were read.
    pub fn into_streams(self) -> Vec<RingEvents<'a>> {
        self.streams
    }
}

impl Iterator for Merge<'_> {
    type Item = Merged;

    fn next(&mut self) -> Option<Merged> {
        // In a heap, what comes second is one of the two behind the first.
        let other = self.heap.as_slice().iter().skip(1).take(2).max().map(|Reverse((from, _))| *from);
        let mut top = self.heap.peek_mut()?;
        let Reverse((_, stream)) = *top;
        if self.heads[stream].item.is_none() {
            PeekMut::pop(top);
            let gap = std::mem::take(&mut self.heads[stream].gap);
            return Some(Merged { stream, gap, item: None, uncertain: false });
        }
        let next = self.streams[stream].head();
        if next.item.is_none() && next.gap.is_empty() {
            PeekMut::pop(top);
        } else {
            // An item without a time, or a gap at the end, comes directly behind the previous item of its ring.
            *top = Reverse((next.time(), stream));
        }
        let StreamHead { gap, item, until } = std::mem::replace(&mut self.heads[stream], next);
        let key = &mut self.keys[stream];
        *key = item.as_ref().and_then(|item| item.time).or(*key);
        let width = until.zip(*key).map(|(until, key)| until.saturating_sub(key));
        let is_wide = self.exact_to == 0 || width.is_none_or(|width| width > self.exact_to);
        let is_open = |from: Option<u64>| until.is_none_or(|until| from.is_none_or(|from| from <= until));
        let uncertain = is_wide && other.is_some_and(is_open);
        Some(Merged { stream, gap, item, uncertain })
    }
}
