//! What a frame without statements is to a history, and the time stamps of what a ring holds.

use qs_core::frame::Frame;
use qs_core::record::{Empty, EventKind, Record, XhistRecord, trace};
use qs_core::ring::{Header, Item, Reader};

use crate::model;
use crate::ring::Anchor;

/// What a frame is to a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// The clock in full, recorded when its low 4 bytes wrapped since the stamp before.
    Time(u64),
    /// The clock in full, when they did not.
    Until(u64),
    /// The thread panicked, with the low half of the time.
    Panic(Option<u32>),
    /// A fatal signal, with the low half of the time.
    Signal(u64, Option<u32>),
    /// A trace event, with the low half of the time.
    Trace(Option<u32>),
    /// Another mark of the recorder: its kind and its value.
    Mark(EventKind, u64),
    /// Another record.
    Record,
    /// A signal handler begins, which interrupted another ring at this position.
    Handler(u64),
    /// Not shown.
    Silent,
}

impl FrameKind {
    /// The time stamp in it.
    pub fn stamp(&self) -> Option<u32> {
        match self {
            FrameKind::Panic(stamp) | FrameKind::Signal(_, stamp) | FrameKind::Trace(stamp) => *stamp,
            _ => None,
        }
    }

    /// Whether it is a mark of the recorder, which not every format shows.
    pub fn is_mark(&self) -> bool {
        matches!(self, FrameKind::Panic(_) | FrameKind::Signal(..) | FrameKind::Mark(..))
    }
}

/// What this frame is. A record of ours with an unknown layout is shown as any other record.
pub fn frame_kind(frame: &Frame<'_>, record_base: u8, has_clock: bool) -> FrameKind {
    // QSPY does not print it.
    if frame.id == Empty::ID {
        return FrameKind::Silent;
    }
    match XhistRecord::parse(frame, record_base) {
        Some(XhistRecord::Event { kind, time, value }) => {
            // A recorder without a clock writes 0.
            let time = (has_clock && time != 0).then_some(time);
            match kind {
                EventKind::Time => FrameKind::Time(value),
                EventKind::Until => FrameKind::Until(value),
                EventKind::Handler => FrameKind::Handler(value),
                EventKind::Panic => FrameKind::Panic(time),
                EventKind::Signal => FrameKind::Signal(value, time),
                EventKind::Started
                | EventKind::Stopped
                | EventKind::Armed
                | EventKind::Thread
                | EventKind::Exit
                | EventKind::Repetition
                | EventKind::Unknown(_) => FrameKind::Mark(kind, value),
            }
        }
        // The reader of the ring or of the stream decodes statements.
        Some(XhistRecord::Statement { .. }) | None => trace_time(frame)
            .map_or(FrameKind::Record, |time| FrameKind::Trace((has_clock && time != 0).then_some(time))),
    }
}

/// The record of a mark, with its text for people.
pub fn marked(record: model::Record, kind: EventKind, value: u64) -> model::Record {
    let mark = match kind {
        EventKind::Started => "recording started here".to_owned(),
        EventKind::Stopped => "recording stopped here".to_owned(),
        EventKind::Armed => {
            format!(
                "recording stops {} later",
                model::count(value.try_into().unwrap_or(usize::MAX), "statement")
            )
        }
        EventKind::Exit => format!("the program ended here with exit code {value}"),
        kind => format!("mark {} of the recorder", kind.code()),
    };
    model::Record { mark: Some(mark), ..record }
}

/// The time of a trace event with a stamp as wide as those of statements; a stamp of another width belongs to another clock.
fn trace_time(frame: &Frame<'_>) -> Option<u32> {
    let (time, elements) = frame.payload.split_first_chunk()?;
    trace::ParsedEvent::parse(frame.id, elements).map(|_| u32::from_le_bytes(*time))
}

/// The clock in full at the next stamp of a reader.
pub fn next_time(mut reader: Reader<'_>) -> Option<u64> {
    let header = *reader.header();
    let mut anchor = Anchor::default();
    while let Some(item) = reader.next() {
        note_time(&item, &header, &mut anchor);
    }
    anchor.first(header.last_time)
}

/// Takes the stamp of an item, if it has one.
pub fn note_time(item: &Item<'_>, header: &Header, anchor: &mut Anchor) {
    let stamp = match item {
        Item::Statement(_, stamp) | Item::Task(_, stamp) | Item::Value(_, stamp) => *stamp,
        Item::Frame(frame) => match frame_kind(frame, header.record_base, header.time_width > 0) {
            FrameKind::Until(full) => {
                anchor.stamp(full as u32);
                return anchor.fix(full);
            }
            FrameKind::Time(full) => return anchor.full(full),
            kind => kind.stamp(),
        },
        _ => None,
    };
    if let Some(stamp) = stamp {
        anchor.stamp(stamp);
    }
}
