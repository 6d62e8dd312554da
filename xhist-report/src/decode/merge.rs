//! Several rings as one history, by time, without holding more than one item of each.
//! It must not know how a ring is read.
//!
//! An entry without a stamp ran between the stamps around it in its ring. Entries are told in the order of the
//! stamps before them, which is right wherever their bounds leave no doubt: of two whose bounds do not overlap, one
//! has its upper bound, and so its lower one, before the other's. Where another ring has a stamp within an entry's
//! bounds, the entry is marked. Two entries of which neither is marked stand in their true order, since of two
//! overlapping bounds one has an end within the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::stream::Stream;
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
    /// Another ring's clock ticked within the item's bounds, so that it may have run elsewhere among that ring's.
    pub uncertain: bool,
}

/// One history of several rings. Entries of one ring keep their order; entries without any time
/// before them come first, ring after ring in the order given.
pub fn merge(streams: Vec<Stream<'_>>) -> Merge<'_> {
    let mut merge = Merge { heads: Vec::new(), heap: BinaryHeap::new(), streams };
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
struct Head {
    gap: Gap,
    item: Option<Item>,
    /// When it has run at the latest.
    until: Option<u64>,
}

impl Head {
    fn time(&self) -> Option<u64> {
        self.item.as_ref().and_then(|item| item.time)
    }
}

impl Stream<'_> {
    fn head(&mut self) -> Head {
        let (gap, item) = self.next();
        let until = item.as_ref().and_then(|item| item.time).or_else(|| self.until());
        Head { gap, item, until }
    }
}

/// The entries of several rings, in order.
pub struct Merge<'a> {
    streams: Vec<Stream<'a>>,
    heads: Vec<Head>,
    heap: BinaryHeap<Reverse<(Option<u64>, usize)>>,
}

impl<'a> Merge<'a> {
    /// The streams, as far as they were read.
    pub fn into_streams(self) -> Vec<Stream<'a>> {
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
            // What has no time, a gap at the end too, follows at once on what came before it in its ring.
            *top = Reverse((next.time(), stream));
        }
        let Head { gap, item, until } = std::mem::replace(&mut self.heads[stream], next);
        let uncertain =
            other.is_some_and(|from| until.is_none_or(|until| from.is_none_or(|from| from <= until)));
        Some(Merged { stream, gap, item, uncertain })
    }
}
