//! The items of one ring, oldest first, with what is missing between them. It must not know other rings.

use qs_core::frame::{Damage, Frame};
use qs_core::ring::{self, Header, Shown};

use super::clock::Clock;
use super::frame::{Kind, kind};
use super::live::View;
use super::rounds::Rounds;
use super::{predefined, user};
use crate::model::{Damaged, Gap, Item, Record, What};

/// One ring, being read.
pub struct Stream<'a> {
    reader: Rounds<'a>,
    header: Header,
    clock: Clock,
    /// Time stamps read so far.
    stamps: u64,
    /// The same ring, read as far as the next stamp.
    ahead: Option<Box<Stream<'a>>>,
    /// What is missing before the next item.
    gap: Gap,
    /// Statements given.
    statements: u64,
}

impl<'a> Stream<'a> {
    /// A stream at the oldest entry, whose stamps go on from a clock; `gap` is missing before it.
    pub fn new(view: &View<'a>, clock: Clock, gap: Gap) -> Stream<'a> {
        Stream {
            reader: view.reader(),
            header: view.header,
            clock,
            stamps: 0,
            ahead: None,
            gap,
            statements: 0,
        }
    }

    /// Where to go on, with which clock, and how many statements it gave.
    pub fn finish(&self) -> ((u64, Shown), Clock, u64) {
        ((self.reader.resume_from(), self.reader.shown()), self.clock, self.statements)
    }

    /// Prepares for [`Stream::until`]; to be called before anything is read.
    pub fn look_ahead(&mut self) {
        let (reader, header, clock) = (self.reader.clone(), self.header, self.clock);
        self.ahead = Some(Box::new(Stream {
            reader,
            header,
            clock,
            stamps: 0,
            ahead: None,
            gap: Gap::default(),
            statements: 0,
        }));
    }

    /// A time at which the newest item has run for certain: that of a later stamp of this ring.
    pub fn until(&mut self) -> Option<u64> {
        let ahead = self.ahead.as_mut()?;
        while ahead.stamps <= self.stamps && ahead.next().1.is_some() {}
        if ahead.stamps > self.stamps { ahead.clock.now() } else { None }
    }

    /// The next item, and what is missing before it (or, behind the last one, at the end).
    pub fn next(&mut self) -> (Gap, Option<Item>) {
        let mut gap = std::mem::take(&mut self.gap);
        loop {
            let (what, stamp) = match self.reader.next() {
                None => return (gap, None),
                Some(ring::Item::Damaged(damage)) => {
                    add_damage(&mut gap, damage);
                    continue;
                }
                Some(ring::Item::Cut { missing }) => {
                    gap.cut_bytes += missing;
                    continue;
                }
                Some(ring::Item::Torn { .. }) => {
                    gap.torn = true;
                    continue;
                }
                Some(ring::Item::Missing(frames)) => {
                    gap.missing_frames += u64::from(frames);
                    continue;
                }
                Some(ring::Item::Statement(statement, stamp)) => {
                    self.statements += 1;
                    (What::Statement { file: statement.file, line: statement.line }, stamp)
                }
                Some(ring::Item::Again(again)) => (What::Again(again), None),
                Some(ring::Item::Frame(frame)) => {
                    gap.missing_frames += u64::from(frame.missing);
                    match kind(&frame, &self.header) {
                        Kind::Silent => continue,
                        Kind::Time(full) => {
                            self.clock.set(full);
                            self.stamps += 1;
                            continue;
                        }
                        Kind::Panic(stamp) => (What::Panic(record(&frame)), stamp),
                        Kind::Signal(signal, stamp) => (What::Signal(signal, record(&frame)), stamp),
                        Kind::Record => (What::Record(record(&frame)), None),
                    }
                }
            };
            let time = stamp.map(|stamp| self.clock.stamp(stamp));
            self.stamps += u64::from(time.is_some());
            return (gap, Some(Item { what, time }));
        }
    }
}

fn record(frame: &Frame<'_>) -> Record {
    let text = match user::text(frame.id, frame.payload) {
        Some(text) => text,
        None => predefined::text(frame.id, frame.payload),
    };
    Record { id: frame.id, text }
}

fn add_damage(gap: &mut Gap, damage: Damage) {
    let damaged =
        gap.damaged.get_or_insert_with(|| Damaged { pieces: 0, bytes: 0, first: damage.to_string() });
    damaged.pieces += 1;
    damaged.bytes += damage.len;
}
