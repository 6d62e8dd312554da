//! A first walk over a ring: how much is in it, and when it starts. It must not keep anything.

use qs_core::ring::{Item, Shown};

use super::clock::Anchor;
use super::frame::{Kind, kind};
use super::live::View;

/// What a first walk tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Entries that a report will print.
    pub entries: u64,
    /// Marks of ours among them, which not every format shows.
    pub marks: u64,
    /// Records of QS among them.
    pub records: u64,
    /// Good frames and statements, be they told or not.
    pub frames: u64,
    /// The clock in full at the first stamp.
    pub first_time: Option<u64>,
    /// How far it goes.
    pub shown: Shown,
}

/// Walks a ring from oldest to newest.
pub fn survey(view: &View<'_>) -> Survey {
    let header = view.header;
    let mut reader = view.reader();
    let mut anchor = Anchor::default();
    let mut survey = Survey::default();
    while let Some(item) = reader.next() {
        let stamp = match item {
            Item::Damaged(_)
            | Item::Cut { .. }
            | Item::Torn { .. }
            | Item::Overrun
            | Item::Missing(_)
            | Item::Again(_) => continue,
            Item::Statement(_, stamp) => {
                survey.entries += 1;
                stamp
            }
            Item::Frame(frame) => match kind(&frame, header.record_base, header.time_width > 0) {
                Kind::Trace(stamp) => {
                    survey.entries += 1;
                    stamp
                }
                Kind::Panic(stamp) | Kind::Signal(_, stamp) => {
                    survey.entries += 1;
                    survey.marks += 1;
                    stamp
                }
                Kind::Mark(..) => {
                    survey.entries += 1;
                    survey.marks += 1;
                    None
                }
                Kind::Record => {
                    survey.entries += 1;
                    survey.records += 1;
                    None
                }
                Kind::Silent | Kind::Handler(_) => None,
                Kind::Until(full) => {
                    anchor.stamp(full as u32);
                    anchor.fix(full);
                    None
                }
                Kind::Time(full) => {
                    anchor.full(full);
                    None
                }
            },
        };
        survey.frames += 1;
        if let Some(stamp) = stamp {
            anchor.stamp(stamp);
        }
    }
    survey.shown = reader.shown();
    survey.first_time = anchor.first(header.last_time);
    survey
}
