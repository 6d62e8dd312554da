//! A first pass over a ring: how much is in it, and when it starts.

use qs_core::ring::{Item, Shown};

use super::frame_kind::{FrameKind, frame_kind, note_time};
use super::records::BuiltRecord;
use super::ring_events::ring_expander;
use crate::ring::{Anchor, RingSnapshot};

/// The result of a first pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Entries that a report will print.
    pub entries: u64,
    /// Marks of the recorder among them, which not every format shows.
    pub marks: u64,
    /// Records of QS among them.
    pub records: u64,
    /// Trace events among them.
    pub traces: u64,
    /// Good frames and statements, also those that are not shown.
    pub frames: u64,
    /// The clock in full at the first stamp.
    pub first_time: Option<u64>,
    /// The clock at the last stamp, as full as at the first.
    pub last_time: Option<u64>,
    /// How far it goes.
    pub shown: Shown,
}

/// Reads a ring from oldest to newest. Repetitions of up to `longest` statements are counted as they will be written out.
pub fn survey(ring: &RingSnapshot<'_>, longest: u64) -> Survey {
    let header = ring.header;
    let mut reader = ring.reader();
    let mut expander = ring_expander(longest);
    let mut anchor = Anchor::default();
    let mut survey = Survey::default();
    let mut start = None;
    while let Some(item) = reader.next() {
        note_time(&item, &header, &mut anchor);
        match item {
            Item::Damaged(_) | Item::Cut { .. } | Item::Torn { .. } | Item::Overrun | Item::Missing(_) => {}
            // The clock is followed from the start of the thread, and behind this from another stamp.
            Item::Overwritten { .. } => {
                let known = Some(header.start_time).filter(|start| *start > 0);
                start = Some(known.or_else(|| anchor.first(0)));
                anchor = Anchor::default();
            }
            Item::Repetition(again) => {
                let written_out = expander.expanded(again.statements, again.times).unwrap_or(0);
                survey.entries += written_out;
                survey.frames += written_out;
            }
            Item::Statement(statement, _) => {
                expander.push(statement, 0);
                survey.entries += 1;
                survey.frames += 1;
            }
            Item::Task(..) | Item::Value(..) => survey.frames += 1,
            Item::Frame(frame) => {
                survey.frame(frame_kind(&frame, header.record_base, header.time_width > 0));
                let printed = BuiltRecord::unread(&frame, header.time_width.into()).is_printed();
                survey.entries = survey.entries.saturating_sub(printed.into());
                survey.frames += 1;
            }
        }
    }
    survey.shown = reader.shown();
    survey.first_time = start.unwrap_or_else(|| anchor.first(header.last_time));
    survey.last_time = anchor.last();
    survey
}

impl Survey {
    /// Counts a frame.
    fn frame(&mut self, kind: FrameKind) {
        match kind {
            FrameKind::Silent | FrameKind::Handler(_) | FrameKind::Until(_) | FrameKind::Time(_) => return,
            FrameKind::Panic(_)
            | FrameKind::Signal(..)
            | FrameKind::Mark(..)
            | FrameKind::Trace(_)
            | FrameKind::Record => {}
        }
        self.entries += 1;
        self.marks += u64::from(kind.is_mark());
        self.records += u64::from(kind == FrameKind::Record);
        self.traces += u64::from(matches!(kind, FrameKind::Trace(_)));
    }
}
