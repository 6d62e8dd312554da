//! Several rings as one history, by time, without holding more than one item of each.
//! It must not know how a ring is read.

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
}

/// One history of several rings. Entries of one ring keep their order; entries without any time
/// before them come first, ring after ring in the order given.
pub fn merge<'a>(streams: Vec<Stream<'a>>) -> impl Iterator<Item = Merged> + use<'a> {
    let mut merge = Merge { heads: Vec::new(), heap: BinaryHeap::new(), streams };
    for stream in 0..merge.streams.len() {
        let head = merge.streams[stream].next();
        merge.heap.push(Reverse((time(&head), stream)));
        merge.heads.push(head);
    }
    std::iter::from_fn(move || merge.next())
}

type Head = (Gap, Option<Item>);

struct Merge<'a> {
    streams: Vec<Stream<'a>>,
    heads: Vec<Head>,
    heap: BinaryHeap<Reverse<(Option<u64>, usize)>>,
}

impl Merge<'_> {
    fn next(&mut self) -> Option<Merged> {
        loop {
            let mut top = self.heap.peek_mut()?;
            let Reverse((_, stream)) = *top;
            let head = &mut self.heads[stream];
            if head.1.is_none() {
                PeekMut::pop(top);
                let gap = std::mem::take(&mut head.0);
                if gap.is_empty() {
                    continue;
                }
                return Some(Merged { stream, gap, item: None });
            }
            let (gap, item) = std::mem::replace(head, self.streams[stream].next());
            // What has no time, a gap at the end too, follows at once on what came before it in its ring.
            *top = Reverse((time(head), stream));
            return Some(Merged { stream, gap, item });
        }
    }
}

fn time(head: &Head) -> Option<u64> {
    head.1.as_ref().and_then(|item| item.time)
}
