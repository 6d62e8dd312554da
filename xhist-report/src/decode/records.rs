//! QS records of rings as items of the model: their line, their name and their fields. Rings of one process share it, since names
//! that one thread told are good for all. It must not know how a record is taken apart.

use std::cell::RefCell;
use std::rc::Rc;

use qs_core::frame::Frame;

use crate::model::Record;
use crate::qs::{Class, Decoder, Event, Known, Lines, Listener, Raw, Target, Text, tell_fields};

/// Makes records, and learns names from them.
#[derive(Clone, Debug)]
pub struct Records {
    decoder: Decoder,
    buffer: Vec<u8>,
    text: Text,
    with_fields: bool,
}

/// The same for several rings.
pub type SharedRecords = Rc<RefCell<Records>>;

impl Records {
    /// With what is known of the target; fields are told when somebody wants them.
    pub fn new(target: Target, with_fields: bool) -> Records {
        Records { decoder: Decoder::new(target), buffer: Vec::new(), text: Text::default(), with_fields }
    }

    /// For several rings.
    pub fn shared(self) -> SharedRecords {
        Rc::new(RefCell::new(self))
    }

    /// Learns what a record tells.
    pub fn learn(&mut self, frame: &Frame<'_>) {
        struct Nobody;
        impl Listener for Nobody {
            fn event(&mut self, _: Event<'_>, _: &mut Known) {}
        }
        self.push(frame, &mut Nobody);
    }

    /// The record as it is told.
    pub fn tell(&mut self, frame: &Frame<'_>) -> Record {
        let mut text = std::mem::take(&mut self.text);
        let mut teller = Teller { text: &mut text, record: Record::default(), fields: self.with_fields };
        self.push(frame, &mut teller);
        let record = teller.record;
        self.text = text;
        record
    }

    fn push(&mut self, frame: &Frame<'_>, listener: &mut impl Listener) {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.extend([frame.seq, frame.id]);
        buffer.extend_from_slice(frame.payload);
        // In place of the checksum, which was right.
        buffer.push(0);
        self.decoder.push_record(Raw { buffer: &buffer, len: buffer.len() }, listener);
        self.buffer = buffer;
    }
}

/// Makes the record of an event.
pub struct Teller<'t> {
    /// Makes lines.
    pub text: &'t mut Text,
    /// What was made.
    pub record: Record,
    /// Make fields too.
    pub fields: bool,
}

impl Lines for Record {
    /// The last line of several is the record's own.
    fn line(&mut self, _: Class, line: &[u8]) {
        self.text = crate::model::visible(&String::from_utf8_lossy(line)).into_owned();
    }
}

impl Listener for Teller<'_> {
    fn event(&mut self, event: Event<'_>, known: &mut Known) {
        let Event::Record(record) = event else { return };
        self.record.id = record.id();
        self.text.record(record, known, &mut self.record);
        if self.fields {
            tell_fields(record, known, &mut self.record);
        }
    }
}
