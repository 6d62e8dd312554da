//! Reads rings as strictly as can be: anything that is not a whole history is an error.

use std::collections::BTreeSet;

use qs_core::record::{EventKind, Statement, XhistRecord};
use qs_core::ring::{Header, Item, Reader, find};

/// What one ring holds.
#[derive(Clone)]
pub struct Recorded {
    /// Its header.
    pub header: Header,
    /// Every statement, those that were folded written out; oldest first.
    pub statements: Vec<Statement>,
    /// For each of them, the level of its ring: 0 for the thread's own, otherwise that of the lane.
    pub levels: Vec<u16>,
    /// The levels whose rings have lost their oldest entries, or those entries their place.
    pub overwritten: BTreeSet<u16>,
    /// Handlers' statements without a place, because what they interrupted is overwritten.
    pub misplaced: usize,
    /// Events, each with the number of statements before it.
    pub events: Vec<(EventKind, usize)>,
    /// The numbers of other records, each with the number of statements before it.
    pub records: Vec<(u8, usize)>,
    /// Rounds that were folded.
    pub rounds: u64,
    /// The first statements of the thread, in its prologue and behind it without a gap. Empty without a prologue.
    pub first: Vec<Statement>,
    /// What was wrong.
    pub wrong: Vec<String>,
}

impl Recorded {
    /// Fails when the history is not whole.
    #[track_caller]
    pub fn whole(&self, what: &str) -> &Recorded {
        assert!(self.wrong.is_empty(), "{what}: {:?} after {:?}", self.wrong, tail(&self.statements));
        self
    }

    /// Nothing was overwritten.
    pub fn is_complete(&self) -> bool {
        self.header.state.head() + 2 * 300 < self.header.size as u64
    }
}

/// The newest of them, for messages.
pub fn tail(statements: &[Statement]) -> Vec<(u16, u16)> {
    let from = statements.len().saturating_sub(12);
    statements[from..].iter().map(|statement| (statement.file, statement.line)).collect()
}

/// The history of every thread in an image: of its ring, and of the lanes of its signal handlers in their places.
pub fn recorded(image: &[u8]) -> Vec<Recorded> {
    let found = find(image).filter_map(|found| Some((found.offset, found.header.ok()?)));
    let mut rings: Vec<Ring> = found.map(|(offset, header)| read(header, &image[offset..])).collect();
    // The innermost handlers first: they belong in the lanes that they interrupted.
    while let Some(lane) =
        (0..rings.len()).filter(|ring| level(&rings[*ring]) > 0).max_by_key(|ring| level(&rings[*ring]))
    {
        let lane = rings.remove(lane);
        let is_parent = |ring: &&mut Ring| {
            Some(ring.header.number) == lane.header.words.parent
                && (ring.header.pid, ring.header.tid) == (lane.header.pid, lane.header.tid)
                && level(ring) + 1 == level(&lane)
        };
        match rings.iter_mut().find(is_parent) {
            Some(parent) => parent.insert(lane),
            None => panic!("a lane of no ring"),
        }
    }
    rings.into_iter().map(Ring::into_recorded).collect()
}

fn level(ring: &Ring) -> u16 {
    ring.header.words.level
}

/// A ring, each of its entries with its place.
struct Ring {
    header: Header,
    entries: Vec<RingEntry>,
    rounds: u64,
    first: Vec<Statement>,
    overwritten: BTreeSet<u16>,
    misplaced: usize,
    wrong: Vec<String>,
}

/// Something in a ring.
#[derive(Clone, Copy)]
enum What {
    Statement(Statement),
    Event(EventKind),
    /// Any other record, by its number.
    Record(u8),
    /// In a lane: a handler came in.
    Handler,
}

#[derive(Clone, Copy)]
struct RingEntry {
    /// Position in the ring.
    at: u64,
    /// In a lane: position in the interrupted ring.
    anchor: u64,
    /// It is from a lane of the ring.
    is_inserted: bool,
    /// Of the ring that it is from.
    level: u16,
    what: What,
}

impl RingEntry {
    fn is_statement(&self) -> bool {
        matches!(self.what, What::Statement(_))
    }
}

impl Ring {
    /// Puts the entries of a lane where its handlers came.
    fn insert(&mut self, lane: Ring) {
        let oldest = self.oldest();
        let mut own = std::mem::take(&mut self.entries).into_iter().peekable();
        let mut anchor = 0;
        self.misplaced += lane.misplaced;
        // What they interrupted may be overwritten, or their own records that say where they came.
        let (lost, kept): (Vec<RingEntry>, Vec<RingEntry>) =
            lane.entries.into_iter().partition(|entry| entry.anchor < oldest);
        self.overwritten.extend(&lane.overwritten);
        self.overwritten.extend(lost.iter().map(|entry| entry.level));
        self.misplaced += lost.iter().filter(|entry| entry.is_statement()).count();
        for entry in kept {
            let is_before =
                |own: &RingEntry| own.at < entry.anchor || own.at == entry.anchor && own.is_inserted;
            while let Some(own) = own.next_if(is_before) {
                anchor = own.anchor;
                self.entries.push(own);
            }
            self.entries.push(RingEntry { at: entry.anchor, anchor, is_inserted: true, ..entry });
        }
        self.entries.extend(own);
        self.wrong.extend(
            lane.wrong.into_iter().map(|wrong| format!("level {}: {wrong}", lane.header.words.level)),
        );
    }

    /// Position of the oldest entry, where the ring has lost any before it.
    fn oldest(&self) -> u64 {
        match self.header.kept() {
            0 => 0,
            _ => self.entries.first().map_or(u64::MAX, |entry| entry.at),
        }
    }

    fn into_recorded(self) -> Recorded {
        let (mut statements, mut events, mut records) = (Vec::new(), Vec::new(), Vec::new());
        let mut levels = Vec::new();
        for entry in self.entries {
            match entry.what {
                What::Statement(statement) => {
                    statements.push(statement);
                    levels.push(entry.level);
                }
                What::Event(kind) => events.push((kind, statements.len())),
                What::Record(id) => records.push((id, statements.len())),
                What::Handler => {}
            }
        }
        let Ring { header, rounds, first, overwritten, misplaced, wrong, .. } = self;
        Recorded { header, statements, levels, overwritten, misplaced, events, records, rounds, first, wrong }
    }
}

fn read(header: Header, image: &[u8]) -> Ring {
    let (mut reader, level) = (Reader::new(header, image), header.words.level);
    let (mut entries, mut rounds, mut wrong) = (Vec::<RingEntry>::new(), 0, Vec::new());
    let mut anchor = 0;
    while let Some(item) = reader.next() {
        let mut what = None;
        match item {
            Item::Statement(statement, _) => what = Some(What::Statement(statement)),
            Item::Task(..) | Item::Value(..) => {}
            Item::Repetition(again) => {
                let statements: Vec<RingEntry> = entries
                    .iter()
                    .rev()
                    .filter(|entry| entry.is_statement())
                    .take(again.statements)
                    .copied()
                    .collect();
                rounds += again.times;
                // They are behind what a handler interrupted directly before.
                let at = reader.item_position().max(entries.last().map_or(0, |entry| entry.at));
                for _ in 0..again.times {
                    entries.extend(statements.iter().rev().map(|entry| RingEntry { at, ..*entry }));
                }
            }
            Item::Frame(frame) => match XhistRecord::parse(&frame, header.record_base) {
                Some(XhistRecord::Event { kind: EventKind::Handler, value, .. }) if frame.missing == 0 => {
                    (anchor, what) = (value, Some(What::Handler));
                }
                Some(XhistRecord::Event { kind, .. }) if frame.missing == 0 => what = Some(What::Event(kind)),
                None if frame.missing == 0 => what = Some(What::Record(frame.id)),
                _ => wrong.push(format!("{frame:?}")),
            },
            Item::Missing(_)
            | Item::Damaged(_)
            | Item::Cut { .. }
            | Item::Torn { .. }
            | Item::Overwritten { .. }
            | Item::Overrun => {
                wrong.push(format!("{item:?}"));
            }
        }
        if let Some(what) = what {
            let at = reader.item_position();
            entries.push(RingEntry { at, anchor, is_inserted: false, level, what });
        }
    }
    // Where the record of the first handler is overwritten, its place is unknown.
    let is_placed = |entry: &RingEntry| matches!(entry.what, What::Handler);
    let lost = if level > 0 && header.kept() > 0 {
        entries.iter().position(is_placed).unwrap_or(entries.len())
    } else {
        0
    };
    let misplaced = entries.drain(..lost).filter(RingEntry::is_statement).count();
    let overwritten = (header.kept() > 0).then_some(level).into_iter().collect();
    let first = first(header, image, &mut wrong);
    Ring { header, entries, rounds, first, overwritten, misplaced, wrong }
}

/// The statements from the prologue on, up to the first gap.
fn first(header: Header, image: &[u8], wrong: &mut Vec<String>) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    if header.prologue().is_empty() {
        return statements;
    }
    let mut reader = Reader::with_prologue(header, image, 0, 0, header.cleared);
    while let Some(item) = reader.next() {
        match item {
            Item::Statement(statement, _) => statements.push(statement),
            Item::Repetition(again) => {
                let round = statements[statements.len() - again.statements..].to_vec();
                (0..again.times).for_each(|_| statements.extend(&round));
            }
            Item::Overwritten { .. } => break,
            Item::Task(..) | Item::Value(..) => {}
            Item::Frame(frame) if frame.missing == 0 => {}
            item => wrong.push(format!("in the prologue: {item:?}")),
        }
    }
    statements
}
