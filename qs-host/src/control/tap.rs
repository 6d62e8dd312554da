//! Collects what a front-end receives of a stream: records, lines, or both.

use qs_core::record::{Empty, EnumDict, Record, SigDict, TargetInfo};

use crate::{LineClass, LineFormatter, LineSink, Listener, StreamEvent, TargetSymbols};

/// The channel of records.
pub const BINARY: u8 = 1;
const TEXT: u8 = 2;

/// A packet for the front-end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tapped {
    /// A record without its frame.
    Binary(Vec<u8>),
    /// A line, and the record that it is about.
    Text(u8, Vec<u8>),
}

/// The target info of an earlier version in the form of QP 8, with the date of its first release. `None` for other records.
/// Front-ends from 8.0 on accept no other target info.
fn info_of_qp8(record: &[u8]) -> Option<Vec<u8>> {
    const FIRST: u32 = 241_031 * 10_000 + 800;
    // As in records at a reset; other values are not known.
    const FLAGS: u8 = 0x46;
    let [seq, TargetInfo::ID, _reset, _version, _also, rest @ ..] = record else { return None };
    let is_earlier = rest.len() == 13;
    is_earlier.then(|| [&[*seq, TargetInfo::ID, FLAGS], &(!FIRST).to_le_bytes()[..], rest].concat())
}

/// A listener that collects for the front-end.
#[derive(Clone, Debug, Default)]
pub struct Tap {
    /// The channels that it attached to: 1 records, 2 lines, 3 both, 0 none.
    pub channels: u8,
    /// Whether the front-end is attached to the target whose stream arrives.
    pub is_open: bool,
    as_qp8: bool,
    /// The target reported a reset.
    was_reset: bool,
    /// A good record was received.
    has_record: bool,
    /// What was collected, oldest first.
    pub tapped: Vec<Tapped>,
    text: LineFormatter,
    /// Id of the record that the lines are about.
    id: u8,
}

/// Receives the lines of the text channel.
struct Channel<'t> {
    id: u8,
    tapped: &'t mut Vec<Tapped>,
}

impl LineSink for Channel<'_> {
    fn line(&mut self, class: LineClass, line: &[u8]) {
        // A front-end takes names from the records.
        let is_named = matches!(self.id, Empty::ID | EnumDict::ID | SigDict::ID..=TargetInfo::ID);
        if matches!(class, LineClass::Ordinary | LineClass::Error) && !is_named {
            self.tapped.push(Tapped::Text(self.id, line.to_vec()));
        }
    }
}

impl Tap {
    /// Creates a tap without a front-end. `as_qp8`: with target infos in the form of QP 8.
    pub fn new(as_qp8: bool) -> Tap {
        Tap { as_qp8, ..Tap::default() }
    }

    /// Whether the target reported a reset since the last call.
    pub fn take_reset(&mut self) -> bool {
        std::mem::take(&mut self.was_reset)
    }

    /// Whether a good record was received since the last call.
    pub fn take_record(&mut self) -> bool {
        std::mem::take(&mut self.has_record)
    }
}

impl Listener for Tap {
    fn event(&mut self, event: StreamEvent<'_>, known: &mut TargetSymbols) {
        self.has_record |= matches!(event, StreamEvent::Record(_));
        if let StreamEvent::Record(record) = event
            && let (TargetInfo::ID, [1..=255, ..]) = (record.id(), record.raw.payload())
        {
            self.was_reset = true;
        }
        if self.channels == 0 || !self.is_open {
            return;
        }
        let has = |channel: u8| self.channels & channel != 0;
        let (binary, lines) = (has(BINARY), has(TEXT));
        if let StreamEvent::Record(record) = event {
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
            StreamEvent::Record(record) => {
                self.text.record(record, known, &mut channel);
            }
            StreamEvent::Trouble(trouble) => self.text.trouble(&trouble, known, &mut channel),
            StreamEvent::Jump(jump) => self.text.jump(&jump, &mut channel),
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
