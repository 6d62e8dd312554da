//! What happens on links, in one queue of bounded length. A link is never kept waiting by who takes from it, unless it is a file: what
//! there is no room for is counted. It must not know links.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Keeping, Link};

/// Bytes of a connection that wait to be taken.
const ROOM: usize = 4 << 20;
/// What an event costs beside its bytes.
const COST: usize = 64;
/// Pieces grow up to this.
const GROWN: usize = 64 << 10;
/// Events that are no bytes; whoever makes more of them waits.
const MOST: usize = 4096;
/// A connection that was of use keeps its place for this long without a word.
const SILENCE: Duration = Duration::from_secs(30);

/// A connection: one of those that a link has at a time. Its number is given again when it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    /// The link.
    pub link: usize,
    /// Which of its connections.
    pub slot: usize,
}

/// What happened.
pub enum Event {
    /// Somebody is at the other end now.
    Opened {
        /// Who it is.
        peer: String,
        /// What is said to it goes here.
        to: Box<dyn Write + Send>,
    },
    /// Bytes came.
    Bytes(Vec<u8>),
    /// So many bytes came and had to be dropped.
    Dropped(u64),
    /// The connection is over, because of this.
    Closed(String),
    /// Something worth knowing.
    Note(String),
    /// Nothing more comes from this link.
    Ended,
}

#[derive(Default)]
struct State {
    events: VecDeque<(Id, Event)>,
    /// Of each connection that is open, or was and still has bytes here: what waits of it, and what had to be dropped.
    waiting: BTreeMap<Id, Waiting>,
    others: usize,
    links: Vec<Keeping>,
}

#[derive(Default)]
struct Waiting {
    is_open: bool,
    /// Something that can be read came of it.
    is_useful: bool,
    /// When bytes came last, or when it was opened.
    heard: Option<Instant>,
    cost: usize,
    dropped: u64,
}

/// The queue, from its end.
#[derive(Clone, Default)]
pub struct Queue(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    filled: Condvar,
    emptied: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// Starts to read a link; its number.
    pub fn start(&self, link: Link) -> usize {
        let mut state = self.0.lock();
        state.links.push(link.keeping);
        let number = state.links.len() - 1;
        drop(state);
        let feed = Feed { shared: Arc::clone(&self.0), link: number, keeping: link.keeping };
        let run = link.run;
        std::thread::spawn(move || {
            let end = feed.clone();
            run(feed);
            end.tell(0, Event::Ended);
        });
        number
    }

    /// The next thing that happened, if anything does in time.
    pub fn next(&self, within: Duration) -> Option<(Id, Event)> {
        let mut state = self.0.lock();
        if state.events.is_empty() {
            let filled = self.0.filled.wait_timeout_while(state, within, |state| state.events.is_empty());
            state = filled.unwrap_or_else(PoisonError::into_inner).0;
        }
        let (id, event) = state.events.pop_front()?;
        match &event {
            Event::Bytes(bytes) => {
                let cost = bytes.len() + COST;
                if let Some(waiting) = state.waiting.get_mut(&id) {
                    waiting.cost = waiting.cost.saturating_sub(cost);
                }
                state.forget_closed(id);
            }
            _ => state.others = state.others.saturating_sub(1),
        }
        drop(state);
        self.0.emptied.notify_all();
        Some((id, event))
    }
}

impl Queue {
    /// What comes of this connection can be read: it keeps its place when others want it.
    pub fn keep(&self, id: Id) {
        if let Some(waiting) = self.0.lock().waiting.get_mut(&id) {
            waiting.is_useful = true;
        }
    }

    /// What was dropped and not told yet, of all connections: for one who takes nothing more.
    pub fn untold(&self) -> u64 {
        let state = self.0.lock();
        let told = state.events.iter().filter_map(|(_, event)| match event {
            Event::Dropped(bytes) => Some(*bytes),
            _ => None,
        });
        told.chain(state.waiting.values().map(|waiting| waiting.dropped)).sum()
    }
}

/// The queue, from a link.
#[derive(Clone)]
pub struct Feed {
    shared: Arc<Shared>,
    link: usize,
    keeping: Keeping,
}

impl Feed {
    /// Somebody came; the number of the connection.
    pub fn opened(&self, peer: String, to: Box<dyn Write + Send>) -> usize {
        let mut state = self.shared.lock();
        let is_open = |slot: usize| {
            state.waiting.get(&Id { link: self.link, slot }).is_some_and(|waiting| waiting.is_open)
        };
        let slot = (0..).find(|slot| !is_open(*slot)).unwrap_or_default();
        // Bytes of the connection before take room until they are taken: a target that comes again and again gets no more.
        let waiting = state.waiting.entry(Id { link: self.link, slot }).or_default();
        (waiting.is_open, waiting.is_useful, waiting.heard) = (true, false, Some(Instant::now()));
        drop(state);
        self.tell(slot, Event::Opened { peer, to });
        slot
    }

    /// Bytes came.
    pub fn bytes(&self, slot: usize, bytes: &[u8]) {
        let id = Id { link: self.link, slot };
        let mut state = self.shared.lock();
        if let Some(waiting) = state.waiting.get_mut(&id) {
            waiting.heard = Some(Instant::now());
        }
        let is_full = |state: &mut State| {
            state.waiting.get(&id).is_some_and(|waiting| waiting.cost + bytes.len() + COST > ROOM)
        };
        if self.keeping == Keeping::All {
            let emptied = self.shared.emptied.wait_while(state, is_full);
            state = emptied.unwrap_or_else(PoisonError::into_inner);
        } else if is_full(&mut state) {
            if let Some(waiting) = state.waiting.get_mut(&id) {
                waiting.dropped += bytes.len() as u64;
            }
            return;
        }
        state.tell_dropped(id);
        state.add(id, bytes, self.keeping != Keeping::Packets);
        drop(state);
        self.shared.filled.notify_one();
    }

    /// The connection that has to go when another wants its place: of those that sent nothing that can be read, the one that has been
    /// silent for longest; else of those that have been silent for long.
    pub fn weakest(&self) -> Option<usize> {
        let mut state = self.shared.lock();
        let open = state.waiting.iter_mut().filter(|(id, waiting)| id.link == self.link && waiting.is_open);
        let may_go = |waiting: &Waiting| {
            !waiting.is_useful || waiting.heard.is_none_or(|heard| heard.elapsed() >= SILENCE)
        };
        let weakest = open.filter(|(_, waiting)| may_go(waiting));
        weakest.min_by_key(|(_, waiting)| (waiting.is_useful, waiting.heard)).map(|(id, waiting)| {
            // The next one to go is another.
            (waiting.is_useful, waiting.heard) = (true, Some(Instant::now()));
            id.slot
        })
    }

    /// The connection is over.
    pub fn closed(&self, slot: usize, why: String) {
        let id = Id { link: self.link, slot };
        let mut state = self.shared.lock();
        state.tell_dropped(id);
        if let Some(waiting) = state.waiting.get_mut(&id) {
            waiting.is_open = false;
        }
        state.forget_closed(id);
        drop(state);
        self.tell(slot, Event::Closed(why));
    }

    /// Something worth knowing.
    pub fn note(&self, text: String) {
        self.tell(0, Event::Note(text));
    }

    fn tell(&self, slot: usize, event: Event) {
        let state = self.shared.lock();
        let room = self.shared.emptied.wait_while(state, |state| state.others >= MOST);
        let mut state = room.unwrap_or_else(PoisonError::into_inner);
        state.others += 1;
        state.events.push_back((Id { link: self.link, slot }, event));
        drop(state);
        self.shared.filled.notify_one();
    }
}

impl State {
    /// Before what comes next: what is missing there.
    fn tell_dropped(&mut self, id: Id) {
        let dropped = self.waiting.get_mut(&id).map_or(0, |waiting| std::mem::take(&mut waiting.dropped));
        if dropped > 0 {
            self.others += 1;
            self.events.push_back((id, Event::Dropped(dropped)));
        }
    }

    fn forget_closed(&mut self, id: Id) {
        if self.waiting.get(&id).is_some_and(|waiting| !waiting.is_open && waiting.cost == 0) {
            self.waiting.remove(&id);
        }
    }

    fn add(&mut self, id: Id, bytes: &[u8], may_join: bool) {
        let cost = match self.events.back_mut() {
            Some((last, Event::Bytes(piece)))
                if may_join && *last == id && piece.len() + bytes.len() <= GROWN =>
            {
                piece.extend_from_slice(bytes);
                bytes.len()
            }
            _ => {
                self.events.push_back((id, Event::Bytes(bytes.to_vec())));
                bytes.len() + COST
            }
        };
        if let Some(waiting) = self.waiting.get_mut(&id) {
            waiting.cost += cost;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    fn taken(queue: &Queue) -> (u64, u64) {
        let (mut bytes, mut dropped) = (0, 0);
        while let Some((_, event)) = queue.next(SOON) {
            match event {
                Event::Bytes(piece) => bytes += piece.len() as u64,
                Event::Dropped(count) => dropped += count,
                Event::Ended => break,
                _ => {}
            }
        }
        (bytes, dropped)
    }

    fn started(keeping: Keeping, pieces: usize) -> Queue {
        let queue = Queue::default();
        queue.start(Link::new("test", keeping, move |feed| {
            let slot = feed.opened("peer".into(), Box::new(super::super::Deaf));
            (0..pieces).for_each(|_| feed.bytes(slot, &[7; 1000]));
            feed.closed(slot, "over".into());
        }));
        queue
    }

    #[test]
    fn what_is_dropped_is_counted() {
        let queue = started(Keeping::Newest, 10_000);
        // Nobody takes anything meanwhile.
        while queue.untold() < 5_000_000 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let (bytes, dropped) = taken(&queue);
        assert_eq!(bytes + dropped, 10_000_000);
        assert!(dropped > 0 && bytes <= ROOM as u64, "{bytes} {dropped}");
        assert_eq!(queue.untold(), 0);
    }

    #[test]
    fn a_target_that_comes_again_gets_no_more_room() {
        let (queue, (all_sent, wait)) = (Queue::default(), std::sync::mpsc::channel());
        queue.start(Link::new("test", Keeping::Newest, move |feed| {
            for _ in 0..10 {
                let slot = feed.opened("peer".into(), Box::new(super::super::Deaf));
                (0..1000).for_each(|_| feed.bytes(slot, &[7; 1000]));
                feed.closed(slot, "over".into());
            }
            all_sent.send(()).unwrap();
        }));
        wait.recv_timeout(SOON).unwrap();
        let (bytes, dropped) = taken(&queue);
        assert_eq!(bytes + dropped, 10_000_000);
        assert!(bytes <= ROOM as u64, "{bytes}");
    }

    #[test]
    fn a_file_waits_and_loses_nothing() {
        let queue = started(Keeping::All, 10_000);
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(taken(&queue), (10_000_000, 0));
    }

    #[test]
    fn connections_without_a_good_record_go_first() {
        let (queue, (sent, wait)) = (Queue::default(), std::sync::mpsc::channel());
        queue.start(Link::new("test", Keeping::Newest, move |feed| {
            for _ in 0..3 {
                feed.opened("peer".into(), Box::new(super::super::Deaf));
            }
            feed.bytes(0, &[7]);
            sent.send(feed).unwrap();
        }));
        let feed = wait.recv_timeout(SOON).unwrap();
        queue.keep(Id { link: 0, slot: 2 });
        // The one that never said a word, then the one that sent noise; what is of use stays.
        assert_eq!([feed.weakest(), feed.weakest(), feed.weakest()], [Some(1), Some(0), None]);
    }

    #[test]
    fn packets_stay_apart() {
        let queue = started(Keeping::Packets, 3);
        let mut lens = Vec::new();
        while let Some((_, event)) = queue.next(SOON) {
            match event {
                Event::Bytes(piece) => lens.push(piece.len()),
                Event::Ended => break,
                _ => {}
            }
        }
        assert_eq!(lens, [1000; 3]);
    }
}
