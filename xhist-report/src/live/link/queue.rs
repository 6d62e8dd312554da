//! One bounded queue for the events of all links.
//!
//! A slow consumer never blocks a live link: bytes beyond the limit are dropped and counted. Only a file waits. The queue is own code
//! because its limit is in bytes for each connection, which channels do not have.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A link that is ready to be read, with or without its other end.
pub struct Link {
    /// How the user named it.
    pub name: String,
    /// What happens to its bytes when the queue is full.
    pub keeping: Keeping,
    /// Reads it, for ever or to its end.
    pub run: Box<dyn FnOnce(Feed) + Send>,
}

impl Link {
    pub(super) fn new(name: &str, keeping: Keeping, run: impl FnOnce(Feed) + Send + 'static) -> Link {
        Link { name: name.to_owned(), keeping, run: Box::new(run) }
    }
}

/// What happens to bytes when the queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// They are dropped and counted; the sender does not wait.
    Newest,
    /// They are dropped and counted; pieces are packets, so they are not joined.
    Packets,
    /// The sender waits.
    All,
}

/// Most bytes of a connection in the queue.
const ROOM: usize = 4 << 20;
/// Cost of an event besides its bytes.
const COST: usize = 64;
/// Longest piece that more bytes are appended to.
const GROWN: usize = 64 << 10;
/// Most events other than bytes; a link that reports more waits.
const MOST: usize = 4096;
/// A useful connection keeps its place through a silence of this length.
const SILENCE: Duration = Duration::from_secs(30);

/// A connection of a link. When it is closed, its slot is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId {
    /// The link.
    pub link: usize,
    /// The slot of the connection.
    pub slot: usize,
}

/// An event of a link.
pub enum LinkEvent {
    /// A connection was opened.
    Opened {
        /// The name of the other end.
        peer: String,
        /// Sends to the other end.
        to: Box<dyn Write + Send>,
    },
    /// Bytes arrived.
    Bytes(Vec<u8>),
    /// The number of bytes that were dropped here.
    Dropped(u64),
    /// The connection was closed, for this reason.
    Closed(String),
    /// A note for the user.
    Note(String),
    /// The link has ended.
    Ended,
}

#[derive(Default)]
struct State {
    events: VecDeque<(ConnectionId, LinkEvent)>,
    /// Connections that are open, or that still have bytes in the queue.
    waiting: BTreeMap<ConnectionId, Waiting>,
    others: usize,
    links: Vec<Keeping>,
}

#[derive(Default)]
struct Waiting {
    is_open: bool,
    /// It sent something that can be decoded.
    is_useful: bool,
    /// When its last bytes arrived, or when it was opened.
    heard: Option<Instant>,
    cost: usize,
    dropped: u64,
}

/// The queue, as the consumer sees it.
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
    /// Starts to read a link. Returns its number.
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
            end.push(0, LinkEvent::Ended);
        });
        number
    }

    /// The next event, if there is one in time.
    pub fn next(&self, within: Duration) -> Option<(ConnectionId, LinkEvent)> {
        let mut state = self.0.lock();
        if state.events.is_empty() {
            let filled = self.0.filled.wait_timeout_while(state, within, |state| state.events.is_empty());
            state = filled.unwrap_or_else(PoisonError::into_inner).0;
        }
        let (id, event) = state.events.pop_front()?;
        match &event {
            LinkEvent::Bytes(bytes) => {
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
    /// Marks a connection as useful: it keeps its place when others want it.
    pub fn keep(&self, id: ConnectionId) {
        if let Some(waiting) = self.0.lock().waiting.get_mut(&id) {
            waiting.is_useful = true;
        }
    }

    /// Dropped bytes of all connections that no event reported, for a consumer that stops.
    pub fn unreported_drops(&self) -> u64 {
        let state = self.0.lock();
        let reported = state.events.iter().filter_map(|(_, event)| match event {
            LinkEvent::Dropped(bytes) => Some(*bytes),
            _ => None,
        });
        reported.chain(state.waiting.values().map(|waiting| waiting.dropped)).sum()
    }
}

/// The queue, as a link sees it.
#[derive(Clone)]
pub struct Feed {
    shared: Arc<Shared>,
    link: usize,
    keeping: Keeping,
}

impl Feed {
    /// A connection was opened. Returns its slot.
    pub fn opened(&self, peer: String, to: Box<dyn Write + Send>) -> usize {
        let mut state = self.shared.lock();
        let is_open = |slot: usize| {
            state.waiting.get(&ConnectionId { link: self.link, slot }).is_some_and(|waiting| waiting.is_open)
        };
        let slot = (0..).find(|slot| !is_open(*slot)).unwrap_or_default();
        // Bytes of the slot's previous connection still count: a target that reconnects all the time gets no more room.
        let waiting = state.waiting.entry(ConnectionId { link: self.link, slot }).or_default();
        (waiting.is_open, waiting.is_useful, waiting.heard) = (true, false, Some(Instant::now()));
        drop(state);
        self.push(slot, LinkEvent::Opened { peer, to });
        slot
    }

    /// Bytes of a connection arrived.
    pub fn bytes(&self, slot: usize, bytes: &[u8]) {
        let id = ConnectionId { link: self.link, slot };
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
        state.push_dropped(id);
        state.add(id, bytes, self.keeping != Keeping::Packets);
        drop(state);
        self.shared.filled.notify_one();
    }

    /// The connection to close when a new one needs its place: the one silent for longest, of those that sent nothing useful; else
    /// of those silent for longer than `SILENCE`.
    pub fn weakest(&self) -> Option<usize> {
        let mut state = self.shared.lock();
        let open = state.waiting.iter_mut().filter(|(id, waiting)| id.link == self.link && waiting.is_open);
        let may_go = |waiting: &Waiting| {
            !waiting.is_useful || waiting.heard.is_none_or(|heard| heard.elapsed() >= SILENCE)
        };
        let weakest = open.filter(|(_, waiting)| may_go(waiting));
        weakest.min_by_key(|(_, waiting)| (waiting.is_useful, waiting.heard)).map(|(id, waiting)| {
            // The next call returns another one.
            (waiting.is_useful, waiting.heard) = (true, Some(Instant::now()));
            id.slot
        })
    }

    /// A connection was closed.
    pub fn closed(&self, slot: usize, why: String) {
        let id = ConnectionId { link: self.link, slot };
        let mut state = self.shared.lock();
        state.push_dropped(id);
        if let Some(waiting) = state.waiting.get_mut(&id) {
            waiting.is_open = false;
        }
        state.forget_closed(id);
        drop(state);
        self.push(slot, LinkEvent::Closed(why));
    }

    /// A note for the user.
    pub fn note(&self, text: String) {
        self.push(0, LinkEvent::Note(text));
    }

    fn push(&self, slot: usize, event: LinkEvent) {
        let state = self.shared.lock();
        let room = self.shared.emptied.wait_while(state, |state| state.others >= MOST);
        let mut state = room.unwrap_or_else(PoisonError::into_inner);
        state.others += 1;
        state.events.push_back((ConnectionId { link: self.link, slot }, event));
        drop(state);
        self.shared.filled.notify_one();
    }
}

impl State {
    /// Reports dropped bytes of a connection before its next event.
    fn push_dropped(&mut self, id: ConnectionId) {
        let dropped = self.waiting.get_mut(&id).map_or(0, |waiting| std::mem::take(&mut waiting.dropped));
        if dropped > 0 {
            self.others += 1;
            self.events.push_back((id, LinkEvent::Dropped(dropped)));
        }
    }

    fn forget_closed(&mut self, id: ConnectionId) {
        if self.waiting.get(&id).is_some_and(|waiting| !waiting.is_open && waiting.cost == 0) {
            self.waiting.remove(&id);
        }
    }

    fn add(&mut self, id: ConnectionId, bytes: &[u8], may_join: bool) {
        let cost = match self.events.back_mut() {
            Some((last, LinkEvent::Bytes(piece)))
                if may_join && *last == id && piece.len() + bytes.len() <= GROWN =>
            {
                piece.extend_from_slice(bytes);
                bytes.len()
            }
            _ => {
                self.events.push_back((id, LinkEvent::Bytes(bytes.to_vec())));
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
                LinkEvent::Bytes(piece) => bytes += piece.len() as u64,
                LinkEvent::Dropped(count) => dropped += count,
                LinkEvent::Ended => break,
                _ => {}
            }
        }
        (bytes, dropped)
    }

    fn started(keeping: Keeping, pieces: usize) -> Queue {
        let queue = Queue::default();
        queue.start(Link::new("test", keeping, move |feed| {
            let slot = feed.opened("peer".into(), Box::new(super::super::NullWriter));
            (0..pieces).for_each(|_| feed.bytes(slot, &[7; 1000]));
            feed.closed(slot, "over".into());
        }));
        queue
    }

    #[test]
    fn what_is_dropped_is_counted() {
        let queue = started(Keeping::Newest, 10_000);
        // The consumer takes nothing until all is sent.
        while queue.unreported_drops() < 10_000_000 - ROOM as u64 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let (bytes, dropped) = taken(&queue);
        assert_eq!(bytes + dropped, 10_000_000);
        assert!(dropped > 0 && bytes <= ROOM as u64, "{bytes} {dropped}");
        assert_eq!(queue.unreported_drops(), 0);
    }

    #[test]
    fn a_target_that_comes_again_gets_no_more_room() {
        let (queue, (all_sent, wait)) = (Queue::default(), std::sync::mpsc::channel());
        queue.start(Link::new("test", Keeping::Newest, move |feed| {
            for _ in 0..10 {
                let slot = feed.opened("peer".into(), Box::new(super::super::NullWriter));
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
                feed.opened("peer".into(), Box::new(super::super::NullWriter));
            }
            feed.bytes(0, &[7]);
            sent.send(feed).unwrap();
        }));
        let feed = wait.recv_timeout(SOON).unwrap();
        queue.keep(ConnectionId { link: 0, slot: 2 });
        // First the silent one, then the one that sent noise; the useful one stays.
        assert_eq!([feed.weakest(), feed.weakest(), feed.weakest()], [Some(1), Some(0), None]);
    }

    #[test]
    fn packets_stay_apart() {
        let queue = started(Keeping::Packets, 3);
        let mut lens = Vec::new();
        while let Some((_, event)) = queue.next(SOON) {
            match event {
                LinkEvent::Bytes(piece) => lens.push(piece.len()),
                LinkEvent::Ended => break,
                _ => {}
            }
        }
        assert_eq!(lens, [1000; 3]);
    }
}
