//! What a front-end gets of a stream: records as they are, their lines, or both. It must not know how that is sent.

use qs_core::record::{Empty, EnumDict, Record, SigDict, TargetInfo};

use crate::qs::{Class, Event, Known, Lines, Listener, Text};

/// The channel of records as they are.
pub const BINARY: u8 = 1;
const TEXT: u8 = 2;

/// A part of a stream for the front-end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tapped {
    /// A record without its frame.
    Binary(Vec<u8>),
    /// A line, and the record that it is about.
    Text(u8, Vec<u8>),
}

/// The target info of an earlier version as one of QP 8, of the day when its first release was made; `None` when the record is no such. Front-ends
/// from 8.0 on believe no other.
fn info_of_qp8(record: &[u8]) -> Option<Vec<u8>> {
    const FIRST: u32 = 241_031 * 10_000 + 800;
    // Seen in records at a reset; what else may stand there is not known.
    const FLAGS: u8 = 0x46;
    let [seq, TargetInfo::ID, _reset, _version, _also, rest @ ..] = record else { return None };
    let is_earlier = rest.len() == 13;
    is_earlier.then(|| [&[*seq, TargetInfo::ID, FLAGS], &(!FIRST).to_le_bytes()[..], rest].concat())
}

/// Listens for the front-end.
#[derive(Clone, Debug, Default)]
pub struct Tap {
    /// What it wants: 1 records, 2 lines, 3 both, 0 nothing.
    pub channels: u8,
    /// The front-end listens to the target whose records come.
    pub is_open: bool,
    as_qp8: bool,
    /// The target told of a reset.
    was_reset: bool,
    /// A good record came.
    has_record: bool,
    /// What came, oldest first, until it is taken.
    pub tapped: Vec<Tapped>,
    text: Text,
    /// The record that lines are about.
    id: u8,
}

/// Lines that belong to a channel of text.
struct Channel<'t> {
    id: u8,
    tapped: &'t mut Vec<Tapped>,
}

impl Lines for Channel<'_> {
    fn line(&mut self, class: Class, line: &[u8]) {
        // A front-end learns names from the records themselves.
        let is_named = matches!(self.id, Empty::ID | EnumDict::ID | SigDict::ID..=TargetInfo::ID);
        if matches!(class, Class::Ordinary | Class::Error) && !is_named {
            self.tapped.push(Tapped::Text(self.id, line.to_vec()));
        }
    }
}

impl Tap {
    /// For nobody yet; with the target info of QP 8, when that is wanted.
    pub fn new(as_qp8: bool) -> Tap {
        Tap { as_qp8, ..Tap::default() }
    }

    /// Whether the target told of a reset since this was asked last.
    pub fn take_reset(&mut self) -> bool {
        std::mem::take(&mut self.was_reset)
    }

    /// Whether a good record came since this was asked last.
    pub fn take_record(&mut self) -> bool {
        std::mem::take(&mut self.has_record)
    }
}

impl Listener for Tap {
    fn event(&mut self, event: Event<'_>, known: &mut Known) {
        self.has_record |= matches!(event, Event::Record(_));
        if let Event::Record(record) = event
            && let (TargetInfo::ID, [1..=255, ..]) = (record.id(), record.raw.payload())
        {
            self.was_reset = true;
        }
        if self.channels == 0 || !self.is_open {
            return;
        }
        let has = |channel: u8| self.channels & channel != 0;
        let (binary, lines) = (has(BINARY), has(TEXT));
        if let Event::Record(record) = event {
            self.id = record.id();
            if self.id != Empty::ID && (binary || self.id == TargetInfo::ID) {
                let record = record.raw.unframed();
                let info = if self.as_qp8 { info_of_qp8(record) } else { None };
                self.tapped.push(Tapped::Binary(info.unwrap_or_else(|| record.to_vec())));
            }
        }
        if !lines {
            return;
        }
        let mut channel = Channel { id: self.id, tapped: &mut self.tapped };
        match event {
            Event::Record(record) => {
                self.text.record(record, known, &mut channel);
            }
            Event::Trouble(trouble) => self.text.trouble(&trouble, known, &mut channel),
            Event::Jump(jump) => self.text.jump(&jump, &mut channel),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_info_has_the_form_of_qp_8() {
        let record = [&[9, 64, 0xFF, 0xDE, 0x02][..], &[1; 13]].concat();
        let info = info_of_qp8(&record).unwrap();
        assert_eq!(info[..7], [9, 64, 0x46, 0x6F, 0x93, 0x55, 0x70]);
        assert_eq!((info.len(), &info[7..]), (20, &[1; 13][..]));
        assert_eq!((info_of_qp8(&info), info_of_qp8(&[9, 65, 0])), (None, None));
    }
}
