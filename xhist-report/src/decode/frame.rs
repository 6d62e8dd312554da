//! Tells the frames that hold no statements apart. It must not turn them into text.

use qs_core::frame::Frame;
use qs_core::record::{Empty, EventKind, Record, XhistRecord, trace};

use crate::model;

/// What a frame is to a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The clock in full, 4 bytes or more of it after the stamp before.
    Time(u64),
    /// The same, less than 4 bytes of it later.
    Until(u64),
    /// The thread panicked, with the low half of the time.
    Panic(Option<u32>),
    /// A fatal signal, with the low half of the time.
    Signal(u64, Option<u32>),
    /// A trace event, with the low half of the time.
    Trace(Option<u32>),
    /// Another mark of ours: its kind and its value.
    Mark(EventKind, u64),
    /// Another record.
    Record,
    /// A signal handler begins, which came at this position of the ring that it interrupted.
    Handler(u64),
    /// Nothing to be told.
    Silent,
}

/// What this frame is. A record of ours with a layout we do not know is told as any other record.
pub fn kind(frame: &Frame<'_>, record_base: u8, has_clock: bool) -> Kind {
    // QSPY passes over it in silence.
    if frame.id == Empty::ID {
        return Kind::Silent;
    }
    match XhistRecord::parse(frame, record_base) {
        Some(XhistRecord::Event { kind, time, value }) => {
            // A recorder without a clock writes 0.
            let time = (has_clock && time != 0).then_some(time);
            match kind {
                EventKind::Time => Kind::Time(value),
                EventKind::Until => Kind::Until(value),
                EventKind::Handler => Kind::Handler(value),
                EventKind::Panic => Kind::Panic(time),
                EventKind::Signal => Kind::Signal(value, time),
                EventKind::Started
                | EventKind::Stopped
                | EventKind::Armed
                | EventKind::Thread
                | EventKind::Exit
                | EventKind::Again
                | EventKind::Unknown(_) => Kind::Mark(kind, value),
            }
        }
        // The ring's reader takes statements out of their frames.
        Some(XhistRecord::Statement { .. }) | None => trace_time(frame)
            .map_or(Kind::Record, |time| Kind::Trace((has_clock && time != 0).then_some(time))),
    }
}

/// The record of a mark, with what it says to people.
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

/// The time of a trace event that carries one as statements do; a stamp of another width is no part of their clock.
fn trace_time(frame: &Frame<'_>) -> Option<u32> {
    let (time, elements) = frame.payload.split_first_chunk()?;
    trace::Told::parse(frame.id, elements).map(|_| u32::from_le_bytes(*time))
}
