//! QS records of rings as items of the model: their line, their name and their fields. Rings of one process share it, since names
//! that one thread told are good for all. It must not know how a record is taken apart.

use std::cell::RefCell;
use std::rc::Rc;

use qs_core::frame::Frame;
use qs_core::record::trace;

use crate::model::{Record, Trace, What, visible};
use crate::qs::{Class, Decoded, Decoder, Event, Known, Lines, Listener, Text, tell_fields};

/// So many starts of a target are told apart.
const MAX_STARTS: usize = 64;

/// Makes records, and learns names from them.
#[derive(Clone, Debug)]
pub struct Records {
    decoder: Decoder,
    /// All names that were told until the names were forgotten, for each time that they were.
    lives: Vec<Known>,
    life: usize,
    text: Text,
    with_fields: bool,
}

/// The same for several rings.
pub type SharedRecords = Rc<RefCell<Records>>;

impl Records {
    /// With what is known before the first record; fields are told when somebody wants them.
    pub fn new(known: Known, with_fields: bool) -> Records {
        Records {
            decoder: Decoder::new(known),
            lives: Vec::new(),
            life: 0,
            text: Text::default(),
            with_fields,
        }
    }

    /// Goes back to the first record, now that all names are known.
    #[must_use]
    pub fn rewound(mut self, known: Known) -> Records {
        self.lives.push(self.decoder.known.clone());
        self.decoder = Decoder::new(known);
        self.start_life();
        self
    }

    /// For several rings.
    pub fn shared(self) -> SharedRecords {
        Rc::new(RefCell::new(self))
    }

    /// Learns what a record tells.
    pub fn learn(&mut self, frame: &Frame<'_>) {
        let mut lives = std::mem::take(&mut self.lives);
        let mut learner = Learner { lives: &mut lives, is_over: false };
        self.decoder.push_unframed(frame.seq, frame.id, frame.payload, &mut learner);
        self.lives = lives;
    }

    /// The record as it is told.
    pub fn tell(&mut self, frame: &Frame<'_>) -> Told {
        let mut text = std::mem::take(&mut self.text);
        let mut teller = Teller { text: &mut text, told: Told::default(), fields: self.with_fields };
        let mut watcher = Watcher { teller: &mut teller, is_over: false };
        self.decoder.push_unframed(frame.seq, frame.id, frame.payload, &mut watcher);
        if watcher.is_over {
            self.life += 1;
            self.start_life();
        }
        let told = teller.told;
        self.text = text;
        told
    }

    /// Knows from the first record on what is told later.
    fn start_life(&mut self) {
        if let Some(names) = self.lives.get(self.life).or(self.lives.last()) {
            self.decoder.known.take_names(names);
        }
    }
}

/// Keeps the names before they are forgotten.
struct Learner<'l> {
    lives: &'l mut Vec<Known>,
    is_over: bool,
}

impl Listener for Learner<'_> {
    fn event(&mut self, event: Event<'_>, known: &mut Known) {
        // A record may say so twice.
        let is_over = matches!(event, Event::Clear) && !self.is_over;
        self.is_over |= is_over;
        if is_over && self.lives.len() < MAX_STARTS {
            self.lives.push(known.clone());
        }
    }
}

/// Makes the record, and sees when names are forgotten.
struct Watcher<'w, 't> {
    teller: &'w mut Teller<'t>,
    is_over: bool,
}

impl Listener for Watcher<'_, '_> {
    fn event(&mut self, event: Event<'_>, known: &mut Known) {
        match event {
            Event::Clear => self.is_over = true,
            Event::TargetInfo => known.widen(),
            event => self.teller.event(event, known),
        }
    }
}

/// A record as it is told: as a trace event, if it is one.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// As any record.
    pub record: Record,
    trace: Option<Trace>,
}

impl Told {
    /// As an entry.
    pub fn what(self) -> What {
        self.trace.map_or_else(|| What::Record(self.record), What::Trace)
    }
}

/// Makes the record of an event.
pub struct Teller<'t> {
    /// Makes lines.
    pub text: &'t mut Text,
    /// What was made.
    pub told: Told,
    /// Make fields too.
    pub fields: bool,
}

impl Lines for Record {
    /// The last line of several is the record's own.
    fn line(&mut self, _: Class, line: &[u8]) {
        self.text = visible(&String::from_utf8_lossy(line)).into_owned();
    }
}

impl Listener for Teller<'_> {
    fn event(&mut self, event: Event<'_>, known: &mut Known) {
        let Event::Record(decoded) = event else { return };
        self.told.trace = trace_of(decoded, known);
        if self.told.trace.is_some() {
            return;
        }
        let record = &mut self.told.record;
        record.id = decoded.id();
        record.is_misfit = !self.text.record(decoded, known, record);
        if self.fields {
            tell_fields(decoded, known, record);
        }
    }
}

/// The trace event that a record is, whatever the width of its time stamp.
fn trace_of(decoded: &Decoded<'_>, known: &Known) -> Option<Trace> {
    let told = trace::Told::parse(decoded.id(), decoded.elements()?)?;
    let opcode_name = match told.class {
        trace::Class::Exception { .. } => None,
        trace::Class::Profile { opcode, .. } => known.enums[usize::from(trace::OPCODES)].get(opcode.into()),
    };
    Some(Trace {
        class: told.class,
        args: told.args().to_vec(),
        buffer: told.buffer().map(|pieces| pieces.collect::<Vec<_>>().concat()),
        is_cut: told.is_cut,
        stamp: decoded.time,
        opcode_name: opcode_name.map(|name| visible(&String::from_utf8_lossy(name)).into_owned()),
    })
}
